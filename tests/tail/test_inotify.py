import ctypes
import errno
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from dreamd.tail import inotify
from dreamd.tail.inotify import Event, InotifyWatcher, events
from dreamd.tail.roots import Roots

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="of the Linux kernel")


class Ear:
    """What a running watcher told."""

    def __init__(self, watcher: InotifyWatcher) -> None:
        self.watcher = watcher
        self.paths: set[str] = set()

    def hear(self, paths: frozenset[str]) -> None:
        self.paths |= paths

    async def until(self, *paths: Path) -> None:
        with anyio.fail_after(20):
            while not {str(path) for path in paths} <= self.paths:  # noqa: ASYNC110 - it is heard in a callback
                await anyio.sleep(0.005)


@asynccontextmanager
async def listening(*, deep: Path | None = None, flat: Path | None = None) -> AsyncIterator[Ear]:
    watched = Roots(*(frozenset({str(folder)} if folder else ()) for folder in (deep, flat)))
    ear = Ear(await to_thread.run_sync(InotifyWatcher, watched))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ear.watcher.run, ear.hear)
        yield ear
        ear.watcher.close()


async def write(path: Path) -> None:
    await to_thread.run_sync(path.write_bytes, b"1")


def event(watch: int, mask: int, name: bytes) -> bytes:
    padded = name + b"\0" * (16 - len(name) % 16) if name else b""
    return inotify._HEAD.pack(watch, mask, 0, len(padded)) + padded


def test_a_read_holds_several_events_with_padded_names() -> None:
    data = event(1, inotify._MODIFY, b"a.jsonl") + event(-1, inotify._OVERFLOW, b"")
    assert list(events(data)) == [Event(1, inotify._MODIFY, "a.jsonl"), Event(-1, inotify._OVERFLOW, "")]
    assert list(events(b"")) == []


async def test_what_is_written_is_heard_of_below_a_deep_folder_and_in_a_flat_one(tmp_path: Path) -> None:
    deep, flat = tmp_path / "deep", tmp_path / "flat"
    for folder in (deep / "a" / "b", flat / "a"):
        await to_thread.run_sync(lambda folder=folder: folder.mkdir(parents=True))
    async with listening(deep=deep, flat=flat) as ear:
        await write(flat / "a" / "unheard")
        await write(deep / "a" / "b" / "x")
        await write(flat / "y")
        await ear.until(deep / "a" / "b" / "x", flat / "y")
    assert str(flat / "a" / "unheard") not in ear.paths


async def test_new_and_renamed_folders_are_heard_of_and_listened_to_with_all_below_them(
    tmp_path: Path,
) -> None:
    async with listening(deep=tmp_path) as ear:
        await to_thread.run_sync(lambda: (tmp_path / "new" / "er").mkdir(parents=True))
        await ear.until(tmp_path / "new")
        await write(tmp_path / "new" / "er" / "x")
        await ear.until(tmp_path / "new" / "er" / "x")
        await to_thread.run_sync((tmp_path / "new").rename, tmp_path / "moved")
        await ear.until(tmp_path / "moved")
        await write(tmp_path / "moved" / "er" / "y")
        await ear.until(tmp_path / "moved" / "er" / "y")
    assert str(tmp_path / "new" / "er" / "y") not in ear.paths


async def test_symlinks_are_followed_but_not_in_a_circle(tmp_path: Path) -> None:
    logs, elsewhere = tmp_path / "logs", tmp_path / "elsewhere"
    for folder in (logs, elsewhere):
        await to_thread.run_sync(folder.mkdir)
    await to_thread.run_sync((logs / "link").symlink_to, elsewhere)
    await to_thread.run_sync((elsewhere / "back").symlink_to, logs)
    async with listening(deep=logs) as ear:
        await write(elsewhere / "x")
        await ear.until(logs / "link" / "x")


async def test_after_an_overflow_everything_is_to_be_looked_at(tmp_path: Path) -> None:
    async with listening(deep=tmp_path) as ear:
        assert await ear.watcher._changed([Event(-1, inotify._OVERFLOW, "")]) == {str(tmp_path)}
        assert ear.watcher.watched == Roots(frozenset({str(tmp_path)}))


@pytest.mark.parametrize("gone", [lambda root: root.rmdir(), lambda root: root.rename(root.with_name("b"))])
async def test_a_root_that_is_removed_or_renamed_is_not_watched_any_more(
    tmp_path: Path, gone: Callable[[Path], object]
) -> None:
    root = tmp_path / "a"
    await to_thread.run_sync(root.mkdir)
    async with listening(deep=root) as ear:
        await to_thread.run_sync(gone, root)
        with anyio.fail_after(20):
            while ear.watcher.watched != Roots():  # noqa: ASYNC110 - it is no event
                await anyio.sleep(0.005)


def test_a_root_that_is_gone_before_it_is_watched_is_missing_from_the_watched(tmp_path: Path) -> None:
    watcher = InotifyWatcher(Roots(frozenset({str(tmp_path), str(tmp_path / "none")})))
    assert watcher.watched == Roots(frozenset({str(tmp_path)}))
    os.close(watcher._queue)


class Exhausted:
    """A system whose limit is reached after so many watches."""

    def __init__(self, left: int) -> None:
        self._left = left
        self._real = ctypes.CDLL(None, use_errno=True)
        self.inotify_init1 = self._real.inotify_init1

    def inotify_add_watch(self, *arguments: object) -> int:
        self._left -= 1
        if self._left >= 0:
            return int(self._real.inotify_add_watch(*arguments))
        ctypes.set_errno(errno.ENOSPC)
        return -1


def test_a_reached_limit_is_an_error_at_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inotify, "_libc", Exhausted(0))
    with pytest.raises(OSError, match="No space left"):
        InotifyWatcher(Roots(frozenset({str(tmp_path)})))


async def test_a_limit_reached_later_asks_for_a_new_watcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inotify, "_libc", Exhausted(1))
    async with listening(deep=tmp_path) as ear:
        await to_thread.run_sync((tmp_path / "new").mkdir)
        await ear.until(tmp_path / "new")
    assert ear.watcher.watched == Roots()


async def test_closed_before_it_runs_it_ends_at_once(tmp_path: Path) -> None:
    watcher = await to_thread.run_sync(InotifyWatcher, Roots(frozenset({str(tmp_path)})))
    watcher.close()
    with anyio.fail_after(20):
        await watcher.run(lambda _paths: None)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(watcher._queue)
