"""What a verb is given: the parts that the composition root chose, and the shape in which a phase reports."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from dreamd.clock import Clock
from dreamd.config import Config
from dreamd.events import Emit
from dreamd.indexes.base import Index
from dreamd.providers.base import Provider
from dreamd.sections import Budget
from dreamd.stores.base import LedgerRow, Store, Usage

NO_LLM = "no LLM is configured"  # why a phase goes by its rule, in its row of the ledger
LONGEST_SHORTAGE = timedelta(hours=25)  # a local day; what lasts longer was written by a clock that was wrong


class Metered(Provider, Protocol):
    """The provider of one job."""

    def usage(self) -> tuple[Usage, ...]:
        """What the job's calls have cost so far."""


class ForegroundCall(Protocol):
    """An agent's call under way. Each of these costs microseconds and never raises."""

    def answered(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """The upstream's head is in: names in lower case, values as they came."""

    def first_byte(self) -> None:
        """The first byte of the answer's body is in."""

    def done(self) -> None:
        """The call ended, however it did; a second time changes nothing."""


class Foreground(Protocol):
    """Where agents' own calls are announced. They never wait."""

    def arrive(self, upstream: str, prompt_bytes: int = 0, key: str = "") -> ForegroundCall:
        """A call to that base URL begins now; dream calls make way.

        `key` is the `gate.lanes.key_name` of its API key, "" when it has none or nobody looked: then its quota counts
        as dreamd's own.
        """

    def busy(self) -> bool:
        """Whether such a call is under way. May be asked from any thread."""


class Meaning(Protocol):
    """A server of embeddings."""

    model: str

    async def of(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector of each text, in order. Raises ProviderError and its kinds."""


class Shortage(Struct, frozen=True):
    """What of an agent's own budget is used up, in words, and until when; kept in the store for whoever has to know.

    `limits` are those of that moment; `told` is the day on which it was last told as an event.
    """

    words: str
    until: datetime
    limits: tuple[int, int]
    told: date


def shortage_key(agent: str) -> str:
    return f"shortage:{agent}"


def limits_of(budget: Budget) -> tuple[int, int]:
    return budget.agent_tokens_per_day, budget.agent_calls_per_hour


def last_shortage(store: Store, agent: str) -> Shortage | None:
    """However long ago. Raises StoreError."""
    kept = store.meta(shortage_key(agent))
    try:
        return msgspec.json.decode(kept, type=Shortage) if kept else None
    except msgspec.DecodeError:  # of another version of dreamd
        return None


class Parts(Struct, frozen=True, kw_only=True):
    """Chosen once by `daemon.py`. `state` is dreamd's own folder.

    `provider` makes the whole chain of one job (journal, retry, gate, provider) from the job's name; None when no LLM
    is configured. `index` is what recall looks in, `meaning` what it may ask for likeness of meaning, if anything.
    """

    config: Config
    state: Path
    store: Store
    clock: Clock
    emit: Emit
    provider: Callable[[str], Metered] | None = None
    foreground: Callable[[], Foreground] | None = None
    index: Index | None = None
    meaning: Meaning | None = None

    def shortage(self, agent: str) -> Shortage | None:
        """What of the agent's budget is used up now, so that a call of its would be refused. Blocking. Raises StoreError."""
        if self.provider is None:
            return None
        last = last_shortage(self.store, agent)
        same = last is not None and last.limits == limits_of(self.config.budget)
        now = self.clock.now()
        return last if last and same and now < last.until <= now + LONGEST_SHORTAGE else None

    def busy(self) -> Callable[[], bool]:
        """What tells whether an agent's call passes the gateway now. Without a gateway nothing is loaded for it; else blocks."""
        if self.foreground is None or not self.config.gateway.listen:
            return lambda: False
        return self.foreground().busy


class Outcome(Struct, frozen=True, kw_only=True):
    """What one phase of one agent and date did, or (dry run) would do.

    `row` is the ledger row as written (a dry run writes none). `files` are what was or would be written; `diff` is
    the unified diff over them. `refused` are reasons of the audit, for people, without log text. `retired` counts the
    entries of MEMORY.md that were retired. `spent` is what the calls of this run cost; the row's usage is what all runs
    of the agent, date and phase have cost together. `insights` are those that a dream found or that stand otherwise
    since, one line each.
    """

    row: LedgerRow
    files: tuple[Path, ...] = ()
    diff: str = ""
    insights: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    spent: tuple[Usage, ...] = ()
    retired: int = 0
    new: bool = True  # False: nothing ran; the row stood in the ledger already, or the agent waits its turn
