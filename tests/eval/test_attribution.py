from dreamd.eval.attribution import FILLER, Attribution
from dreamd.eval.worlds import world
from dreamd.memories import Memory
from dreamd.stores.base import MemoryQuery, Store
from tests.eval.keeping import NOW, first, insight, kept_well

WORLD = world(1)


def attributed(store: Store, *insights: Memory) -> Attribution:
    known = {memory.memory_id: memory for memory in store.memories(MemoryQuery(types=("raw",)))}
    return Attribution({**known, **{one.memory_id: one for one in insights}}, WORLD.plants)


def test_an_insight_is_about_what_its_records_say() -> None:
    plant = first(WORLD, "figure")
    one = insight(plant)
    assert attributed(kept_well(WORLD), one).names[one.memory_id] == {plant.name}


def test_of_a_record_that_says_two_things_the_nearer_one_counts() -> None:
    store = kept_well(WORLD)
    for plant in WORLD.plants:
        beside = insight(plant, text="zebra giraffe")
        spoken = [
            memory
            for memory in store.memories(MemoryQuery(ids=plant.memory_ids))
            if memory.content not in plant.says
        ]
        if plant.sort == "lasting" and spoken:
            rest = spoken[0].content
            for wording in plant.says:
                rest = rest.replace(wording, "")
            beside = insight(plant, text=rest.strip(), ref_ids=(spoken[0].memory_id,))
            assert attributed(store, beside).names[beside.memory_id] == {FILLER}
            return
    raise AssertionError("no such record in this world")


def test_the_way_down_leads_through_summaries() -> None:
    plant = first(WORLD, "lasting")
    summary = Memory(
        memory_id="s", type="summary", content="a day", agent=plant.agent, window=NOW.date(), received_at=NOW,
        ref_ids=plant.memory_ids,
    )  # fmt: skip
    one = insight(plant, ref_ids=("s",))
    found = attributed(kept_well(WORLD), summary, one)
    assert {record.memory_id for record in found.records(one)} == set(plant.memory_ids)
    assert found.about(plant.name) == [one]
