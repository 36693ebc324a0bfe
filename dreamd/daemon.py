"""The composition root: the only place where a store and a provider are chosen."""

import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from dreamd import _plugins
from dreamd import config as configuration
from dreamd.clock import Clock, SystemClock
from dreamd.config import Config
from dreamd.errors import ConfigError, WorkspaceError
from dreamd.events import Emit, silent
from dreamd.gate.attending import Attendant
from dreamd.gate.chain import Gated, linked
from dreamd.gate.lanes import Lanes, key_name, upstream_name
from dreamd.gate.leases import Leases
from dreamd.indexes.base import Index
from dreamd.parts import Meaning, Metered, Parts
from dreamd.providers.base import Provider
from dreamd.sections import Llm, Recall
from dreamd.stores.base import Store

_OWN_URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}


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
    lanes = _lanes(config, clock, emit)
    with ExitStack() as closing:
        closing.callback(opened.close)
        yield Parts(
            config=config,
            state=state,
            store=opened,
            clock=clock,
            emit=emit,
            provider=_chain(config, opened, clock, emit, lanes),
            foreground=lanes,
            index=_index(state, closing, lasting=store == "sqlite"),
            meaning=_meaning(config.recall),
        )


def _index(state: Path, closing: ExitStack, *, lasting: bool) -> Index:
    """Beside the store that it follows; of a store that forgets, in a folder that goes."""
    home = state if lasting else Path(closing.enter_context(TemporaryDirectory(prefix="dreamd-")))
    index = cast("Callable[[Path], Index]", _plugins.load("indexes", "sqlite", "OPEN"))(home)
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


def upstream_of(llm: Llm) -> str:
    """The base URL that dreamd's own calls go to."""
    return llm.base_url or _OWN_URLS.get(llm.provider, f"http://{llm.provider}")


def _lanes(config: Config, clock: Clock, emit: Emit) -> Lanes:
    try:
        own_key = key_name(configuration.api_key(config.llm))
    except ConfigError:  # told by the first call that needs it
        own_key = ""
    return Lanes(config.gate, concurrency=config.llm.concurrency, clock=clock, emit=emit, own_key=own_key)


def _chain(
    config: Config, store: Store, clock: Clock, emit: Emit, lanes: Lanes
) -> Callable[[str], Metered] | None:
    """What makes the chain of a job's calls; the provider is loaded at the first call: httpx is slow to import."""
    llm = config.llm
    if llm.provider == "none":
        return None
    gate = _gated(config, store, clock, emit, lanes)
    return linked(_opening(llm), gate=gate, llm=llm, store=store, clock=clock, emit=emit, draw=random.random)


def _gated(config: Config, store: Store, clock: Clock, emit: Emit, lanes: Lanes) -> Gated:
    lane = lanes.lane(upstream_of(config.llm))
    attendant = Attendant(
        lane,
        store,
        agents={
            name
            for name, agent in config.enabled.items()
            if not agent.upstream or upstream_name(agent.upstream) == lane.name
        },
        turn_timeout_s=config.dream.turn_timeout_s,
        long_wait_s=config.gate.long_wait_s,
        clock=clock,
        emit=emit,
    )
    leases = Leases(store, budget=config.budget, lease_s=config.gate.lease_s, clock=clock, new_id=_new_id)
    return Gated(lane, attendant, leases)


def _new_id() -> str:
    return uuid.uuid4().hex


def _opening(llm: Llm) -> Callable[[], Provider]:
    return lambda: cast("Callable[[Llm], Provider]", _plugins.load("providers", llm.provider, "OPEN"))(llm)
