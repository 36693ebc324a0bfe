"""What a person had forgotten is nowhere, searched as bytes, and stays away; all else is as it was."""

import contextlib
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from dreamd.clock import StillClock
from dreamd.deep_dream.history import undo
from dreamd.dream.phase import dream
from dreamd.errors import DreamdError, NothingToDo
from dreamd.hand.evidence import evidence
from dreamd.hand.forget import Plan, Wish, finish, forget, plan_forget
from dreamd.hand.plan import LEFT
from dreamd.memories import Memory
from dreamd.night.run import run_night
from dreamd.parts import Parts
from dreamd.pool.terms import wanted
from dreamd.recall.recalling import recall
from dreamd.stores.base import MemoryQuery
from tests.acceptance.house import DREAMD, Home, honest, parts_of
from tests.llm_server import Request, llm_server

DREAMS = "[dream]\nenabled = true\n"
MONDAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BRIDGE = ("How long is the bridge over the Elm?", "The Elm bridge is 320 metres long.")
PORT = ("Remember: the staging server listens on port 8443.", "Noted, port 8443 it is.")
ENGLISH = ("Remember: my sister's code word is Zinfandel.", "The code word of your sister is Zinfandel.")
CHINESE = ("记住：我妹妹的暗号是葡萄熟了。", "好的，你妹妹的暗号是葡萄熟了。")


def talkative(request: Request) -> str:
    """The honest LLM, whose diary repeats what it wrote."""
    reply = honest(request)
    if request.purpose != "deep-dream":
        return reply if "=== record" in request.user else "{}"
    new = [
        line[2:].rpartition(" (")[0]
        for line in reply.splitlines()
        if line.startswith("- ") and "(M" not in line
    ]
    return reply.replace("A quiet night.", " ".join(new) or "A quiet night.")


def words(folder: Path, *texts: str) -> list[str]:
    """Where any of these stand, in any file, its name included."""
    wanted = [text.encode() for text in texts]
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(one in path.read_bytes() + path.name.encode() for one in wanted)
    ]


async def lived(home: Home, parts: Parts, secret: tuple[str, str]) -> None:
    """Three days, each with its night; what is secret is said on the first two."""
    clock = parts.clock
    assert isinstance(clock, StillClock)
    days = [(*secret, *BRIDGE), (*secret, *PORT), ("What is on today?", "The Elm bridge is to be painted.")]
    for number, said in enumerate(days):
        home.says(NOON + timedelta(days=number), *said, session=f"s{number}")
        clock.at = NOON + timedelta(days=number, hours=11)
        await run_night(parts, MONDAY + timedelta(days=number))
    await anyio.to_thread.run_sync(parts.store.archive, MONDAY + timedelta(days=1))


def secret_term(word: str) -> str:
    """As the index keeps it."""
    return wanted(word, MONDAY)[0]


def read_anew(home: Home) -> None:
    """As though no log had ever been read; and each stands under a second name too."""
    with contextlib.closing(sqlite3.connect(home.root / "state" / "pool.db")) as pool:
        pool.execute("DELETE FROM cursors")
        pool.commit()
    for log in sorted((home.root / "logs").glob("*.jsonl")):
        shutil.copy(log, log.with_name(f"copy-{log.name}"))


async def read_and_dreamt_again(home: Home, parts: Parts) -> None:
    await anyio.to_thread.run_sync(read_anew, home)
    for number in range(3):
        await run_night(parts, MONDAY + timedelta(days=number), force=True)
    await dream(parts, "anna", force=True)


async def known(parts: Parts) -> list[Memory]:
    return await anyio.to_thread.run_sync(lambda: list(parts.store.memories(MemoryQuery())))


async def told(parts: Parts) -> dict[str, str]:
    return {one.memory_id: one.content for one in await known(parts)}


