"""The composition root: the only place where a store and a provider are chosen."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from dreamd import _plugins
from dreamd import config as configuration
from dreamd.clock import Clock, SystemClock
from dreamd.config import Config
from dreamd.errors import ConfigError, WorkspaceError
from dreamd.events import Emit, silent
from dreamd.gate.chain import linked
from dreamd.parts import Metered, Parts
from dreamd.providers.base import Provider
from dreamd.sections import Llm
from dreamd.stores.base import Store


@contextmanager
def open_parts(
    config: Config, *, emit: Emit = silent, clock: Clock | None = None, store: str = "sqlite"
) -> Iterator[Parts]:
    """All parts a verb needs; the store is closed on leaving.

    Raises ConfigError (unknown format, provider or store, key missing), StoreError, WorkspaceError (state folder).
    """
    _refuse_unknown(config)
    state = state_folder(config)
    opened = cast("Callable[[Path], Store]", _plugins.load("stores", store, "OPEN"))(state)
    clock = clock or SystemClock()
    try:
        yield Parts(
            config=config,
            state=state,
            store=opened,
            clock=clock,
            emit=emit,
            provider=_chain(config.llm, opened, clock, emit),
        )
    finally:
        opened.close()


def _refuse_unknown(config: Config) -> None:
    """By the plug-ins' file names: loading every format would take a glance at the status too long."""
    kinds = _plugins.names("formats")
    for agent_id, agent in config.agents.items():
        if agent.format and agent.format not in kinds:
            hint = configuration.nearest(agent.format, kinds)
            raise ConfigError(f"agents.{agent_id}.format: no format {agent.format!r}", hint=hint)
    providers = ["none", *_plugins.names("providers")]
    if config.llm.provider not in providers:
        hint = configuration.nearest(config.llm.provider, providers)
        raise ConfigError(f"llm.provider: no provider {config.llm.provider!r}", hint=hint)


def empty_store() -> Store:
    """A store that forgets: for reading something once."""
    return cast("Callable[[Path], Store]", _plugins.load("stores", "inmemory", "OPEN"))(Path())


def state_folder(config: Config) -> Path:
    """The folder that is dreamd's own, made if it is not there. Raises WorkspaceError."""
    state = configuration.state_dir(config)
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise WorkspaceError(
            f"cannot make the state folder {state}: {error.strerror}", hint="set state.dir"
        ) from error
    return state


def _chain(llm: Llm, store: Store, clock: Clock, emit: Emit) -> Callable[[str], Metered] | None:
    """What makes the chain of a job's calls; the provider is loaded at the first call: httpx is slow to import."""
    if llm.provider == "none":
        return None
    return linked(_opening(llm), llm=llm, store=store, clock=clock, emit=emit, draw=random.random)


def _opening(llm: Llm) -> Callable[[], Provider]:
    return lambda: cast("Callable[[Llm], Provider]", _plugins.load("providers", llm.provider, "OPEN"))(llm)
