import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from anyio import to_thread

from dreamd import files
from dreamd.calls import Prompt, Reply
from dreamd.deep_dream.phase import deep_dream
from dreamd.deep_dream.writing import decoded, encoded, resume
from dreamd.parts import Outcome
from dreamd.providers.scripted import ScriptedProvider
from dreamd.stores.base import Changes, Written
from dreamd.stores.inmemory import InMemoryStore
from tests.deep_dream.conftest import DAY, House, reply

OLD = "# Memory\n\n- The shop sells tea\n- Ann reviews pull requests\n"
NEW = reply("- (M1)\n- (M2)\n- The shop moved to Berlin (D1)", dream="The shop moved.")


def prepared(house: House) -> None:
    house.file.write_text(OLD)
    house.said("User: where -> Reply: the shop moved to Berlin")


# --- somebody else writes ---


class Interrupted(ScriptedProvider):
    """While the model thinks, somebody does something."""

    def __init__(self, answer: str, meanwhile: Callable[[], object]) -> None:
        super().__init__([answer])
        self.meanwhile = meanwhile

    async def complete(self, prompt: Prompt) -> Reply:
        await to_thread.run_sync(self.meanwhile)
        return await super().complete(prompt)


async def dream_while(house: House, meanwhile: Callable[[], object], answer: str = NEW) -> Outcome:
    house.llm = Interrupted(answer, meanwhile)
    return await deep_dream(house.parts, "cat", DAY)


async def test_an_edit_during_the_call_is_merged(house: House) -> None:
    prepared(house)
    mine = OLD.replace("sells tea", "sells coffee") + "\nmy own words\n"
    told = await dream_while(house, lambda: house.file.write_text(mine))
    assert told.row.state == "done"
    assert (
        house.memory
        == OLD.replace("sells tea", "sells coffee") + "- The shop moved to Berlin\n\nmy own words\n"
    )
    assert [version.author for version in house.store.versions("cat")] == ["dreamd", "found", "found"]
    assert house.store.evidence("cat")["The shop sells coffee"].ref_ids == ("version:2#3",)


async def test_an_edit_at_the_same_lines_is_left_alone_and_the_night_tries_again(house: House) -> None:
    prepared(house)
    house.said("User: tea? -> Reply: the shop sells tea and cake")
    mine = OLD.replace("sells tea", "sells coffee")

    answer = reply("- The shop sells tea and cake (M1, D2)\n- (M2)")
    told = await dream_while(house, lambda: house.file.write_text(mine), answer)
    assert (told.row.state, house.memory, house.diary()) == ("failed", mine, "")
    assert "edited meanwhile" in told.row.reason
    again = await house.dream(reply("- (M1)\n- (M2)\n- The shop moved to Berlin (D1)"))
    assert (again.row.state, again.row.attempts) == ("done", 2)
    assert house.memory == mine + "- The shop moved to Berlin\n"


async def test_a_file_deleted_during_the_call_does_not_come_back_whole(house: House) -> None:
    prepared(house)
    told = await dream_while(house, house.file.unlink)
    assert house.memory in ("", "- The shop moved to Berlin\n")
    assert told.row.state in ("done", "failed")


# --- the file system ---


async def test_a_symlink_stays_a_symlink(house: House) -> None:
    prepared(house)
    real = house.workspace / "notes" / "real.md"
    real.parent.mkdir()
    house.file.rename(real)
    house.file.symlink_to(real)
    await house.dream(NEW)
    assert house.file.is_symlink()
    assert real.read_text() == OLD + "- The shop moved to Berlin\n"


async def test_a_symlink_that_leads_outside_is_not_followed(house: House, tmp_path: Path) -> None:
    prepared(house)
    outside = tmp_path / "outside.md"
    house.file.rename(outside)
    house.file.symlink_to(outside)
    told = await house.dream()
    assert told.row.state == "failed"
    assert "outside" in told.row.reason
    assert outside.read_text() == OLD


@pytest.mark.parametrize("what", ["file", "folder", "diary"])
async def test_what_is_read_only_is_left_alone_and_nothing_else_is_touched(house: House, what: str) -> None:
    prepared(house)
    diaries = house.workspace / "memory" / "dreams"
    diaries.mkdir()
    locked = {"file": house.file, "folder": house.workspace, "diary": diaries}[what]
    mode = locked.stat().st_mode
    locked.chmod(mode & ~0o222)
    told = await house.dream(NEW)
    locked.chmod(mode)
    assert told.row.state == "failed"
    assert "read-only" in told.row.reason
    assert (house.memory, house.diary()) == (OLD, "")
    assert sorted(path.name for path in house.workspace.iterdir()) == ["MEMORY.md", "memory"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "latin-1", "memory/dreams is a file"])
async def test_a_diary_that_cannot_be_read_is_found_out_before_memory_is_touched(
    house: House, kind: str
) -> None:
    prepared(house)
    diary = house.workspace / "memory" / "dreams" / f"{DAY.isoformat()}.md"
    if kind == "memory/dreams is a file":
        diary.parent.write_text("no folder")
    else:
        diary.parent.mkdir()
        {"pipe": os.mkfifo, "folder": Path.mkdir}.get(kind, lambda path: path.write_bytes(b"caf\xe9"))(diary)
    told = await house.dream(NEW)
    assert told.row.state == "failed"
    assert house.memory == OLD