@pytest.mark.parametrize(("secret", "word"), [(ENGLISH, "Zinfandel"), (CHINESE, "葡萄熟")], ids=["en", "zh"])
async def test_what_is_forgotten_is_nowhere_and_no_log_brings_it_back(
    tmp_path: Path, secret: tuple[str, str], word: str
) -> None:
    async with llm_server(talkative) as server:
        home = Home(tmp_path, server.base_url, extra=DREAMS)
        async with parts_of(home, StillClock(NOON)) as parts:
            await lived(home, parts, secret)
            assert {"work/MEMORY.md", "work/memory/2026-03-02.md", "work/memory/dreams/2026-03-02.md"} <= set(
                words(tmp_path, word)
            )
            await recall(parts, secret[0])  # so that the index has it
            assert any("recall.db" in name for name in words(tmp_path / "state", secret_term(word)))
            before = await told(parts)
            others = {one: text for one, text in before.items() if word not in text}
            plan = await plan_forget(parts, Wish(matching=word.lower()))
            assert {one.memory_id for one in plan.memories} >= before.keys() - others.keys()
            done = await forget(parts, plan)
            assert (done.memories, done.lines) == (len(plan.memories), len(plan.lines))
            gone = {one.memory_id for one in plan.memories}
            assert await told(parts) == {one: text for one, text in others.items() if one not in gone}
            for one in (word, secret_term(word)):
                assert words(tmp_path / "work", one) == words(tmp_path / "state", one) == []
            assert "The Elm bridge is 320 metres long" in home.memory.read_text()
            await read_and_dreamt_again(home, parts)
            assert word not in repr(await told(parts))
        assert words(tmp_path / "work", word) == words(tmp_path / "state", word) == []
        assert "The Elm bridge is 320 metres long" in home.memory.read_text()
        assert words(tmp_path / "logs", word) != []  # the agent's own, which dreamd never touches


async def test_one_insight_is_forgotten_with_the_records_that_say_so(tmp_path: Path) -> None:
    async with llm_server(talkative) as server:
        home = Home(tmp_path, server.base_url, extra=DREAMS)
        async with parts_of(home, StillClock(NOON)) as parts:
            await lived(home, parts, ENGLISH)
            insights = [each for each in await known(parts) if each.type == "insight"]
            (one,) = [each for each in insights if "sister" in each.content and each.status == "long_term"]
            plan = await plan_forget(parts, Wish(ids=(one.memory_id[:12],)))
            asked, *more = plan.memories
            assert (asked.memory_id, asked.why) == (one.memory_id, "asked")
            assert ENGLISH[0] in {each.text for each in more if each.why == "source"}
            await forget(parts, plan)
            await read_and_dreamt_again(home, parts)
            for statement in (one.content, ENGLISH[0]):
                assert words(tmp_path / "work", statement) == words(tmp_path / "state", statement) == []
            port = [each for each in (await told(parts)).values() if "8443" in each]
            assert port


async def test_the_undo_of_a_night_does_not_bring_it_back(tmp_path: Path) -> None:
    async with llm_server(talkative) as server:
        home = Home(tmp_path, server.base_url, extra=DREAMS)
        async with parts_of(home, StillClock(NOON)) as parts:
            await lived(home, parts, ENGLISH)
            await forget(parts, await plan_forget(parts, Wish(matching="zinfandel")))
            for _ in range(4):
                with contextlib.suppress(NothingToDo):
                    await anyio.to_thread.run_sync(undo, parts, "anna")
                assert words(tmp_path / "work", "Zinfandel") == words(tmp_path / "state", "Zinfandel") == []


async def test_what_a_person_wrote_is_shown_and_stays(tmp_path: Path) -> None:
    async with llm_server(talkative) as server:
        home = Home(tmp_path, server.base_url, extra=DREAMS)
        home.memory.write_text("# Mine\n\n- Zinfandel is a grape\n- The Elm is a river\n")
        async with parts_of(home, StillClock(NOON)) as parts:
            await lived(home, parts, ENGLISH)
            daily = home.work / "memory" / "2026-03-02.md"
            daily.write_text("Bought Zinfandel.\n" + daily.read_text())
            plan = await plan_forget(parts, Wish(matching="Zinfandel"))
            assert sorted(line.text for line in plan.stays) == ["Bought Zinfandel.", "Zinfandel is a grape"]
            await forget(parts, plan)
            assert home.memory.read_text().startswith(
                "# Mine\n\n- Zinfandel is a grape\n- The Elm is a river\n"
            )
            assert home.memory.read_text().count("Zinfandel") == 1
            assert daily.read_text().startswith("Bought Zinfandel.\n")
            assert daily.read_text().count("Zinfandel") == 1
            assert words(tmp_path / "state", "Zinfandel") == []


async def test_every_line_that_stays_still_has_its_evidence(tmp_path: Path) -> None:
    async with llm_server(talkative) as server:
        home = Home(tmp_path, server.base_url, extra=DREAMS)
        home.memory.write_text("- My code word is mine\n- The Elm is a river\n")
        async with parts_of(home, StillClock(NOON)) as parts:
            await lived(home, parts, ENGLISH)
            await forget(parts, await plan_forget(parts, Wish(matching="zinfandel")))
            lines = home.memory.read_text().splitlines()
            nodes = [
                await evidence(parts, f"{home.memory}:{number}")
                for number, line in enumerate(lines, 1)
                if line.startswith("- ")
            ]
            assert [node.rests_on[0].kind for node in nodes[:2]] == ["found", "found"]
            assert [node.rests_on[0].text for node in nodes[:2]] == [
                "- My code word is mine",
                "- The Elm is a river",
            ]
            assert all(node.rests_on for node in nodes)
            assert len(nodes) > 3


