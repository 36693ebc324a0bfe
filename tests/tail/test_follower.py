"""The follower on a real folder: what is appended is in the pool soon, whatever the watcher misses."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from msgspec import structs

from dreamd.clock import StillClock, SystemClock
from dreamd.config import Config
from dreamd.errors import DiskFull
from dreamd.parts import Foreground, ForegroundCall, Parts
from dreamd.sections import Gateway, Tail
from dreamd.stores.base import Changes, Written
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail import follower
from dreamd.tail.watcher import Watcher
from tests.tail.house import Told, line, parts_on, texts

PATIENCE_S = 20.0


@asynccontextmanager
async def following(parts: Parts) -> AsyncIterator[None]:
    ready = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follower.follow, parts, ready)
        await ready.wait()
        yield
        tasks.cancel_scope.cancel()


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(PATIENCE_S):
        while not true():  # noqa: ASYNC110 - the store tells nobody
            await anyio.sleep(0.01)


async def append(path: Path, data: bytes) -> None:
    await to_thread.run_sync(_append, path, data)


def _append(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)


def with_tail(parts: Parts, tail: Tail) -> Parts:
    config = Config(agents=parts.config.agents, tail=tail)
    return Parts(config=config, state=parts.state, store=parts.store, clock=parts.clock, emit=parts.emit)


async def test_what_was_there_and_what_is_appended_is_in_the_pool(tmp_path: Path) -> None:
    store = InMemoryStore()
    log = tmp_path / "logs" / "x.jsonl"
    await append(log, line(1))
    async with following(parts_on(tmp_path, SystemClock(), tmp_path / "logs", store=store)):
        await until(lambda: len(texts(store)) == 1)
        await append(log, line(2)[:20])
        await append(log, line(2)[20:] + line(3))
        await until(lambda: len(texts(store)) == 3)
    assert texts(store) == ["text 1 字", "text 2 字", "text 3 字"]


async def test_files_made_right_after_their_folder_are_found_without_a_rescan(tmp_path: Path) -> None:
    store = InMemoryStore()
    (tmp_path / "logs").mkdir()
    parts = with_tail(parts_on(tmp_path, SystemClock(), tmp_path / "logs", store=store), Tail(rescan_s=3600))
    async with following(parts):
        for number in range(30):
            await append(tmp_path / "logs" / f"d{number}" / "deep" / "x.jsonl", line(number))
        await until(lambda: len(texts(store)) == 30)
    assert len(set(texts(store))) == 30


async def test_a_configured_folder_that_the_agent_makes_later_is_read_and_listened_to(tmp_path: Path) -> None:
    store = InMemoryStore()
    parts = with_tail(parts_on(tmp_path, SystemClock(), tmp_path / "logs", store=store), Tail(rescan_s=1))
    async with following(parts):
        await append(tmp_path / "logs" / "x.jsonl", line(1))
        await until(lambda: len(texts(store)) == 1)
        await append(tmp_path / "logs" / "deep" / "y.jsonl", line(2))
        await until(lambda: len(texts(store)) == 2)
    assert len(set(texts(store))) == 2


async def test_without_a_watcher_the_rescan_finds_it_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(self: Watcher, watched: object) -> None:
        raise OSError(28, "OS file watch limit reached")

    store, told = InMemoryStore(), Told()
    log = tmp_path / "logs" / "x.jsonl"
    await append(log, line(1))
    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "__init__", exhausted)
        parts = with_tail(
            parts_on(tmp_path, SystemClock(), tmp_path / "logs", store=store, emit=told), Tail(rescan_s=1)
        )
        async with following(parts):
            await until(lambda: len(texts(store)) == 1)
            await append(log, line(2))
            await until(lambda: len(texts(store)) == 2)
            patch.undo()
            await until(lambda: "watch.restored" in told.names())
    assert told.names().count("watch.degraded") == 1


async def test_a_last_line_without_newline_counts_once_the_log_is_at_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "SETTLE_S", 0.05)
    store = InMemoryStore()
    log = tmp_path / "logs" / "x.jsonl"
    await append(log, line(1)[:-1])
    async with following(parts_on(tmp_path, SystemClock(), tmp_path / "logs", store=store)):
        await until(lambda: len(texts(store)) == 1)
        await append(log, b"\n" + line(2))
        await until(lambda: len(texts(store)) == 2)
    assert texts(store) == ["text 1 字", "text 2 字"]


class FullAtFirst(InMemoryStore):
    full = True

    def write(self, changes: Changes) -> Written:
        if self.full:
            raise DiskFull("no space left")
        return super().write(changes)


async def test_a_full_disk_is_told_once_and_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "RETRY_S", 0.02)
    store, told = FullAtFirst(), Told()
    await append(tmp_path / "logs" / "x.jsonl", line(1))
    async with following(parts_on(tmp_path, SystemClock(), tmp_path / "logs", store=store, emit=told)):
        await until(lambda: "disk.full" in told.names())
        await anyio.sleep(0.1)
        store.full = False
        await until(lambda: len(texts(store)) == 1)
    assert told.names().count("disk.full") == 1


async def test_cancelled_in_a_long_log_it_leaves_after_the_chunk_and_a_restart_goes_on(
    tmp_path: Path, clock: StillClock
) -> None:
    store = InMemoryStore()
    log = tmp_path / "logs" / "x.jsonl"
    await append(log, b"".join(line(number, "x" * 2000) for number in range(4000)))
    parts = parts_on(tmp_path, clock, tmp_path / "logs", store=store)
    async with following(parts):
        await until(lambda: len(texts(store)) > 0)
    some = len(texts(store))
    async with following(parts):
        await until(lambda: len(texts(store)) == 4000)
    assert 0 < some < 4000


class Busy(Foreground):
    """Calls are under way until they end."""

    calls = True

    def busy(self) -> bool:
        return self.calls

    def arrive(self, upstream: str, prompt_bytes: int = 0, key: str = "") -> ForegroundCall:
        raise NotImplementedError


async def test_while_calls_pass_a_long_log_is_read_slowly_and_small_appends_go_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "LONG_S", 0.0)
    store, calls, logs = InMemoryStore(), Busy(), tmp_path / "logs"
    await append(logs / "small.jsonl", line(0))
    parts = parts_on(tmp_path, SystemClock(), logs, store=store)
    config = structs.replace(parts.config, gateway=Gateway(listen="127.0.0.1:0"))
    parts = structs.replace(parts, config=config, foreground=lambda: calls)
    async with following(parts):
        await until(lambda: len(texts(store)) == 1)
        await append(logs / "long.jsonl", b"".join(line(number, "x" * 2000) for number in range(1, 4000)))
        await until(lambda: len(texts(store)) > 1)
        await append(logs / "small.jsonl", line(4000, "soon"))
        await until(lambda: "soon" in texts(store))
        before = len(texts(store))
        await until(lambda: len(texts(store)) > before)  # it goes on though calls do too
        assert len(texts(store)) < 4001
        calls.calls = False
        await until(lambda: len(texts(store)) == 4001)