async def test_the_mode_of_the_file_stays(house: House) -> None:
    prepared(house)
    house.file.chmod(0o640)
    await house.dream(NEW)
    assert stat.S_IMODE(house.file.stat().st_mode) == 0o640


async def test_a_full_disk_writes_nothing_and_the_retry_does_not_pay_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(house)

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        told = await house.dream(NEW)
    assert told.row.state == "failed"
    assert "no space left" in told.row.reason
    assert house.memory == OLD
    assert sorted(path.name for path in house.workspace.iterdir()) == ["MEMORY.md", "memory"]
    again = await house.dream(NEW)
    assert again.row.state == "done"
    assert house.prompts == []
    assert house.memory == OLD + "- The shop moved to Berlin\n"


async def test_a_missing_workspace_fails_with_its_reason(house: House) -> None:
    house.agent(workspace=str(house.workspace / "none"))
    told = await house.dream()
    assert (told.row.state, "missing" in told.row.reason) == ("failed", True)


async def test_a_file_that_is_no_text_is_left_alone(house: House) -> None:
    prepared(house)
    house.file.write_bytes(b"\xff\xfe\x00")
    told = await house.dream()
    assert "not UTF-8" in told.row.reason
    assert house.file.read_bytes() == b"\xff\xfe\x00"


# --- killed at any instant ---


class Killed(BaseException):
    pass


class Death:
    """Strikes at the n-th moment: before or after each write to the store and each replaced file."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.moments = 0

    def look(self) -> None:
        self.moments += 1
        if self.moments == self.at:
            raise Killed


class MortalStore(InMemoryStore):
    death: Death | None = None

    def write(self, changes: Changes) -> Written:
        if self.death:
            self.death.look()
        written = super().write(changes)
        if self.death:
            self.death.look()
        return written


async def lives_until(house: House, at: int, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, int]:
    """One run that may die at its `at`-th moment: whether it did, and how many calls were paid for."""
    death = Death(at)
    replace = files.replace

    def mortal(path: Path, text: str, *, root: Path, expected_sha256: str | None = None) -> None:
        death.look()
        replace(path, text, root=root, expected_sha256=expected_sha256)
        death.look()

    assert isinstance(house.store, MortalStore)
    with monkeypatch.context() as patched:
        patched.setattr(files, "replace", mortal)
        house.store.death = death
        try:
            await house.dream(NEW)
        except Killed:
            return True, len(house.prompts)
        finally:
            house.store.death = None
    return False, len(house.prompts)


@pytest.mark.parametrize("at", range(1, 16))
async def test_a_run_killed_at_any_instant_is_finished_by_the_next(
    house: House, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.store = MortalStore()
    prepared(house)
    died, paid = await lives_until(house, at, monkeypatch)
    assert house.memory in (OLD, OLD + "- The shop moved to Berlin\n")
    journalled = at > 1
    await house.dream(NEW)
    assert paid + len(house.prompts) == (1 if journalled or not died else 2)
    assert house.memory == OLD + "- The shop moved to Berlin\n"
    assert house.diary().count("### Written") == 1
    assert [version.author for version in house.store.versions("cat")] == ["dreamd", "found"]
    assert house.store.evidence("cat")["The shop moved to Berlin"].ref_ids
    assert house.store.evidence("cat")["The shop sells tea"].ref_ids == ("version:1#3",)
    row = house.row()
    assert row is not None
    assert row.state == "done"
    before = (house.memory, house.diary())
    assert not (await house.dream()).new
    assert (house.memory, house.diary()) == before


async def test_an_edit_after_the_crash_is_merged(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.store = MortalStore()
    prepared(house)
    died, _ = await lives_until(house, 6, monkeypatch)
    assert died
    house.file.write_text("mine\n" + house.memory)
    await house.dream()
    assert house.memory == "mine\n" + OLD + "- The shop moved to Berlin\n"


def test_there_is_nothing_to_resume_at_first(house: House) -> None:
    assert resume(house.parts, "cat") is None


async def test_an_intent_survives_its_encoding(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.store = MortalStore()
    prepared(house)
    await lives_until(house, 5, monkeypatch)
    stored = house.store.meta("deep_dream.intent:cat")
    assert stored
    assert encoded(decoded(stored)) == stored


async def test_two_runs_at_once_leave_one_whole_file(house: House) -> None:
    prepared(house)
    other = reply("- (M1)\n- (M2)\n- The shop moved to Berlin (D1)", dream="The shop moved to Berlin.")

    def answer(_prompt: Prompt) -> Reply:
        return Reply(text=other, stop="end")

    house.llm = ScriptedProvider(answer)
    first = await deep_dream(house.parts, "cat", DAY)
    second = await deep_dream(house.parts, "cat", DAY, force=True)
    assert (first.row.state, second.row.state) == ("done", "done")
    assert house.memory.count("The shop moved to Berlin") == 1
