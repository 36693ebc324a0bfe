import pytest
from msgspec.structs import replace

from dreamd.errors import UsageError
from dreamd.hand.cascade import cascade
from dreamd.hand.plan import Wish
from dreamd.memories import Memory, derived_id
from dreamd.stores.base import Changes
from tests.dream.conftest import House

TABS, AGAIN = "I prefer tabs over spaces in Makefiles.", "In Makefiles I prefer tabs, never spaces over tabs."


def concludes(house: House, content: str, *refs: Memory, **fields: object) -> Memory:
    ids = tuple(one.memory_id for one in refs)
    memory = Memory(
        memory_id=derived_id("insight", "cat", content, ids), type="insight", content=content, agent="cat",
        window=house.clock.now().date(), received_at=house.clock.now(), ref_ids=ids, status="candidate", kind="fact",
    )  # fmt: skip
    house.store.write(Changes(memories=[replace(memory, **fields)]))
    return replace(memory, **fields)


def goes(house: House, *ids: str, matching: str = "") -> dict[str, str]:
    fall = cascade(house.parts, Wish(ids=ids, matching=matching))
    return {one: doomed.why for one, doomed in fall.gone.items()}


def test_a_record_goes_alone_when_nothing_rests_on_it(house: House) -> None:
    one, _ = house.says("The bridge is long."), house.says("The tower is tall.")
    assert goes(house, one.memory_id[:9]) == {one.memory_id: "asked"}


def test_what_rests_only_on_it_goes_too_layer_by_layer(house: House) -> None:
    one = house.says("The bridge over the Elm is 320 metres long.")
    daily = concludes(house, "The Elm bridge is 320 metres", one, type="summary", status="fresh")
    insight = concludes(house, "Elm bridge: 320 metres", daily)
    assert goes(house, one.memory_id) == {
        one.memory_id: "asked", daily.memory_id: "rests", insight.memory_id: "rests",
    }  # fmt: skip


def test_what_others_bear_out_stays_on_less_and_no_longer_for_good(house: House) -> None:
    one = house.says(TABS, task="t1")
    house.next_day()
    other = house.says(AGAIN, task="t2")
    insight = concludes(
        house, "In Makefiles I prefer tabs, never spaces over tabs", one, other, status="long_term", kind="preference",
        windows=2, tasks=2, origins=2,
    )  # fmt: skip
    fall = cascade(house.parts, Wish(ids=(one.memory_id,)))
    assert list(fall.gone) == [one.memory_id]
    (weak,) = fall.weakened
    assert (weak.memory_id, weak.ref_ids, weak.status) == (insight.memory_id, (other.memory_id,), "candidate")
    assert (weak.windows, weak.tasks, weak.origins) == (1, 1, 1)


def test_a_line_that_tells_of_it_goes_though_it_rests_on_other_things_too(house: House) -> None:
    secret, other = house.says("My code word is Zinfandel."), house.says("The tower is tall.")
    line = concludes(
        house, "The code word is Zinfandel; the tower is tall", secret, other, type="summary", status="fresh"
    )
    assert goes(house, secret.memory_id) == {secret.memory_id: "asked", line.memory_id: "rests"}


def test_an_insight_takes_the_records_that_state_it_and_no_others(house: House) -> None:
    stating, aside = house.says(TABS), house.says("What is the weather like?")
    insight = concludes(house, "I prefer tabs over spaces in Makefiles", stating, aside)
    assert goes(house, insight.memory_id) == {insight.memory_id: "asked", stating.memory_id: "source"}


def test_an_insight_that_no_record_states_by_itself_takes_them_all(house: House) -> None:
    one, other = house.says("Morning!"), house.says("Evening!")
    insight = concludes(house, "The user greets politely", one, other)
    assert goes(house, insight.memory_id) == {
        insight.memory_id: "asked", one.memory_id: "source", other.memory_id: "source",
    }  # fmt: skip


def test_copies_and_quotations_of_it_go_too(house: House) -> None:
    one = house.says("My sister's code word is Zinfandel.")
    copy = house.says("my sister's code word is ZINFANDEL", agent="dog")
    quoting = house.says("You said: my sister's code word is Zinfandel. Right?", role="assistant")
    short, same = house.says("yes"), house.says("yes")
    assert goes(house, one.memory_id) == {
        one.memory_id: "asked", copy.memory_id: "copy", quoting.memory_id: "copy",
    }  # fmt: skip
    assert goes(house, short.memory_id) == {short.memory_id: "asked"}
    assert same.memory_id not in goes(house, short.memory_id)


@pytest.mark.parametrize("status", ["withdrawn", "superseded", "archived", "candidate"])
def test_a_text_is_found_in_memories_of_every_status(house: House, status: str) -> None:
    one = house.says("Zinfandel, please.")
    insight = concludes(house, "Wine: zinfandel", one, status=status)
    house.store.write(Changes(statuses=[(one.memory_id, "withdrawn")]))
    assert goes(house, matching="ZINFANDEL") == {one.memory_id: "asked", insight.memory_id: "asked"}


def test_of_one_agent_alone_when_it_is_named(house: House) -> None:
    house.says("Zinfandel, please.")
    dog = house.says("Zinfandel for the dog.", agent="dog")
    fall = cascade(house.parts, Wish(matching="zinfandel", agent="dog"))
    assert list(fall.gone) == [dog.memory_id]


def test_who_tells_of_it_in_their_own_right_is_mentioned_and_stays(house: House) -> None:
    one = house.says("My sister's code word is Zinfandel, and she lives in Lyon.")
    near = house.says("So my sister's code word is Zinfandel?", role="assistant")
    far = house.says("Quite another matter.")
    fall = cascade(house.parts, Wish(ids=(one.memory_id,)))
    assert [memory.memory_id for memory in fall.mentions] == [near.memory_id]
    assert far.memory_id not in fall.gone


def test_an_unknown_id_is_refused(house: House) -> None:
    with pytest.raises(UsageError):
        cascade(house.parts, Wish(ids=("nonsense",)))
