"""One night: a local date goes in, what its phases did for each agent comes out.

The date is fixed by the caller and travels through the whole job, past midnight too. What fails for one agent is
written into the ledger under that date, told, and stops nobody else.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import date, timedelta
from functools import partial

from anyio import from_thread, to_thread
from msgspec.structs import replace

from dreamd.daily.phase import summarise
from dreamd.deep_dream.phase import deep_dream
from dreamd.dream.phase import dream
from dreamd.errors import DreamdError
from dreamd.events import NIGHT_FINISHED, NIGHT_STARTED, PHASE_FAILED, RECORDS_ARCHIVED
from dreamd.locks import one_night
from dreamd.night.due import Known, Night, dreamers, lookback, turn, waiting
from dreamd.night.known import known
from dreamd.parts import Outcome, Parts
from dreamd.stores.base import Changes, LedgerRow, Phase, cost, row_of
from dreamd.tail.sync import sync

A_DREAM_S = 900.0  # how long a night waits for an agent's dream that is under way already


async def run_night(
    parts: Parts,
    day: date,
    *,
    agents: Sequence[str] | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> list[Outcome]:
    """The night of `day`: reads the logs to their end, then Phase 1 and Phase 2 for `agents`, who dream before Phase 2.

    None means every enabled agent with records of that day. Phase 2 takes its turns among the same agents. What is
    done already is left alone unless `force`. A dry run reads no logs and writes nothing. A phase that fails is an
    outcome with a failed row, no exception. Raises StateLocked when another process is in a night, StoreError, DiskFull.
    """
    if dry_run:
        return await _both_phases(parts, await _named(parts, day, agents), force=force, dry_run=True)
    async with one_night(parts.state, parts.clock):
        await read_logs(parts, agents)
        return await finish(parts, await _named(parts, day, agents), force=force)


async def read_logs(parts: Parts, agents: Sequence[str] | None = None) -> None:
    """Read the logs to their end, in a thread that a cancellation stops after the step it is at."""
    await to_thread.run_sync(sync, parts, agents, lambda _bytes: from_thread.check_cancelled())


async def finish(parts: Parts, night: Night, *, force: bool = False) -> list[Outcome]:
    """Run one night whose lock is held and whose logs are read, and tell its canonical line."""
    began = parts.clock.monotonic()
    parts.emit(NIGHT_STARTED, day=night.day, agents=len(night.agents), missed=len(night.missed))
    outcomes = await _both_phases(parts, night, force=force, dry_run=False)
    await _archive(parts, night.day)
    seconds = round(parts.clock.monotonic() - began, 3)
    parts.emit(NIGHT_FINISHED, day=night.day, **totals(outcomes), seconds=seconds)
    return outcomes


async def _archive(parts: Parts, day: date) -> None:
    """Move what raw records say to compressed files when they are old enough; it still reads as ever."""
    after = parts.config.archive.after_days
    if after:
        moved = await to_thread.run_sync(parts.store.archive, day - timedelta(days=after))
        if moved:
            parts.emit(RECORDS_ARCHIVED, day=day, records=moved)


def totals(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Phases by what became of them, and what their calls cost this time."""
    rows = [outcome.row for outcome in outcomes]
    counts = {
        state: sum(row.state == state for row in rows) for state in ("done", "skipped", "failed", "held")
    }
    return {
        "phases": len(rows),
        **counts,
        **cost([usage for outcome in outcomes for usage in outcome.spent]),
    }


async def _named(parts: Parts, day: date, agents: Sequence[str] | None) -> Night:
    """A night that a person asked for: it counts as begun, whatever the time."""
    sleepers = (await to_thread.run_sync(known, parts)).sleepers
    sharing = tuple(s.agent for s in sleepers) if agents is None else tuple(agents)
    active = tuple(s.agent for s in sleepers if any(w.window == day for w in s.windows))
    phase_1 = active if agents is None else sharing
    return Night(day=day, agents=phase_1, sharing=sharing, begun=sharing, asked=True)


async def _both_phases(parts: Parts, night: Night, *, force: bool, dry_run: bool) -> list[Outcome]:
    outcomes = []
    for agent in night.agents if parts.config.daily.enabled else ():
        daily = partial(summarise, parts, agent, night.day, force=force, dry_run=dry_run)
        outcomes.append(await _outcome(parts, _blank(agent, night.day, "daily"), daily, dry_run=dry_run))
    return outcomes + await _phase_2(parts, night, outcomes, force=force, dry_run=dry_run)


