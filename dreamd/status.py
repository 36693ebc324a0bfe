"""How things stand: the parts go in, what a person wants to know comes out. Reads only, and quickly.

Loads nothing that a daemon needs and a glance does not (a test holds it to that).
"""

import os
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct

from dreamd.clock import local_date, to_the_minute
from dreamd.gate.budget import HOUR, Use, day_began, uses
from dreamd.gate.passing import GatewayShown
from dreamd.gate.passing import published as gateway_published
from dreamd.gate.shown import LaneShown, published
from dreamd.locks import DAEMON, NIGHT, Holder, dream_lock, holder
from dreamd.memories import Status as MemoryStatus
from dreamd.night.due import FARTHEST_LOOKBACK, Known, Sleeper, is_left, queue
from dreamd.night.known import known
from dreamd.parts import Parts
from dreamd.places import free
from dreamd.stores.base import Cursor, LedgerRow, MemoryQuery
from dreamd.tail.condition import condition

_MOST_FAILURES, _MOST_DAYS = 20, 7
_A_MOMENT = timedelta(minutes=1)
LITTLE = 1 << 20  # bytes


class Backlog(Struct, frozen=True):
    """Records that are in no daily yet: how many, of which days."""

    records: int
    days: tuple[date, ...]


class AgentStatus(Struct, frozen=True, kw_only=True):
    """`last_night` holds the newest ledger row of each phase; `next_night` is local time with its offset.

    `dreaming` is who dreams of this agent right now; `long_term` and `candidates` count its insights.

    `dreams_after` are those who have their Deep Dream in a night before it, () when the next night is its own; None
    when it has nothing to dream of.
    """

    agent: str
    enabled: bool
    formats: tuple[str, ...]
    logs: int
    records: int
    last_read: datetime | None
    workspace: str
    zone: str
    last_night: tuple[LedgerRow, ...]
    next_night: datetime | None
    dreams_after: tuple[str, ...] | None
    backlog: Backlog
    held: int
    dreaming: Holder | None = None
    long_term: int = 0
    candidates: int = 0


class Status(Struct, frozen=True, kw_only=True):
    """`daemon` and `night` are who runs one now. `wrong` are sentences that say what to do.

    `use` is what dreamd's own calls took, of all agents and then of each; `calls` are in flight, of all processes.
    `gate` is the lane of these calls as the process that last used it saw it.
    `gateway` is what the daemon's gateway has carried so far, a few seconds old.
    """

    daemon: Holder | None
    night: Holder | None
    state: str
    llm: str
    agents: tuple[AgentStatus, ...]
    wrong: tuple[str, ...]
    use: tuple[Use, ...] = ()
    calls: int = 0
    gate: LaneShown | None = None
    gateway: GatewayShown | None = None


def status(parts: Parts) -> Status:
    seen, daemon = known(parts), holder(parts.state / DAEMON)
    cursors = parts.store.cursors()
    waiting = [held.agent for held in parts.store.held() if held.state == "waiting"]
    agents = tuple(
        _agent(parts, name, seen, [c for c in cursors if c.agent == name], waiting.count(name))
        for name in parts.config.agents
    )
    return Status(
        daemon=daemon,
        night=holder(parts.state / NIGHT),
        state=str(parts.state),
        llm=parts.config.llm.provider,
        agents=agents,
        wrong=tuple(_wrong(parts, seen, agents)),
        use=_use(parts, seen.now),
        calls=sum(slot.is_held(seen.now) for slot in parts.store.slots()),
        gate=published(parts.store),
        gateway=gateway_published(parts.store, daemon.pid) if daemon else None,
    )


def _use(parts: Parts, now: datetime) -> tuple[Use, ...]:
    hour, day = parts.store.spent(now - HOUR), parts.store.spent(day_began(now))
    return uses(parts.config.budget, parts.config.llm, hour=hour, day=day, agents=tuple(parts.config.enabled))


def _agent(parts: Parts, name: str, seen: Known, cursors: Sequence[Cursor], held: int) -> AgentStatus:
    agent = parts.config.agents[name]
    sleeper = next((s for s in seen.sleepers if s.agent == name), None)
    unfiled = [window for window in sleeper.windows if window.unfiled] if sleeper else []
    return AgentStatus(
        agent=name,
        enabled=agent.enabled,
        formats=tuple(sorted({cursor.format for cursor in cursors})) or (agent.format or "not known yet",),
        logs=len(cursors),
        records=sum(cursor.records for cursor in cursors),
        last_read=max((cursor.read_at for cursor in cursors if cursor.read_at), default=None),
        workspace=agent.workspace,
        zone=sleeper.zone.key if sleeper else agent.zone,
        last_night=tuple(_newest(parts, seen, name)),
        next_night=_next_night(seen, sleeper) if sleeper else None,
        dreams_after=_before(seen, name),
        backlog=Backlog(
            sum(window.unfiled for window in unfiled), tuple(window.window for window in unfiled)
        ),
        held=held,
        dreaming=holder(parts.state / dream_lock(name)),
        long_term=_insights(parts, name, "long_term"),
        candidates=_insights(parts, name, "candidate"),
    )


def _insights(parts: Parts, agent: str, standing: MemoryStatus) -> int:
    query = MemoryQuery(agent=agent, types=("insight",), statuses=(standing,))
    return sum(1 for _ in parts.store.memories(query))


def _newest(parts: Parts, seen: Known, agent: str) -> Iterator[LedgerRow]:
    rows = [row for row in seen.rows if row.agent == agent] or parts.store.ledger(agent)
    for phase in ("daily", "dream", "deep_dream"):
        of_phase = [row for row in rows if row.phase == phase]
        if of_phase:
            yield max(of_phase, key=lambda row: row.day)


