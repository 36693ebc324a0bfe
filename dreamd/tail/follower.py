"""The daemon's ear: follows all agents' logs for ever, and has what was appended in the pool a moment later.

The watcher says where to look; a full rescan every `tail.rescan_s` finds what it missed. Reading and storing happen in
one worker thread, so the event loop never blocks and no two passes run at once. Cancelled, it finishes the transaction
under way and leaves. A long pass is courteous to calls that pass the gateway, and lets small appends go before.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, repeat

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from dreamd.errors import DiskFull, StoreBusy
from dreamd.events import DISK_FULL, WATCH_DEGRADED, WATCH_RESTORED
from dreamd.parts import Parts
from dreamd.tail.condition import keep
from dreamd.tail.roots import Roots, roots
from dreamd.tail.sources import Found
from dreamd.tail.steps import How
from dreamd.tail.sync import courtesy_of, tailers, tell
from dreamd.tail.tailer import Tailer, Tally
from dreamd.tail.watcher import Watcher

SETTLE_S = 2.0  # a log that has not grown for so long is at rest
RETRY_S = 5.0  # after the store was busy or the disk full
LONG_S = 0.05  # a pass that takes longer lets what was appended elsewhere go before the rest


async def follow(parts: Parts, ready: anyio.Event) -> None:
    """Never returns. `ready` is set once the logs are watched; what they hold by then is read after it.

    Raises ConfigError, StoreError (but a busy store and a full disk are waited for).
    """
    stop = threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_set_when_cancelled, stop)
        follower = _Follower(parts, stop)
        await follower.begin()
        try:
            await follower.rewatch(tasks)
            ready.set()
            await follower.loop(tasks)
        finally:
            follower.unwatch()


async def _set_when_cancelled(stop: threading.Event) -> None:
    try:
        await anyio.sleep_forever()
    finally:
        stop.set()


def _after_one() -> Callable[[], bool]:
    """Let one log begin, and stop it at its first chance to."""
    asked = chain((False,), repeat(True))
    return lambda: next(asked)


class _Follower:
    def __init__(self, parts: Parts, stop: threading.Event) -> None:
        self._parts = parts
        self._stop = stop
        self._worker = anyio.CapacityLimiter(1)
        self._tails: dict[str, Tailer] = {}
        self._heard: deque[str] = deque()  # by the watcher; taken by the worker thread too
        self._later: set[str] = set()  # what a long pass has heard and not read to its end
        self._woken = anyio.Event()
        self._watcher: Watcher | None = None
        self._since_rescan: dict[str, Tally] = {}  # one canonical line a rescan, not one an append
        self._degraded = False
        self._full = False

    async def begin(self) -> None:
        self._tails = await to_thread.run_sync(tailers, self._parts, limiter=self._worker)

    async def loop(self, tasks: TaskGroup) -> None:
        rescan_at = anyio.current_time()
        while True:
            if anyio.current_time() >= rescan_at:
                self._take()
                whole = await self._pass(None)
                await self.rewatch(tasks)
                rescan_at = anyio.current_time() + (self._parts.config.tail.rescan_s if whole else RETRY_S)
            await self._wait_until(rescan_at)
            if (heard := self._take()) and not await self._pass(heard):
                rescan_at = anyio.current_time() + RETRY_S
            if any(tail.unsettled for tail in self._tails.values()):
                await self._guarded(self._settle)

    async def _wait_until(self, rescan_at: float) -> None:
        """For news, the next rescan, or logs that may be at rest by then."""
        if self._later:
            return
        patience = rescan_at - anyio.current_time()
        if any(tail.unsettled for tail in self._tails.values()):
            patience = min(patience, SETTLE_S / 2)
        with anyio.move_on_after(max(0.0, patience)):
            await self._woken.wait()

    def _take(self) -> frozenset[str]:
        self._woken = anyio.Event()
        heard, self._later = self._popped() | self._later, set()
        return heard

    def _popped(self) -> frozenset[str]:
        return frozenset(self._heard.popleft() for _ in range(len(self._heard)))

    # --- in the worker thread ----------------------------------------------------------------------------------

    async def _pass(self, heard: frozenset[str] | None) -> bool:
        return await self._guarded(self._read, heard)

    async def _guarded(self, work: Callable[..., None], *args: object) -> bool:
        """Whether it went through; a busy store and a full disk are tried again later."""
        try:
            await to_thread.run_sync(work, *args, limiter=self._worker)
        except StoreBusy:
            return False
        except DiskFull:
            if not self._full:
                self._parts.emit(DISK_FULL, state=str(self._parts.state))
            self._full = True
            return False
        self._full = False
        return True

    def _read(self, heard: frozenset[str] | None) -> None:
        courtesy, began = courtesy_of(self._parts, self._stop.wait), self._parts.clock.monotonic()

        def between(path: str) -> None:
            courtesy.rest()
            if self._heard and self._parts.clock.monotonic() - began >= LONG_S:
                self._let_before(path)

        how = How(rest_s=SETTLE_S, stopping=self._stop.is_set, enough=courtesy.enough, between=between)
        for name, tail in self._tails.items():
            found = tail.find() if heard is None else tail.near(heard)
            self._advance(name, tail, found, how)
            if heard is None:
                tell(self._parts, name, self._since_rescan.pop(name, Tally()))

    def _let_before(self, under_way: str) -> None:
        """A piece of each log that has grown meanwhile; a small append is read with it. All are looked at again later."""
        heard = self._popped()
        self._later |= heard
        for name, tail in self._tails.items():
            for one in tail.near_known(heard - {under_way}):
                if one.path != under_way:
                    piece = How(rest_s=SETTLE_S, stopping=_after_one())
                    tail.advance([one], piece, self._since_rescan.setdefault(name, Tally()).add)

    def _settle(self) -> None:
        for name, tail in self._tails.items():
            if quiet := tail.quiet_for(SETTLE_S):
                settle = How(settle=True, stopping=self._stop.is_set)
                self._advance(name, tail, quiet, settle)

    def _advance(self, name: str, tail: Tailer, found: Sequence[Found], how: How) -> None:
        so_far = self._since_rescan.setdefault(name, Tally())
        tally = tail.advance(found, how, so_far.add)
        so_far.files, so_far.unreadable = max(so_far.files, tally.files), tally.unreadable
        keep(self._parts, name, tally.condition)

    # --- the watcher -------------------------------------------------------------------------------------------

    def _hear(self, paths: Iterable[str]) -> None:
        self._heard.extend(paths)
        self._woken.set()

    async def rewatch(self, tasks: TaskGroup) -> None:
        """Watch what there is to watch now: at first, when folders came or went, and after a failure."""
        if not self._parts.config.tail.watch:
            return
        wanted = await to_thread.run_sync(self._roots, limiter=self._worker)
        if self._watcher and self._watcher.watched == wanted:
            return
        self.unwatch()
        try:
            self._watcher = await to_thread.run_sync(Watcher, wanted, limiter=self._worker)
        except OSError as error:
            self._degrade(error)
            return
        tasks.start_soon(self._watcher.run, self._hear)
        if self._degraded:
            self._parts.emit(WATCH_RESTORED)
        self._degraded = False

    def unwatch(self) -> None:
        if self._watcher:
            self._watcher.close()
        self._watcher = None

    def _roots(self) -> Roots:
        return roots(place for tail in self._tails.values() for place in tail.places)

    def _degrade(self, error: OSError) -> None:
        if not self._degraded:
            every = self._parts.config.tail.rescan_s
            self._parts.emit(WATCH_DEGRADED, reason=error.strerror or str(error), rescan_s=every)
        self._degraded = True
