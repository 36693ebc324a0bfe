"""How things stand: the parts go in, what a person wants to know comes out. Reads only, and quickly.

Loads nothing that a daemon needs and a glance does not (a test holds it to that).
"""

import os
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from dreamd.clock import local_date
from dreamd.config import Agent
from dreamd.locks import DAEMON, NIGHT, Holder, holder
from dreamd.night.due import Known, Sleeper
from dreamd.night.known import known
from dreamd.parts import Parts
from dreamd.stores.base import Cursor, LedgerRow


class Backlog(Struct, frozen=True):
    """Records that are in no daily yet: how many, of which days."""

    records: int
    days: tuple[date, ...]


class AgentStatus(Struct, frozen=True, kw_only=True):
    """`last_night` holds the newest ledger row of each phase; `next_night` is local time with its offset."""

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
    backlog: Backlog
    held: int


class Status(Struct, frozen=True, kw_only=True):
    """`daemon` and `night` are who runs one now. `wrong` are sentences that say what to do."""

    daemon: Holder | None
    night: Holder | None
    state: str
    llm: str
    agents: tuple[AgentStatus, ...]
    wrong: tuple[str, ...]


def status(parts: Parts) -> Status:
    seen = known(parts)
    cursors = parts.store.cursors()
    waiting = [held.agent for held in parts.store.held() if held.state == "waiting"]
    agents = tuple(
        _agent(name, agent, seen, [c for c in cursors if c.agent == name], waiting.count(name))
        for name, agent in parts.config.agents.items()
    )
    return Status(
        daemon=holder(parts.state / DAEMON),
        night=holder(parts.state / NIGHT),
        state=str(parts.state),
        llm=parts.config.llm.provider,
        agents=agents,
        wrong=tuple(_wrong(parts, seen, agents)),
    )


def _agent(name: str, agent: Agent, seen: Known, cursors: Sequence[Cursor], held: int) -> AgentStatus:
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
        last_night=tuple(_newest(seen.rows, name)),
        next_night=_next_night(seen, sleeper) if sleeper else None,
        backlog=Backlog(
            sum(window.unfiled for window in unfiled), tuple(window.window for window in unfiled)
        ),
        held=held,
    )


def _newest(rows: Sequence[LedgerRow], agent: str) -> Iterator[LedgerRow]:
    for phase in ("daily", "deep_dream"):
        of_phase = [row for row in rows if row.agent == agent and row.phase == phase]
        if of_phase:
            yield max(of_phase, key=lambda row: row.day)


def _next_night(seen: Known, sleeper: Sleeper) -> datetime:
    return seen.schedule.next(seen.now, sleeper.zone).astimezone(sleeper.zone).replace(microsecond=0)


def _wrong(parts: Parts, seen: Known, agents: Sequence[AgentStatus]) -> Iterator[str]:
    if not agents:
        yield "no agent is configured; run `dreamd init` to find those on this machine"
    yield from _failures(seen)
    for one in agents:
        yield from _log_trouble(parts, one.agent)
    for name, agent in parts.config.agents.items():
        if agent.enabled and agent.workspace and not _writable(Path(agent.workspace).expanduser()):
            yield f"{name}: the workspace {agent.workspace} is missing or not writable; run `dreamd check`"
    for one in agents:
        if one.held:
            yield f"{one.agent}: {one.held} rewrite(s) of its memory file wait for review; see `dreamd held`"
    for sleeper in seen.sleepers:
        yield from _stranded(seen, sleeper)


def _failures(seen: Known) -> Iterator[str]:
    for row in seen.rows:
        where = f"{row.agent}: {row.phase.replace('_', ' ')} of {row.day}"
        if row.state == "failed":
            given_up = row.attempts >= seen.schedule.max_attempts
            what_next = (
                f"given up; run `dreamd night --agent {row.agent} --date {row.day}`"
                if given_up
                else "it is tried again"
            )
            yield f"{where} failed ({row.attempts} of {seen.schedule.max_attempts}): {row.reason}; {what_next}"


class _Condition(Struct, frozen=True):
    """What the tail keeps of an agent's logs (`tail/sync.py`, whose own words take too long to load)."""

    unreadable: dict[str, str] = {}
    not_understood: list[str] = []


def _log_trouble(parts: Parts, agent: str) -> Iterator[str]:
    kept = parts.store.meta(f"tail:{agent}")
    now = msgspec.json.decode(kept, type=_Condition) if kept else _Condition()
    for path, reason in now.unreadable.items():
        yield f"{agent}: cannot read {path}: {reason}; it is tried again"
    for path in now.not_understood:
        yield f"{agent}: {path} grew and nothing was understood; run `dreamd check`"


def _writable(workspace: Path) -> bool:
    return workspace.is_dir() and os.access(workspace, os.W_OK)


def _stranded(seen: Known, sleeper: Sleeper) -> Iterator[str]:
    """Days with unfiled records that no night will catch up any more."""
    oldest = local_date(seen.now, sleeper.zone) - timedelta(days=seen.schedule.catch_up_days)
    days = [window.window for window in sleeper.windows if window.unfiled and window.window < oldest]
    if days:
        yield (
            f"{sleeper.agent}: {len(days)} day(s) before {oldest} are in no daily; "
            f"run `dreamd night --agent {sleeper.agent} --date {days[-1]}` for those you want"
        )
