"""Hears, on Linux, that something changed below the agents' log folders; sleeps until the kernel wakes it.

A hint only: the rescan is the truth. So deletions are not listened to, an overflow means to look everywhere, and when
not all can be watched any more `watched` is less than was wanted: whoever wants more makes a new watcher.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import anyio
from anyio import to_thread

from dreamd.tail.roots import Heard, Roots

# from <sys/inotify.h>
_MODIFY, _MOVED_TO, _CREATE, _MOVE_SELF = 0x2, 0x80, 0x100, 0x800
_OVERFLOW, _IGNORED, _ONLYDIR, _ISDIR = 0x4000, 0x8000, 0x0100_0000, 0x4000_0000
_MASK = _MODIFY | _MOVED_TO | _CREATE | _MOVE_SELF | _ONLYDIR
_HEAD = struct.Struct("iIII")  # watch, mask, cookie, length of the name that follows
_READ_BYTES = 64 << 10
_GATHER_S = 0.01  # what happens within it is told at once

_libc = ctypes.CDLL(None, use_errno=True)


class Event(NamedTuple):
    watch: int
    mask: int
    name: str


class InotifyWatcher:
    """Watches until `close`; then it is thrown away and another one made."""

    def __init__(self, watched: Roots) -> None:
        """Blocking. Raises OSError when the system's limit of watches is reached; `watched` lacks what is gone meanwhile."""
        self.watched = watched
        self._paths: dict[int, tuple[str, ...]] = {}  # several: two roots may lead to one folder
        self._deep: set[int] = set()
        self._closed = False
        self._scope: anyio.CancelScope | None = None
        self._queue = _or_error(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        try:
            self._watch_all()
        except OSError:
            os.close(self._queue)
            raise

    async def run(self, heard: Heard) -> None:
        """Tells `heard` the changed paths, a few milliseconds after they changed."""
        try:
            with anyio.CancelScope() as self._scope:
                while not self._closed:
                    await anyio.wait_readable(self._queue)
                    await anyio.sleep(_GATHER_S)
                    heard(await self._changed(list(events(os.read(self._queue, _READ_BYTES)))))
        finally:
            os.close(self._queue)

    def close(self) -> None:
        self._closed = True
        if self._scope:
            self._scope.cancel()

    async def _changed(self, happened: list[Event]) -> frozenset[str]:
        if any(event.mask & _OVERFLOW for event in happened):
            await to_thread.run_sync(self._watch_as_far_as_possible, ())
            return self.watched.deep | self.watched.flat
        new = [event for event in happened if event.mask & _ISDIR and event.watch in self._deep]
        if new:
            await to_thread.run_sync(self._watch_as_far_as_possible, new)
        for event in happened:
            if event.mask & (_IGNORED | _MOVE_SELF):
                self._lost(event)
        return frozenset(path for event in happened for path in self._named(event))

    def _named(self, event: Event) -> Iterator[str]:
        return (f"{path}/{event.name}" for path in self._paths.get(event.watch, ()) if event.name)

    def _lost(self, event: Event) -> None:
        """A folder is gone from where it was."""
        paths = (
            self._paths.pop(event.watch, ()) if event.mask & _IGNORED else self._paths.get(event.watch, ())
        )
        if not (self.watched.deep | self.watched.flat).isdisjoint(paths):
            self.watched = Roots()

    # --- in a thread ---------------------------------------------------------------------------------------------

    def _watch_all(self) -> None:
        deep, flat = self.watched
        self.watched = Roots(
            frozenset(folder for folder in deep if self._watch(folder, deep=True)),
            frozenset(folder for folder in flat if self._watch(folder, deep=False)),
        )

    def _watch_as_far_as_possible(self, new: Iterable[Event]) -> None:
        """The new folders; everything when none is named."""
        try:
            if not new:
                self._watch_all()
            for event in new:
                for path in self._named(event):
                    self._watch(path, deep=True)
        except OSError:
            self.watched = Roots()

    def _watch(self, root: str, *, deep: bool) -> bool:
        """Each folder before it is looked into, so that nothing comes between unheard. Whether the root could be."""
        waiting, entered = [root], set[int]()
        while waiting:
            path = waiting.pop()
            watch = self._added(path)
            if watch is None or watch in entered:
                continue  # a symlink leads in a circle
            entered.add(watch)
            others = (other for other in self._paths.get(watch, ()) if other != path and os.path.isdir(other))  # noqa: PTH112
            self._paths[watch] = (path, *others)
            if deep:
                self._deep.add(watch)
                waiting += _folders_in(path)
        return bool(entered)

    def _added(self, path: str) -> int | None:
        """The number of the folder's watch; None when it may not be watched or is gone already."""
        try:
            return _or_error(_libc.inotify_add_watch(self._queue, os.fsencode(path), _MASK))
        except OSError as error:
            if error.errno in (errno.EACCES, errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            raise


def events(data: bytes) -> Iterator[Event]:
    """What a read from inotify gave."""
    at = 0
    while at < len(data):
        watch, mask, _cookie, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size + length
        yield Event(watch, mask, os.fsdecode(data[at - length : at].rstrip(b"\0")))


def _folders_in(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return []  # gone, or forbidden: the scan tells of it


def _or_error(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
