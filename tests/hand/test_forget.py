"""The rules of forgetting; that no byte stays is in acceptance/test_forget.py."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.deep_dream import writing
from dreamd.errors import ConfigError, FileChanged, NothingToDo, StateLocked, UsageError, WorkspaceError
from dreamd.hand.forget import Wish, finish, forget, plan_forget
from dreamd.hand.remember import remember
from dreamd.locks import dream_lock, exclusive, one_night
from dreamd.sections import Agent
from dreamd.stores.base import Changes, FileVersion, MemoryQuery, Written
from dreamd.stores.inmemory import InMemoryStore
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
        Wish(ids=("\udcff",)),
        Wish(matching="caf\udce9 noir"),
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


class Unmounting(InMemoryStore):
    """A workspace goes away in the midst of it."""

    workspace, elsewhere = Path(), Path()

    def write(self, changes: Changes) -> Written:
        done = super().write(changes)
        if changes.erased:
            self.workspace.rename(self.elsewhere)
        return done


async def test_a_workspace_that_goes_away_in_the_midst_of_it_is_cleaned_when_it_is_back(
    house: House, tmp_path: Path
) -> None:
    store = house.store = Unmounting()
    store.workspace, store.elsewhere = tmp_path / "work", tmp_path / "away"
    store.workspace.mkdir()
    house.configure(agents={"cat": Agent(zone="UTC", workspace=str(store.workspace))})
    house.says(SECRET)
    memory = store.workspace / "MEMORY.md"
    memory.write_text("- The code word is Zinfandel\n- The tower is tall\n")
    text = memory.read_text()
    version = FileVersion(
        agent="cat", path=str(memory), author="dreamd", content=text, sha256="x", at=house.at
    )
    store.write(Changes(versions=[version]))
    plan = await plan_forget(house.parts, Wish(matching="zinfandel"))
    for attempt in (forget(house.parts, plan), finish(house.parts)):
        with pytest.raises(WorkspaceError, match="missing"):
            await attempt
    assert house.everything() == []
    store.elsewhere.rename(store.workspace)
    done = await finish(house.parts)
    assert done is not None
    assert (done.memories, done.files, memory.read_text()) == (1, (str(memory),), "- The tower is tall\n")
    assert await finish(house.parts) is None


async def test_what_a_crash_left_of_any_write_goes_with_it(house: House, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "memory" / "dreams").mkdir(parents=True)
    house.configure(agents={"cat": Agent(zone="UTC", workspace=str(work), memory_file="M[1].md")})
    house.says(SECRET)
    (work / "real.md").write_text("- The tower is tall\n")
    (work / "M[1].md").symlink_to("real.md")
    names = (".real.md", "memory/.2026-03-02.md", "memory/dreams/.2026-03-02.md")
    strays = [work / f"{name}.0123456789ab.tmp" for name in names]
    others = [work / ".real.md.mine.tmp", work / "memory" / ".notes.md.0123456789ab.tmp"]
    for file in (*strays, *others):
        file.write_text(SECRET)
    await forget(house.parts, await plan_forget(house.parts, Wish(matching="zinfandel")))
    assert [file.exists() for file in (*strays, *others)] == [False, False, False, True, True]


async def test_a_rewrite_of_an_agent_of_once_that_nobody_will_finish_goes_with_it(house: House) -> None:
    house.says(SECRET, agent="bird")
    house.store.write(Changes(meta={writing.key_of("bird"): SECRET}))
    await forget(house.parts, await plan_forget(house.parts, Wish(ids=(house.everything()[0].memory_id,))))
    assert house.store.meta(writing.key_of("bird")) == ""