async def _phase_2(
    parts: Parts, night: Night, before: Sequence[Outcome], *, force: bool, dry_run: bool
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    while True:
        seen = await to_thread.run_sync(_seen, parts, night, [*before, *outcomes])
        tried = {outcome.row.agent for outcome in outcomes}
        next_ones = dreamers(night.day, seen, begun=set(night.begun) - tried, force=force)
        if not next_ones:
            standing = _standing(night, seen, tried)
            return [*outcomes, *standing, *_waiting(night, seen, tried | {one.row.agent for one in standing})]
        agent = next_ones[0]
        if parts.config.dream.enabled and not dry_run:
            outcomes.append(await _dreamt(parts, agent, night.day))
        days = lookback(agent, night.day, seen.rows, parts.config.deep_dream.lookback_days)
        rewrite = partial(
            deep_dream, parts, agent, night.day, lookback_days=days, force=force, dry_run=dry_run
        )
        outcomes.append(
            await _outcome(parts, _blank(agent, night.day, "deep_dream"), rewrite, dry_run=dry_run)
        )


async def _dreamt(parts: Parts, agent: str, day: date) -> Outcome:
    """The dream before a Deep Dream, which reads its long-term insights. When it fails the Deep Dream goes on without."""

    async def dreamt() -> Outcome:
        found = await dream(parts, agent, day=day, wait_s=A_DREAM_S)
        told = tuple(
            shift.told for shift in found.shifts if shift.before != shift.after and not shift.put_away
        )
        return Outcome(row=found.row, insights=told, refused=found.refused, spent=found.spent, new=found.new)

    return await _outcome(parts, _blank(agent, day, "dream"), dreamt, dry_run=False)


def _seen(parts: Parts, night: Night, outcomes: Sequence[Outcome]) -> Known:
    """What is known among those who share the turns, with this night's outcomes (of a dry run, too) laid over it."""
    all_known = known(parts, night.day)
    rows = {(row.agent, row.day, row.phase): row for row in all_known.rows if not _given_again(row, night)}
    rows |= {(o.row.agent, o.row.day, o.row.phase): o.row for o in outcomes}
    return replace(
        all_known,
        sleepers=[s for s in all_known.sleepers if s.agent in night.sharing],
        rows=[row for row in rows.values() if row.agent in night.sharing],
    )


def _given_again(row: LedgerRow, night: Night) -> bool:
    unfinished = row.phase == "deep_dream" and row.state in ("failed", "running")
    return night.asked and row.day == night.day and unfinished


def _standing(night: Night, seen: Known, tried: Collection[str]) -> list[Outcome]:
    """The Deep Dreams of this night that an earlier run did."""
    rows = (row for row in seen.rows if row.phase == "deep_dream" and row.day == night.day)
    return [
        Outcome(row=row, new=False) for row in rows if row.agent in night.begun and row.agent not in tried
    ]


def _waiting(night: Night, seen: Known, told: Collection[str]) -> list[Outcome]:
    """For who has news and no place in this night: a row that is not written, for nothing came of it."""
    return [
        Outcome(
            row=replace(_blank(agent, night.day, "deep_dream"), state="skipped", reason=turn(first)),
            new=False,
        )
        for agent, first in waiting(night.day, seen).items()
        if agent in night.begun and agent not in told
    ]


async def _outcome(
    parts: Parts, blank: LedgerRow, phase: Callable[[], Awaitable[Outcome]], *, dry_run: bool
) -> Outcome:
    try:
        return await phase()
    except DreamdError as error:
        row = await to_thread.run_sync(_failed, parts, blank, error, dry_run)
        parts.emit(
            PHASE_FAILED,
            agent=row.agent, day=row.day, phase=row.phase, attempts=row.attempts, error=type(error).__name__,
        )  # fmt: skip
        return Outcome(row=row)
    except Exception as bug:
        # Not handled here: the supervisor tells of it. The row only keeps it from stopping every other night.
        told = DreamdError(f"{type(bug).__name__}, a bug in dreamd", hint="its log says where (task.failed)")
        await to_thread.run_sync(_failed, parts, blank, told, dry_run)
        raise


def _blank(agent: str, day: date, phase: Phase) -> LedgerRow:
    return LedgerRow(agent=agent, day=day, phase=phase, state="running", attempts=0)


def _failed(parts: Parts, blank: LedgerRow, error: DreamdError, dry_run: bool) -> LedgerRow:
    """The row of a failure, written. Its attempts go on counting from a failure before it or from the running row."""
    before = row_of(parts.store, blank.agent, blank.phase, blank.day) or blank
    attempts = {"running": max(1, before.attempts), "failed": before.attempts + 1}.get(before.state, 1)
    now = parts.clock.now()
    row = replace(before, state="failed", attempts=attempts, reason=str(error), finished_at=now)
    if not dry_run:
        parts.store.write(Changes(ledger=(row,)))
    return row