def _next_night(seen: Known, sleeper: Sleeper) -> datetime:
    return seen.schedule.next(seen.now, sleeper.zone).astimezone(sleeper.zone).replace(microsecond=0)


def _before(seen: Known, agent: str) -> tuple[str, ...] | None:
    today = max((local_date(seen.now, s.zone) for s in seen.sleepers), default=seen.now.date())
    hungry = queue(today, seen) if seen.candidates else []
    if agent not in hungry:
        return None
    place = hungry.index(agent)
    return tuple(hungry[:place]) if place >= seen.candidates else ()


def _wrong(parts: Parts, seen: Known, agents: Sequence[AgentStatus]) -> Iterator[str]:
    yield from _amiss(parts.state, agents)
    yield from _failures(parts, seen)
    for one in agents:
        yield from _log_trouble(parts, one.agent)
        yield from _parked(parts, one.agent)
    yield from _exhausted(parts, seen.now)
    for name, agent in parts.config.enabled.items():
        if agent.root and not _writable(agent.root):
            yield f"{name}: the workspace {agent.workspace} is missing or not writable; run `dreamd check`"
    for one in agents:
        if one.held:
            yield f"{one.agent}: rewrites of its memory file that wait for review: {one.held}; see `dreamd held`"
    for sleeper in seen.sleepers:
        yield from _stranded(seen, sleeper)


def _amiss(state: Path, agents: Sequence[AgentStatus]) -> Iterator[str]:
    if not agents:
        yield "no agent is configured; run `dreamd init` to find those on this machine"
    if free(state) < LITTLE:
        yield f"no space left on {state}: nothing is read and no night runs; free some"


def _exhausted(parts: Parts, now: datetime) -> Iterator[str]:
    """What waits for the budget now; the process in which it waits says so every few seconds."""
    for agent in parts.config.enabled:
        if lack := parts.shortage(agent):
            until = to_the_minute(lack.until)
            yield f"{agent}: {lack.words}; its dreams and nights wait until {until}, or raise it in [budget]"
    gate = published(parts.store)
    if gate and gate.waiting and gate.why == "budget" and abs(now - gate.at) < _A_MOMENT:
        yield f"{gate.waiting} call(s) of dreamd wait for the budget to be free again; or raise it in [budget]"


def _failures(parts: Parts, seen: Known) -> Iterator[str]:
    """The newest phases that failed, however long ago, unless a later Deep Dream has read what one missed."""
    agents = {sleeper.agent for sleeper in seen.sleepers}
    failed = (row for row in parts.store.ledger(state="failed") if row.agent in agents)
    for row in islice((row for row in failed if not _made_good(parts, row)), _MOST_FAILURES):
        where = f"{row.agent}: {row.phase_name} of {row.day}"
        tried = f"{row.attempts} of {seen.schedule.max_attempts}"
        reason = row.reason.removesuffix("; it is tried again")
        yield f"{where} failed ({tried}): {reason}; {_what_next(row, seen)}"


def _made_good(parts: Parts, row: LedgerRow) -> bool:
    """A later Deep Dream has read what this one missed, a later dream all that waited."""
    if row.phase == "dream":
        return any(one.state == "done" for one in parts.store.ledger(row.agent, "dream", since=row.day))
    later = parts.store.ledger(row.agent, row.phase, since=row.day) if row.phase == "deep_dream" else []
    return any(
        0 < (one.day - row.day).days < FARTHEST_LOOKBACK and one.state in ("done", "held") for one in later
    )


def _what_next(row: LedgerRow, seen: Known) -> str:
    if row.phase == "dream":
        return f"the next dream tries again; or run `dreamd dream --agent {row.agent}`"
    if is_left(row, seen):
        return "it is tried again"
    given_up = row.attempts >= seen.schedule.max_attempts
    why = "given up" if given_up else "too long ago to be tried again"
    return f"{why}; run `dreamd night --agent {row.agent} --date {row.day}`"


def _log_trouble(parts: Parts, agent: str) -> Iterator[str]:
    now = condition(parts, agent)
    for path, reason in now.unreadable.items():
        yield f"{agent}: cannot read {path}: {reason}; it is tried again"
    for path in now.not_understood:
        yield f"{agent}: {path} grew and nothing was understood; run `dreamd check`"


class _Group(Struct, frozen=True):
    reason: str


class _Unfinished(Struct, frozen=True):
    """What a dream keeps for the next one (`dream/phase.py`)."""

    parked: list[_Group] = []


def _parked(parts: Parts, agent: str) -> Iterator[str]:
    kept = parts.store.meta(f"dream:{agent}")
    groups = msgspec.json.decode(kept, type=_Unfinished).parked if kept else []
    if groups:
        yield f"{agent}: groups of records that wait for the next dream: {len(groups)}; {groups[0].reason}"


def _writable(workspace: Path) -> bool:
    return workspace.is_dir() and os.access(workspace, os.W_OK)


def _stranded(seen: Known, sleeper: Sleeper) -> Iterator[str]:
    """Days with unfiled records that no night will catch up any more."""
    oldest = local_date(seen.now, sleeper.zone) - timedelta(days=seen.schedule.catch_up_days)
    days = [window.window for window in sleeper.windows if window.unfiled and window.window < oldest]
    if days:
        yield (
            f"{sleeper.agent}: days before {oldest} that are in no daily: {listed(days)}; "
            f"run `dreamd night --agent {sleeper.agent} --date D` for each you want"
        )


def listed(days: Sequence[date]) -> str:
    """All days, or the newest of many and how many more there are."""
    shown = ", ".join(map(str, days[-_MOST_DAYS:]))
    return shown if len(days) <= _MOST_DAYS else f"{shown} and {len(days) - _MOST_DAYS} before"
