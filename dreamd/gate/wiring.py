"""The gate put together from a configuration; loaded when the first call is made, for a glance at the status makes none."""

import random
import uuid
from collections.abc import Callable
from typing import Protocol

from dreamd import config as configuration
from dreamd.clock import Clock
from dreamd.config import Config
from dreamd.errors import ConfigError
from dreamd.events import Emit
from dreamd.gate.attending import Attendant
from dreamd.gate.chain import Gated, linked
from dreamd.gate.lanes import Lanes, key_name, upstream_name
from dreamd.gate.leases import Leases
from dreamd.gate.turns import Turns
from dreamd.parts import Metered
from dreamd.providers.base import Provider
from dreamd.sections import Llm
from dreamd.stores.base import Store

_OWN_URLS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}


class Open(Protocol):
    """What OPEN is: the lanes, and what makes the chain of a job's calls from its name."""

    def __call__(
        self, config: Config, store: Store, clock: Clock, emit: Emit, provider: Callable[[], Provider]
    ) -> tuple[Lanes, Callable[[str], Metered]]: ...


def wired(
    config: Config, store: Store, clock: Clock, emit: Emit, provider: Callable[[], Provider]
) -> tuple[Lanes, Callable[[str], Metered]]:
    """As `Open`. The provider is made at the first call: httpx is slow to import."""
    lanes = _lanes(config, clock, emit)
    lane = lanes.lane(upstream_of(config.llm))
    leases = Leases(
        store,
        budget=config.budget,
        lease_s=config.gate.lease_s,
        clock=clock,
        new_id=_new_id,
        emit=emit,
    )
    attendant = Attendant(
        lane,
        store,
        turns=Turns(
            store,
            _beside(config, lane.name),
            timeout_s=config.dream.turn_timeout_s,
            patience_s=config.gate.patience_s,
            clock=clock,
        ),
        exhausted=lambda: leases.exhausted,
        long_wait_s=config.gate.long_wait_s,
        clock=clock,
        emit=emit,
    )
    gate = Gated(lane, attendant, leases)
    chain = linked(
        provider, gate=gate, llm=config.llm, store=store, clock=clock, emit=emit, draw=random.random
    )
    return lanes, chain


def _beside(config: Config, lane: str) -> set[str]:
    """The agents whose calls may go through the same lane as dreamd's own."""
    return {
        name
        for name, agent in config.enabled.items()
        if not agent.upstream or upstream_name(agent.upstream) == lane
    }


def upstream_of(llm: Llm) -> str:
    """The base URL that dreamd's own calls go to."""
    return llm.base_url or _OWN_URLS.get(llm.provider, f"http://{llm.provider}")


def _lanes(config: Config, clock: Clock, emit: Emit) -> Lanes:
    try:
        own_key = key_name(configuration.api_key(config.llm))
    except ConfigError:  # told by the first call that needs it
        own_key = ""
    return Lanes(config.gate, concurrency=config.llm.concurrency, clock=clock, emit=emit, own_key=own_key)


def _new_id() -> str:
    return uuid.uuid4().hex


OPEN: Open = wired
