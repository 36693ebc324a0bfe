"""When a dream is due: what came and who is at work go in, who dreams next comes out (pure).

Law: no dream while that agent's turn is under way, none without something new, and whoever waits longest is next. The
night is no trigger here: it dreams by itself, before its Deep Dream.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from dreamd.memories import Memory
from dreamd.sections import Dream
from dreamd.stores.base import TurnState

Trigger = Literal["task", "checkpoint", "pool", "idle"]


class Tally(Struct, frozen=True, kw_only=True):
    """What came of one agent since its last dream: raw memories, by task.

    `sessions` says when something last happened in each, by the log's own clock where it has one and it is not ahead;
    `newest` is when dreamd stored the latest of them.
    """

    fresh: int = 0
    steps: Mapping[str, int] = {}
    sessions: Mapping[str, datetime] = {}
    newest: datetime | None = None


class Waiting(Struct, frozen=True):
    """A dream that is due: who, why, and since when."""

    agent: str
    trigger: Trigger
    since: datetime


class Step(Struct, frozen=True):
    """`ready` dreams may begin now, in this order; `waiting` are all that are due, those among them."""

    ready: tuple[Waiting, ...] = ()
    waiting: tuple[Waiting, ...] = ()


def tallied(tallies: Mapping[str, Tally], memories: Iterable[Memory]) -> dict[str, Tally]:
    """By agent, with these raw memories counted too."""
    came: dict[str, list[Memory]] = {}
    for memory in memories:
        came.setdefault(memory.agent, []).append(memory)
    return {**tallies, **{agent: _with(tallies.get(agent, Tally()), more) for agent, more in came.items()}}


def _with(tally: Tally, memories: Sequence[Memory]) -> Tally:
    steps = Counter(tally.steps)
    steps.update(memory.task_id or memory.session_id for memory in memories)
    newest = max(memory.received_at for memory in memories)
    return Tally(
        fresh=tally.fresh + len(memories),
        steps=steps,
        sessions=_heard(tally.sessions, memories),
        newest=max(tally.newest or newest, newest),
    )


def _heard(sessions: Mapping[str, datetime], memories: Sequence[Memory]) -> Mapping[str, datetime]:
    heard = dict(sessions)
    for one in memories:
        at = min(one.timestamp or one.received_at, one.received_at)
        heard[one.session_id] = max(heard.get(one.session_id, at), at)
    return heard


def due(
    now: datetime,
    tallies: Mapping[str, Tally],
    turns: Iterable[TurnState],
    waiting: Iterable[Waiting],
    settings: Dream,
) -> Step:
    """Who is due, given who was (`waiting`): once due, a dream waits for quiet and for the end of the turn."""
    known = {one.agent: one for one in waiting}
    of_agent: dict[str, list[TurnState]] = {agent: [] for agent in tallies}
    for turn in turns:
        of_agent.setdefault(turn.agent, []).append(turn)
    found = [
        known.get(agent) or Waiting(agent, trigger, now)
        for agent, tally in tallies.items()
        if tally.fresh and (trigger := triggered(now, tally, of_agent[agent], settings) or _was(known, agent))
    ]
    queue = tuple(sorted(found, key=lambda one: (one.since, one.agent)))
    ready = tuple(
        one
        for one in queue
        if _quiet(now, one, tallies[one.agent], settings)
        and not busy(now, tallies[one.agent], of_agent[one.agent], settings)
    )
    return Step(ready, queue)


def _was(known: Mapping[str, Waiting], agent: str) -> Trigger | None:
    return known[agent].trigger if agent in known else None


def triggered(now: datetime, tally: Tally, turns: Iterable[TurnState], settings: Dream) -> Trigger | None:
    """Why the agent should dream, the strongest reason first; None when nothing calls for it."""
    if not tally.fresh or tally.newest is None:
        return None
    if tally.fresh >= settings.pool_threshold:
        return "pool"
    if any(not turn.busy and turn.session_id in tally.sessions for turn in turns):
        return "task"
    if max(tally.steps.values()) >= settings.checkpoint_steps:
        return "checkpoint"
    return "idle" if now - tally.newest >= timedelta(seconds=settings.idle_s) else None


def busy(now: datetime, tally: Tally, turns: Iterable[TurnState], settings: Dream) -> bool:
    """Whether a turn of the agent is under way: one that began and in whose session something happened not too long ago.

    A turn that was broken off never ends; what comes in other sessions, or late, must not keep it alive. Nor must a
    clock that was wrong: what began in the future began nobody knows when.
    """
    timeout = timedelta(seconds=settings.turn_timeout_s)
    return any(
        turn.busy and now - timeout < at < now + timeout
        for turn in turns
        for at in (turn.at, tally.sessions.get(turn.session_id))
        if at is not None
    )


def _quiet(now: datetime, one: Waiting, tally: Tally, settings: Dream) -> bool:
    """Nothing came for a while; or so much came for so long that waiting for quiet would be waiting for ever."""
    heard = now - max(one.since, tally.newest or one.since)
    patience = timedelta(seconds=max(settings.idle_s, settings.debounce_s))
    return heard >= timedelta(seconds=settings.debounce_s) or now - one.since >= patience
