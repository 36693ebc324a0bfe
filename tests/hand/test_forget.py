"""The rules of forgetting; that no byte stays is in acceptance/test_forget.py."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.errors import ConfigError, FileChanged, NothingToDo, StateLocked, UsageError, WorkspaceError
from dreamd.hand.forget import Wish, finish, forget, plan_forget
from dreamd.hand.remember import remember
from dreamd.locks import dream_lock, exclusive, one_night
from dreamd.sections import Agent
from dreamd.stores.base import Changes, FileVersion, MemoryQuery
from tests.dream.conftest import House

SECRET = "My sister's code word is Zinfandel."


async def test_what_is_asked_goes_and_is_told_and_the_rest_stays(house: House) -> None:
    one, other = house.says(SECRET), house.says("The tower is tall.")
    plan = await plan_forget(house.parts, Wish(ids=(one.memory_id[:8],)))
    assert [(going.memory_id, going.text) for going in plan.memories] == [(one.memory_id, SECRET)]
    assert house.everything() == [replace(one, seq=1), replace(other, seq=2)]
    done = await forget(house.parts, plan)
    assert (done.memories, done.lines, done.files) == (1, 0, ())
    assert [memory.memory_id for memory in house.everything()] == [other.memory_id]
    assert house.told("memories.forgotten") == [{"memories": 1, "lines": 0, "files": []}]


@pytest.mark.parametrize(
    "wish",
    [
        Wish(),
        Wish(matching="  "),
        Wish(ids=("a",), matching="zinfandel"),
        Wish(matching="ab"),
        Wish(matching="红"),
        Wish(ids=("nonsense",)),
    ],
)
async def test_what_means_nothing_or_too_much_is_refused(house: House, wish: Wish) -> None:
    house.says(SECRET)
    with pytest.raises(UsageError):
        await plan_forget(house.parts, wish)


async def test_an_unknown_agent_is_refused(house: House) -> None:
    with pytest.raises(ConfigError):
        await plan_forget(house.parts, Wish(matching="zinfandel", agent="bird"))


async def test_an_empty_plan_does_nothing(house: House) -> None:
    plan = await plan_forget(house.parts, Wish(matching="merlot"))
    assert plan.empty
    with pytest.raises(NothingToDo):
        await forget(house.parts, plan)
    assert await finish(house.parts) is None


async def test_never_more_goes_than_was_shown(house: House) -> None:
    house.says(SECRET)
    plan = await plan_forget(house.parts, Wish(matching="zinfandel"))
    house.says("Zinfandel again.")
    with pytest.raises(FileChanged):
        await forget(house.parts, plan)
    assert len(house.everything()) == 2
    assert (await plan_forget(house.parts, Wish(matching="zinfandel"))).digest != plan.digest


async def test_what_went_meanwhile_is_no_obstacle(house: House) -> None:
    one, other = house.says(SECRET), house.says("Zinfandel again.")
    both = await plan_forget(house.parts, Wish(ids=(one.memory_id, other.memory_id)))
    await forget(house.parts, await plan_forget(house.parts, Wish(ids=(other.memory_id,))))
    assert (await forget(house.parts, both)).memories == 1
    assert house.everything() == []


async def test_a_night_or_a_dream_under_way_holds_it_up(house: House) -> None:
    house.says(SECRET)
    plan = await plan_forget(house.parts, Wish(matching="zinfandel"))
    async with one_night(house.state, house.clock):
        with pytest.raises(StateLocked):
            await forget(house.parts, plan)
    async with exclusive(house.state / dream_lock("dog"), house.clock, what="dog dreams"):
        with pytest.raises(StateLocked):
            await forget(house.parts, plan)
    assert len(house.everything()) == 1


async def test_a_file_that_cannot_be_written_leaves_all_as_it_was(house: House, tmp_path: Path) -> None:
    house.configure(agents={"cat": Agent(zone="UTC", workspace=str(tmp_path))})
    house.says(SECRET)
    memory = tmp_path / "MEMORY.md"
    memory.write_text("- The code word is Zinfandel\n")
    version = FileVersion(
        agent="cat",
        path=str(memory),
        author="dreamd",
        content=memory.read_text(),
        sha256="x",
        at=house.clock.now(),
    )
    house.store.write(Changes(versions=[version]))
    plan = await plan_forget(house.parts, Wish(matching="zinfandel"))
    assert [line.text for line in plan.lines] == ["The code word is Zinfandel"]
    memory.chmod(0o444)
    with pytest.raises(WorkspaceError):
        await forget(house.parts, plan)
    assert len(house.everything()) == 1
    memory.chmod(0o644)
    assert (await forget(house.parts, plan)).files == (str(memory),)
    assert memory.read_text() == ""
    assert house.store.versions("cat")[0].content == ""


async def test_what_was_forgotten_can_be_remembered_again(house: House) -> None:
    kept = await remember(house.parts, "I hate red wine and Zinfandel", agent="cat")
    await forget(house.parts, await plan_forget(house.parts, Wish(ids=(kept.insight.memory_id,))))
    assert house.everything() == []
    house.next_day()
    await remember(house.parts, "I hate red wine and Zinfandel", agent="cat")
    assert [one.status for one in house.insights()] == ["long_term"]


async def test_an_insight_that_stays_is_written_on_what_is_left(house: House) -> None:
    one = house.says("In the kitchen I like tabs in Makefiles and spaces in Python files.", task="a")
    house.next_day()
    house.says("Remember: I like tea in the afternoon.", task="b")
    await house.dreams()
    plan = await plan_forget(house.parts, Wish(ids=(one.memory_id,)))
    await forget(house.parts, plan)
    left = list(house.store.memories(MemoryQuery(types=("insight",))))
    assert all("tea" in insight.content for insight in left)
    assert left


async def test_of_one_agent_alone_no_other_is_kept_from_saying_the_same(house: House) -> None:
    house.says(SECRET)
    await forget(house.parts, await plan_forget(house.parts, Wish(matching="zinfandel", agent="cat")))
    earlier = house.clock.now()
    house.says(SECRET, agent="dog", at=earlier)
    house.says(SECRET, agent="cat", at=earlier)
    assert [memory.agent for memory in house.everything()] == ["dog"]
