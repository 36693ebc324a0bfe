"""What a dream looks at."""

from msgspec.structs import replace

from dreamd.dream.material import Material, Portion, gather
from dreamd.memories import Memory, derived_id
from dreamd.sections import Agent
from dreamd.stores.base import Changes
from tests.dream.conftest import House


def gathered(house: House, *, again: bool = False, until: int | None = None, after: int = 0) -> Material:
    return gather(house.store, Agent(zone="UTC"), "cat", Portion(again=again, until=until, after=after))


def derived(kind: str, text: str, *refs: str, **more: object) -> Memory:
    assert kind in ("summary", "insight")
    whole = Memory(
        memory_id=derived_id(kind, "cat", text, refs), type=kind, content=text, agent="cat",  # type: ignore[arg-type]
        window=House.day, received_at=House.at, ref_ids=refs, status="candidate" if kind == "insight" else "fresh",
    )  # fmt: skip
    return replace(whole, **more)


def test_it_is_what_no_dream_has_seen_of_what_people_and_tools_did(house: House) -> None:
    said = [house.says("Hello there."), house.says("", role="tool", origin="tool", tool="Bash", ok=False)]
    house.says("At nine o'clock.", origin="scheduled")
    house.says("A reminder.", origin="injected")
    house.says("I help.", origin="subagent")
    house.says("Of somebody else.", agent="dog")
    assert [one.memory_id for one in gathered(house).fresh] == [one.memory_id for one in said]
    house.store.write(Changes(statuses=((said[0].memory_id, "dreamt"),)))
    assert [one.memory_id for one in gathered(house).fresh] == [said[1].memory_id]
    assert len(gathered(house, again=True).fresh) == 2


def test_a_dream_that_goes_on_sees_nothing_that_came_since(house: House) -> None:
    house.says("One.")
    until = gathered(house).until
    before = gathered(house)
    house.says("Two.")
    assert gathered(house, until=until) == before
    assert gathered(house).input_hash != before.input_hash
    assert [one.content for one in gathered(house, after=until).fresh] == ["Two."]


def test_an_insight_that_rests_on_a_daily_line_rests_on_its_records(house: House) -> None:
    said, gone = house.says("The shop is in Berlin."), house.says("Never mind.")
    line = derived("summary", "User: the shop is in Berlin", said.memory_id, gone.memory_id)
    insight = derived("insight", "The shop is in Berlin", line.memory_id, "version:1#2")
    house.store.write(Changes(memories=(line, insight), statuses=((gone.memory_id, "withdrawn"),)))
    material = gathered(house)
    (known,) = material.known
    assert known.ref_ids == (line.memory_id, "version:1#2", said.memory_id, gone.memory_id)
    assert set(material.raws) == {said.memory_id}


def test_an_insight_that_rests_on_itself_ends_somewhere(house: House) -> None:
    insight = derived("insight", "It is so", "x")
    house.store.write(Changes(memories=(insight,)))
    house.store.write(Changes(replaced=(replace(insight, ref_ids=(insight.memory_id,)),)))
    assert gathered(house).known[0].ref_ids == (insight.memory_id,)


def test_the_language_is_that_of_the_human(house: House) -> None:
    house.says("我喜欢喝绿茶，不要咖啡。")
    house.says("All right, green tea it is, from now on and for ever.", role="assistant")
    assert gathered(house).language == "zh"
