"""The whole life of the daemon on one screen: one task group, and what ends, repeats or replaces it.

The tasks loop for ever. One that fails is told and begun again after a pause that doubles, so it is never silent and
never spins; while it goes on failing the watchdog is not fed, and systemd starts the process anew. The daemon may be
killed at any instant and nothing is lost; stopping in good order only saves the work under way.
"""

import os
import signal
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Protocol, cast

import anyio
from anyio import to_thread
from msgspec import Struct, field

from dreamd import __version__, _plugins, sdnotify
from dreamd.clock import Clock, SystemClock
from dreamd.config import Config
from dreamd.daemon import open_parts, state_folder
from dreamd.errors import ConfigError, DreamdError, told
from dreamd.events import (
    AGENTS_MISSING,
    CONFIG_REFUSED,
    CONFIG_RELOADED,
    DAEMON_READY,
    DAEMON_STARTED,
    DAEMON_STOPPED,
    DAEMON_STOPPING,
    FORGETTING_DELAYED,
    TASK_FAILED,
    WORKSPACE_MISSING,
)
from dreamd.hand.plan import LEFT
from dreamd.http.listening import Threshold, face
from dreamd.locks import DAEMON, exclusive
from dreamd.logs import emitter, on_change
from dreamd.night.pulse import Pulse
from dreamd.parts import Parts
from dreamd.sections import Gateway
from dreamd.tail.follower import follow

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0
FAILURES_IN_A_ROW = 6  # of one task, about a minute: then the watchdog goes hungry
READY_S = 10.0
LEAVE_S = 8.0  # a thread may be deep in a large file; systemd and people wait 10 s
CLOSE_S = 1.0  # for the gateway to end the calls that its `stop_s` did not let finish

Load = Callable[[], Config]
Signals = AsyncIterator[signal.Signals]


class Watch(Protocol):
    """`night.watch.watch`."""

    async def __call__(self, parts: Parts, *, pulse: Pulse) -> None: ...


class Dreams(Protocol):
    """`dream.watch.watch` and `recall.watch.watch`."""

    async def __call__(self, parts: Parts) -> None: ...


class Life(Protocol):
    """`gateway.serve.Life`."""

    parts: Parts
    changed: anyio.Event


class Serve(Protocol):
    """`gateway.serve.serve`."""

    async def __call__(self, life: Life) -> None: ...


class Attempt(Protocol):
    """`hand.forget.attempt`."""

    async def __call__(self, parts: Parts) -> str: ...


class Health(Struct):
    """What the watchdog asks about: tasks that failed and have not recovered, and a night watch that overslept."""

    pulse: Pulse
    failures: Counter[str] = field(default_factory=Counter)

    def well(self) -> bool:
        return not self.pulse.late() and max(self.failures.values(), default=0) < FAILURES_IN_A_ROW


class Door:
    """The gateway's place: it stays open from one configuration to the next, so that agents' calls go on."""

    def __init__(self, parts: Parts, failures: Counter[str]) -> None:
        self.parts = parts
        self.changed = anyio.Event()
        self._health = Health(Pulse(parts.clock), failures)
        self._open = anyio.CancelScope()

    def belongs_to(self, parts: Parts) -> None:
        self.parts = parts
        self.changed.set()
        self.changed = anyio.Event()

    async def kept(self) -> None:
        """Runs until `close`. Loads the gateway only where one is asked for."""
        with self._open:
            while not self.parts.config.gateway.listen:
                await self.changed.wait()
            serve = cast("Serve", await to_thread.run_sync(_plugins.load, "gateway", "serve", "serve"))
            await _kept("gateway", partial(serve, self), self.parts, self._health)

    def close(self) -> None:
        self._open.cancel()


async def serve(load: Load, clock: Clock | None = None) -> None:
    """Run until SIGTERM or SIGINT. Before it is ready it raises ConfigError, StateLocked, StoreError, WorkspaceError."""
    clock = clock or SystemClock()
    config = await to_thread.run_sync(lambda: _settled(load()))
    emit = emitter(config.logs)
    state = await to_thread.run_sync(state_folder, config)
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async with exclusive(state / DAEMON, clock, what="dreamd runs"):
            emit(DAEMON_STARTED, version=__version__, pid=os.getpid(), state=state)
            await _lives(config, clock, signals, load)
            emit(DAEMON_STOPPED)


