"""The turns that dreamd's calls wait for: rows of the store and the logs' last changes in, turns that count out."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from dreamd.clock import Clock
from dreamd.gate.quiet import is_given_up, under_way
from dreamd.stores.base import Store, TurnState

_LIKE_ITS_LOG = ("", "-wal")  # where a database's newest rows are


class Underway(Struct, frozen=True):
    """A turn that counts. `heard` is when its log last grew, as far as that was looked at."""

    agent: str
    began: datetime
    heard: datetime


class Turns:
    """Those of `agents`. Blocking, for one thread at a time; remembers which were taken for dead."""

    def __init__(
        self, store: Store, agents: Collection[str], *, timeout_s: float, patience_s: float, clock: Clock
    ) -> None:
        self._store = store
        self._agents = agents
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._clock = clock
        self._logs: dict[TurnState, tuple[str, ...]] = {}
        self._dead: set[TurnState] = set()

    def that_count(self, waited_s: float) -> tuple[Underway, ...]:
        """Now that a call has waited so long; the oldest first. Raises StoreError."""
        now = self._clock.now()
        alive = under_way(self._store.turns(), self._agents, now, self._timeout_s)
        self._dead &= set(alive)
        self._logs = {turn: logs for turn, logs in self._logs.items() if turn in alive}
        seen = [one for turn in alive if (one := self._seen(turn, now, waited_s)) is not None]
        return tuple(sorted(seen, key=lambda one: one.began))

    def _seen(self, turn: TurnState, now: datetime, waited_s: float) -> Underway | None:
        heard = began = turn.at or now
        if (now - began).total_seconds() >= self._patience_s:  # else nothing depends on it
            heard = max([began, *changes(self._logs_of(turn))])
        silent_s, dead = (now - heard).total_seconds(), turn in self._dead
        if is_given_up(silent_s, waited_s, self._patience_s, before=dead):
            self._dead.add(turn)
            return None
        self._dead.discard(turn)
        return Underway(turn.agent, began, heard)

    def _logs_of(self, turn: TurnState) -> tuple[str, ...]:
        """Those named after its session, or all that its agent has."""
        if turn not in self._logs:
            paths = tuple(cursor.path for cursor in self._store.cursors(turn.agent))
            self._logs[turn] = tuple(path for path in paths if turn.session_id in path) or paths
        return self._logs[turn]


def changes(logs: Iterable[str]) -> list[datetime]:
    """When each was last written; what is gone tells nothing."""
    found: list[datetime] = []
    for path in logs:
        for beside in _LIKE_ITS_LOG:
            with suppress(OSError):
                found.append(datetime.fromtimestamp(Path(path + beside).stat().st_mtime, UTC))
    return found