class Killed(DreamdError):
    """The process died here."""


@contextlib.contextmanager
def killed_at(parts: Parts, step: int) -> Iterator[list[int]]:
    """Whatever would write for the `step`-th time from now on dies before it does."""
    store, count = parts.store, [0]
    write, purge = store.write, store.purge

    def counted(call):
        def one(*arguments):
            count[0] += 1
            if count[0] == step:
                raise Killed("killed")
            return call(*arguments)

        return one

    store.write, store.purge = counted(write), counted(purge)
    try:
        yield count
    finally:
        store.write, store.purge = write, purge


@pytest.mark.parametrize("step", range(1, 6))
async def test_a_kill_leaves_it_not_begun_or_to_be_finished(tmp_path: Path, step: int) -> None:
    home = Home(tmp_path, extra=DREAMS)
    async with parts_of(home, StillClock(NOON)) as parts:
        home.says(NOON, *ENGLISH, *BRIDGE)
        parts.clock.at = NOON + timedelta(hours=11)
        await run_night(parts, MONDAY)
        plan: Plan = await plan_forget(parts, Wish(matching="zinfandel"))
        before = await told(parts)
        with killed_at(parts, step) as count, contextlib.suppress(Killed):
            await forget(parts, plan)
        died = count[0] == step
    async with parts_of(home, StillClock(NOON)) as parts:
        done = await finish(parts)
        if done is None and died:
            assert await told(parts) == before
            done = await forget(parts, await plan_forget(parts, Wish(matching="zinfandel")))
        assert words(tmp_path / "work", "Zinfandel") == words(tmp_path / "state", "Zinfandel") == []
        assert any("Elm" in text for text in (await told(parts)).values())
        assert await finish(parts) is None


def test_beside_a_running_daemon_it_is_nowhere_and_stays_away(tmp_path: Path) -> None:
    home = Home(tmp_path, extra=DREAMS)
    home.says(NOON, *ENGLISH, *BRIDGE)
    with home.daemon() as daemon:
        daemon.told("READY=1")
        assert "Zinfandel" in home.run("recall", "What is the code word of my sister?").stdout
        done = home.run("forget", "--matching", "zinfandel", "--yes")
        assert done.stdout.splitlines()[-1].startswith("forgotten: "), done.stderr
        assert words(tmp_path / "state", "Zinfandel", "zinfandel") == []
        for log in sorted((tmp_path / "logs").glob("*.jsonl")):
            shutil.copy(log, log.with_name(f"copy-{log.name}"))
            log.write_bytes(log.read_bytes())
        home.says(NOON + timedelta(hours=1), *PORT, session="s2")
        assert home.run("sync").returncode == 0
        assert "8443" in home.run("recall", "Which port does the staging server use?").stdout
        assert words(tmp_path / "state", "Zinfandel", "zinfandel") == []
        assert [one for one in daemon.events() if one["event"] == "task.failed"] == []


@pytest.mark.parametrize("later_s", [0.003])
def test_a_process_that_is_killed_in_the_midst_is_finished_by_the_daemon(
    tmp_path: Path, later_s: float
) -> None:
    home = Home(tmp_path)
    home.says(NOON, *ENGLISH, *BRIDGE)
    assert home.run("night", "--date", "2026-03-02").returncode == 0
    wanted_gone = [*DREAMD, "--config", str(home.config), "forget", "--matching", "zinfandel", "--yes"]
    with subprocess.Popen(wanted_gone, stdout=subprocess.DEVNULL) as process:
        while not (tmp_path / "state" / "forgotten").exists() and process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.001)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(later_s)
        process.kill()
    begun = _left(home)
    with home.daemon() as daemon:
        daemon.told("READY=1")
        if begun:
            daemon.waits_for("memories.forgotten")
        elif home.run("forget", "--matching", "zinfandel").returncode == 0:  # killed before it had begun
            assert home.run("forget", "--matching", "zinfandel", "--yes").returncode == 0
    assert words(tmp_path / "work", "Zinfandel") == words(tmp_path / "state", "Zinfandel") == []
    assert "Elm" in home.run("memories").stdout


def _left(home: Home) -> str:
    with contextlib.closing(sqlite3.connect(home.root / "state" / "pool.db")) as pool:
        found = pool.execute("SELECT value FROM meta WHERE key = ?", (LEFT,)).fetchone()
    return found[0] if found else ""