async def _lives(config: Config | None, clock: Clock, signals: Signals, load: Load) -> None:
    failures: Counter[str] = Counter()
    door: Door | None = None
    async with _threshold() as threshold, anyio.create_task_group() as tasks:
        while config is not None:
            async with _opened(config, clock) as parts:
                if door is None:
                    door = Door(parts, failures)
                    tasks.start_soon(door.kept)
                door.belongs_to(parts)
                config = await _live(parts, door, threshold, Health(Pulse(clock), failures), signals, load)


@asynccontextmanager
async def _threshold() -> AsyncIterator[Threshold]:
    """Where the HTTP face listens, from one configuration to the next."""
    threshold = Threshold()
    try:
        yield threshold
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(threshold.close)


async def _live(
    parts: Parts, door: Door, threshold: Threshold, health: Health, signals: Signals, load: Load
) -> Config | None:
    """One life between two configurations: returns the next one, or None at the end."""
    ready = anyio.Event()
    await to_thread.run_sync(_warn, parts)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_kept, "forget", partial(_forgotten, parts), parts, health)
        tasks.start_soon(_kept, "follow", partial(follow, parts, ready), parts, health)
        tasks.start_soon(_kept, "night", partial(_nights, parts, health.pulse, ready), parts, health)
        tasks.start_soon(_kept, "dream", partial(_dreams, parts, ready), parts, health)
        tasks.start_soon(_kept, "recall", partial(_index, parts, ready), parts, health)
        facing = partial(face, parts, lambda: ready.is_set() and health.well(), threshold)
        tasks.start_soon(_kept, "http", facing, parts, health)
        tasks.start_soon(_announced, parts, ready)
        tasks.start_soon(_watchdog_fed, parts, health)
        config = await _next(parts, signals, load)
        if config is None:
            door.close()
            await to_thread.run_sync(threshold.close)
        tasks.cancel_scope.cancel()
    return config


def _warn(parts: Parts) -> None:
    """Of what a person has probably forgotten; it may still come."""
    if not parts.config.enabled:
        parts.emit(AGENTS_MISSING, hint="run `dreamd init`, or name one in the configuration")
    for name, agent in parts.config.enabled.items():
        if agent.root and not agent.root.is_dir():
            parts.emit(
                WORKSPACE_MISSING, agent=name, path=agent.workspace, hint="create it: no daily is written"
            )


async def _forgotten(parts: Parts) -> None:
    """What a crash or a command left half forgotten is finished, however long a file is out of reach; else nothing is loaded."""
    trouble = ""
    while True:
        if await to_thread.run_sync(parts.store.meta, LEFT):
            attempt = cast("Attempt", await to_thread.run_sync(_plugins.load, "hand", "forget", "attempt"))
            before, trouble = trouble, await attempt(parts)
            if trouble not in ("", before):
                parts.emit(FORGETTING_DELAYED, reason=trouble, again_in_s=LONGEST_PAUSE_S)
        await parts.clock.sleep(LONGEST_PAUSE_S)


async def _nights(parts: Parts, pulse: Pulse, ready: anyio.Event) -> None:
    """The night's watch, loaded once the daemon is ready: it takes as long to import as all else together."""
    with anyio.move_on_after(READY_S):  # logs that cannot be followed do not keep the nights from coming
        await ready.wait()
    watch = cast("Watch", await to_thread.run_sync(_plugins.load, "night", "watch", "watch"))
    await watch(parts, pulse=pulse)


async def _dreams(parts: Parts, ready: anyio.Event) -> None:
    """The watch over what calls for a dream, loaded once the daemon is ready, like the night's."""
    with anyio.move_on_after(READY_S):
        await ready.wait()
    watch = cast("Dreams", await to_thread.run_sync(_plugins.load, "dream", "watch", "watch"))
    if (
        parts.provider and parts.foreground
    ):  # the gate is loaded here, lest the first call does it in the event loop
        await to_thread.run_sync(parts.foreground)
    await watch(parts)


