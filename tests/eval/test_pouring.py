from dreamd.eval.pouring import pour
from dreamd.eval.worlds import world
from dreamd.memories import raw_id
from dreamd.records import Trust
from dreamd.stores.base import MemoryQuery
from dreamd.stores.inmemory import InMemoryStore
from tests.eval.keeping import NOW

WORLD = world(4)


def test_every_line_is_in_the_pool_under_its_id_on_its_day() -> None:
    store = InMemoryStore()
    pour(store, WORLD.lines, NOW)
    raws = {memory.memory_id: memory for memory in store.memories(MemoryQuery())}
    for line in WORLD.lines:
        memory = raws[raw_id(line.agent, line.record.identity)]
        assert (memory.agent, memory.window, memory.status) == (line.agent, line.day, "fresh")


def test_secrets_stay_outside_and_trust_is_set_by_who_spoke() -> None:
    store = InMemoryStore()
    pour(store, WORLD.lines, NOW)
    raws = list(store.memories(MemoryQuery()))
    assert not [memory for memory in raws if any(secret in memory.content for secret in WORLD.secrets)]
    assert any("[redacted:" in memory.content for memory in raws)
    assert {memory.trust for memory in raws if memory.origin == "scheduled"} <= {Trust.UNTRUSTED}
