"""The composition root: the only place where a store and a provider are chosen."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import cast

from dreamd import _plugins
from dreamd import config as configuration
from dreamd.clock import Clock, SystemClock
from dreamd.config import Config
from dreamd.errors import ConfigError, WorkspaceError
from dreamd.events import Emit, silent
from dreamd.gate.late import LateJob
from dreamd.indexes.base import Index
from dreamd.parts import Foreground, Meaning, Metered, Parts
from dreamd.providers.base import Provider
from dreamd.sections import Llm, Recall
from dreamd.stores.base import Store

Wired = Callable[
    [Config, Store, Clock, Emit, Callable[[], Provider]], tuple[Foreground, Callable[[str], Metered]]
]  # gate.wiring.OPEN


@contextmanager
def open_parts(
    config: Config,
    *,
    emit: Emit = silent,
    clock: Clock | None = None,
    store: str = "sqlite",
    recalls: bool = True,
) -> Iterator[Parts]:
    """All parts a verb needs; the store is closed on leaving. Without `recalls` there is neither index nor meaning.

    Raises ConfigError (unknown format, provider or store, key missing), StoreError, WorkspaceError (state folder).
    """
    _refuse_unknown(config)
    state = state_folder(config)
    opened = cast("Callable[[Path], Store]", _plugins.load("stores", store, "OPEN"))(state)
    clock = clock or SystemClock()
    foreground, provider = _gate(config, opened, clock, emit)
    with ExitStack() as closing:
        closing.callback(opened.close)
        yield Parts(
            config=config,
            state=state,
            store=opened,
            clock=clock,
            emit=emit,
            provider=provider,
            foreground=foreground,
            index=_index(state, closing, store) if recalls else None,
            meaning=_meaning(config.recall) if recalls else None,
        )


def _index(state: Path, closing: ExitStack, store: str) -> Index | None:
    """Beside the store that it follows; a store that forgets needs none."""
    if store != "sqlite":
        return None
    index = cast("Callable[[Path], Index]", _plugins.load("indexes", "sqlite", "OPEN"))(state)
    closing.callback(index.close)
    return index


def _meaning(recall: Recall) -> Meaning | None:
    """The server is asked when somebody recalls: httpx is slow to import."""
    if not recall.embeddings_url:
        return None
    return cast("Callable[[Recall], Meaning]", _plugins.load("recall", "meaning", "OPEN"))(recall)


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


def _gate(
    config: Config, store: Store, clock: Clock, emit: Emit
) -> tuple[Callable[[], Foreground], Callable[[str], Metered] | None]:
    """What agents' calls are announced to, and what makes the chain of a job's calls. Both are made when first asked for."""
    llm, one_at_a_time = config.llm, threading.Lock()

    @cache
    def made() -> tuple[Foreground, Callable[[str], Metered]]:
        return cast("Wired", _plugins.load("gate", "wiring", "OPEN"))(config, store, clock, emit, opening)

    def opening() -> Provider:
        return cast("Callable[[Llm], Provider]", _plugins.load("providers", llm.provider, "OPEN"))(llm)

    def wired() -> tuple[Foreground, Callable[[str], Metered]]:
        with one_at_a_time:  # two gates would let in twice as many
            return made()

    def foreground() -> Foreground:
        return wired()[0]

    def provider(job: str) -> Metered:
        return LateJob(lambda: wired()[1](job))

    return foreground, None if llm.provider == "none" else provider