def _settled(config: Config) -> Config:
    """The same, once it is known that the gateway could be opened by it. Raises ConfigError."""
    if config.gateway.listen:
        cast("Callable[[Gateway], object]", _plugins.load("gateway", "settings", "settled"))(config.gateway)
    return config


async def _index(parts: Parts, ready: anyio.Event) -> None:
    """The watch over recall's index, loaded once the daemon is ready, like the night's."""
    with anyio.move_on_after(READY_S):
        await ready.wait()
    watch = cast("Dreams", await to_thread.run_sync(_plugins.load, "recall", "watch", "watch"))
    await watch(parts)


async def _next(parts: Parts, signals: Signals, load: Load) -> Config | None:
    """Wait for the signal that ends this life. A configuration that cannot be used is refused and this one kept."""
    async for received in signals:
        if received != signal.SIGHUP:
            break
        sdnotify.notify(sdnotify.reloading())
        try:
            config = await to_thread.run_sync(_usable, load, parts.state)
        except DreamdError as error:
            parts.emit(CONFIG_REFUSED, reason=str(error))
            sdnotify.notify(sdnotify.READY)
        else:
            parts.emit(CONFIG_RELOADED, agents=len(config.agents))
            return config
    parts.emit(DAEMON_STOPPING)
    sdnotify.notify(sdnotify.STOPPING)
    gateway = parts.config.gateway
    _leave_in(max(LEAVE_S, gateway.stop_s + CLOSE_S) if gateway.listen else LEAVE_S)
    return None


def _usable(load: Load, state: Path) -> Config:
    """The configuration as it stands now, tried out. Raises ConfigError, StoreError, WorkspaceError."""
    config = _settled(load())
    if state_folder(config) != state:
        raise ConfigError("state.dir cannot change while dreamd runs", hint="restart dreamd")
    with open_parts(config):
        return config


def _leave_in(seconds: float) -> None:
    """End the process then, whatever a worker thread is still at: it may be killed at any instant anyway."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()


@asynccontextmanager
async def _opened(config: Config, clock: Clock) -> AsyncIterator[Parts]:
    with ExitStack() as stack:
        opening = open_parts(config, emit=on_change(emitter(config.logs)), clock=clock)
        yield await to_thread.run_sync(stack.enter_context, opening)


async def _kept(name: str, task: Callable[[], Awaitable[None]], parts: Parts, health: Health) -> None:
    """Run a task for ever, and again when it fails."""
    while True:
        began = parts.clock.monotonic()
        try:
            await task()
        except Exception as error:  # noqa: BLE001 - the one place: a bug in one task must not end the other
            if parts.clock.monotonic() - began > LONGEST_PAUSE_S:
                health.failures[name] = 0
            pause = min(FIRST_PAUSE_S * 2 ** health.failures[name], LONGEST_PAUSE_S)
            health.failures[name] += 1
            parts.emit(TASK_FAILED, task=name, **told(error), again_in_s=pause)
            await parts.clock.sleep(pause)


async def _announced(parts: Parts, ready: anyio.Event) -> None:
    await ready.wait()
    agents = len(parts.config.enabled)
    parts.emit(DAEMON_READY, agents=agents)
    sdnotify.notify(sdnotify.READY, sdnotify.status(f"{agents} agents"))


async def _watchdog_fed(parts: Parts, health: Health) -> None:
    """From the event loop, after a real read of the store and a look at the tasks: a hung part must not look healthy."""
    every = sdnotify.watchdog_s()
    while every is not None:
        try:
            await to_thread.run_sync(parts.store.meta, "night.seed")
        except DreamdError:
            health.failures["store"] += 1
        else:
            health.failures["store"] = 0
        if health.well() and not health.failures["store"]:
            sdnotify.notify(sdnotify.WATCHDOG)
        await parts.clock.sleep(every)
