"""Hears, on any platform, that something changed below the agents' log folders. A hint only: the rescan is the truth.

watchfiles' defaults wait 1.6 s, wake 20 times a second and lose files in new folders (RELIABILITY finding 3), so the
Rust part is used directly, with short steps, and whoever hears of a folder looks into it.
"""

import threading
from functools import partial

import anyio
from anyio import to_thread
from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from dreamd.tail.roots import Heard, Roots

# A change is heard of one to two steps after it happened; an idle watcher wakes once a step.
_IDLE_STEP_MS = 40
_BUSY_STEP_MS = 10  # while something is going on
_CALM_MS = 5_000  # nothing for so long: idle again
_DEBOUNCE_MS = 60  # a busy folder is told of at least so often


class AnywhereWatcher:
    """Watches until `close`, or until it fails; then it is thrown away and another one tried."""

    def __init__(self, watched: Roots) -> None:
        """Blocking. Raises OSError when the system's limit of watches is reached or a folder is gone."""
        self.watched = watched
        self._closed = threading.Event()
        self._limiter = anyio.CapacityLimiter(2)
        self._parts = [
            _listening(sorted(folders), recursive=recursive)
            for folders, recursive in ((watched.deep, True), (watched.flat, False))
            if folders
        ]

    async def run(self, heard: Heard) -> None:
        """Tells `heard` the changed paths, a few milliseconds after they changed."""
        async with anyio.create_task_group() as tasks:
            for part in self._parts:
                tasks.start_soon(self._listen, part, heard)

    def close(self) -> None:
        """Threads see it within a step."""
        self._closed.set()

    async def _listen(self, part: RustNotify, heard: Heard) -> None:
        step = _IDLE_STEP_MS
        while not self._closed.is_set():
            wait = partial(part.watch, _DEBOUNCE_MS, step, _CALM_MS, self._closed)
            changes = await to_thread.run_sync(wait, limiter=self._limiter)
            step = _BUSY_STEP_MS if isinstance(changes, set) else _IDLE_STEP_MS
            if isinstance(changes, set):
                heard(frozenset(path for _kind, path in changes))


def _listening(folders: list[str], *, recursive: bool) -> RustNotify:
    """Strict at first: told to ignore forbidden folders, watchfiles silently ignores a reached limit as well."""
    try:
        return RustNotify(folders, False, False, 0, recursive, False)
    except PermissionError:
        return RustNotify(folders, False, False, 0, recursive, True)
    except WatchfilesRustInternalError as error:
        raise OSError(str(error)) from error
