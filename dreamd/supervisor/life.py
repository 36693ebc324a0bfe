"""The whole life of the daemon on one screen: one task group, and what ends, repeats or replaces it.

The daemon may be killed at any instant and nothing is lost; stopping in good order only saves the work under way.
"""

import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import cast

import anyio
from anyio import to_thread

from dreamd import __version__, _plugins, sdnotify
from dreamd.clock import Clock, SystemClock
from dreamd.config import Config
from dreamd.daemon import open_parts, state_folder
from dreamd.errors import ConfigError, DreamdError
from dreamd.events import (
    AGENTS_MISSING,
    CONFIG_REFUSED,
    CONFIG_RELOADED,
    DAEMON_READY,
    DAEMON_STARTED,
    DAEMON_STOPPED,
    DAEMON_STOPPING,
    WORKSPACE_MISSING,
)
from dreamd.http.listening import Threshold, face
from dreamd.locks import DAEMON, exclusive
from dreamd.logs import emitter, on_change
from dreamd.night.pulse import Pulse
from dreamd.parts import Parts
from dreamd.sections import Gateway
from dreamd.supervisor.health import Health, watchdog_fed
from dreamd.supervisor.kept import Failures, kept
from dreamd.supervisor.tasks import GatewayLife, forgotten, watching
from dreamd.tail.follower import follow

LEAVE_S = 8.0  # a thread may be deep in a large file; systemd and people wait 10 s
CLOSE_S = 1.0  # for the gateway to end the calls that its `stop_s` did not let finish

Load = Callable[[], Config]
Signals = AsyncIterator[signal.Signals]


async def serve(load: Load) -> None:
    """Run until SIGTERM or SIGINT. Before it is ready it raises ConfigError, StateLocked, StoreError, WorkspaceError."""
    clock = SystemClock()
    config = await to_thread.run_sync(lambda: _settled(load()))
    emit = emitter(config.logs)
    state = await to_thread.run_sync(state_folder, config)
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async with exclusive(state / DAEMON, clock, what="dreamd runs"):
            emit(DAEMON_STARTED, version=__version__, pid=os.getpid(), state=state)
            await _lives(config, clock, signals, load)
            emit(DAEMON_STOPPED)


async def _lives(config: Config | None, clock: Clock, signals: Signals, load: Load) -> None:
    failures = Failures()
    gateway: GatewayLife | None = None
    async with Threshold() as threshold, anyio.create_task_group() as tasks:
        while config is not None:
            async with _opened(config, clock) as parts:
                if gateway is None:
                    gateway = GatewayLife(parts, failures)
                    tasks.start_soon(gateway.kept)
                gateway.goes_on(parts)
                config = await _live(parts, gateway, threshold, Health(Pulse(clock), failures), signals, load)


async def _live(
    parts: Parts, gateway: GatewayLife, threshold: Threshold, health: Health, signals: Signals, load: Load
) -> Config | None:
    """One life between two configurations: returns the next one, or None at the end."""
    ready = anyio.Event()
    await to_thread.run_sync(_warn, parts)
    lasting = {
        "forget": partial(forgotten, parts),
        "follow": partial(follow, parts, ready),
        "night": partial(watching, "night", parts, ready, pulse=health.pulse),
        "dream": partial(watching, "dream", parts, ready),
        "recall": partial(watching, "recall", parts, ready),
        "http": partial(face, parts, lambda: ready.is_set() and health.well(), threshold),
    }
    async with anyio.create_task_group() as tasks:
        for name, task in lasting.items():
            tasks.start_soon(kept, name, task, parts, health.failures)
        tasks.start_soon(_announced, parts, ready)
        tasks.start_soon(watchdog_fed, parts, health)
        config = await _next(parts, signals, load)
        if config is None:
            gateway.close()
            await to_thread.run_sync(threshold.close)
        tasks.cancel_scope.cancel()
    return config


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


def _settled(config: Config) -> Config:
    """The same, once it is known that the gateway could be opened by it. Raises ConfigError."""
    if config.gateway.listen:
        cast("Callable[[Gateway], object]", _plugins.load("gateway", "settings", "settled"))(config.gateway)
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


def _warn(parts: Parts) -> None:
    """Of what a person has probably forgotten; it may still come."""
    if not parts.config.enabled:
        parts.emit(AGENTS_MISSING, hint="run `dreamd init`, or name one in the configuration")
    for name, agent in parts.config.enabled.items():
        if agent.root and not agent.root.is_dir():
            parts.emit(
                WORKSPACE_MISSING, agent=name, path=agent.workspace, hint="create it: no daily is written"
            )


async def _announced(parts: Parts, ready: anyio.Event) -> None:
    await ready.wait()
    agents = len(parts.config.enabled)
    parts.emit(DAEMON_READY, agents=agents)
    sdnotify.notify(sdnotify.READY, sdnotify.status(f"{agents} agents"))
