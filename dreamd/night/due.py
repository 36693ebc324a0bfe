"""Which nights are due: the time, the ledger and the pool's days go in, nights come out, oldest first (pure).

Law: a phase of one agent and local date is done once, whatever the clock does. What was done stands in the ledger
under that date; nothing here counts hours, matches wall times or remembers when it was last asked.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from msgspec import Struct

from dreamd.clock import local_date, night_moment
from dreamd.records import Origin
from dreamd.stores.base import LedgerRow, WindowCount

NOON = time(12)
LATE = timedelta(minutes=10)  # a bell may ring late; beyond this the night was missed
BACK_OFF = timedelta(minutes=10)  # after a phase's first failure; three times as long after each further one
LONGEST_BACK_OFF = timedelta(hours=6)
FARTHEST_LOOKBACK = 31  # days that one Deep Dream may have to cover when many agents take turns
REMEMBERED = timedelta(days=62)  # how far back the ledger is asked who dreamt last
LIVED: tuple[Origin, ...] = ("human", "injected")  # whose records make a day worth a daily


class Schedule(Struct, frozen=True, kw_only=True):
    """When nights begin (config `[night]`). `seed` makes the moments of this installation its own."""

    at: time
    jitter_s: float
    catch_up_days: int
    max_attempts: int
    seed: str

    def moment(self, day: date, zone: ZoneInfo) -> datetime:
        """When the night of `day` begins, in UTC. An `at` before noon is the small hours after that day."""
        evening = day + timedelta(days=1) if self.at < NOON else day
        return night_moment(evening, self.at, self.jitter_s, zone, self.seed)

    def over(self, now: datetime, zone: ZoneInfo) -> date:
        """The newest local date whose night has begun."""
        day = local_date(now, zone) + timedelta(days=1)
        while self.moment(day, zone) > now:
            day -= timedelta(days=1)
        return day

    def next(self, now: datetime, zone: ZoneInfo) -> datetime:
        """When the next night begins."""
        return self.moment(self.over(now, zone) + timedelta(days=1), zone)


class Sleeper(Struct, frozen=True, kw_only=True):
    """An agent as the night sees it: its zone, and its days that have records for a daily."""

    agent: str
    zone: ZoneInfo
    windows: Sequence[WindowCount] = ()


class Known(Struct, frozen=True, kw_only=True):
    """What is known when somebody asks. `rows` are of both phases; `candidates` is how many dream in one night.

    `short` are agents whose budget is used up, and until when.
    """

    now: datetime
    schedule: Schedule
    sleepers: Sequence[Sleeper]
    rows: Sequence[LedgerRow]
    candidates: int = 1
    short: Mapping[str, datetime] = {}


class Night(Struct, frozen=True, kw_only=True):
    """A local date with work to do: `agents` for Phase 1, of which `missed` had nobody there at their moment.

    `sharing` are all agents among whom Phase 2 takes turns, `begun` those whose night of that date has begun.
    `asked` says that a person wants it now, so that what failed before need neither rest nor have attempts left.
    """

    day: date
    agents: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    sharing: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()
    asked: bool = False


def nights(known: Known) -> list[Night]:
    """The nights to run now, oldest first. The order of agents and rows does not matter."""
    unfiled = {(day, s.agent) for s in known.sleepers for day in _unfiled_days(known, s)}
    days = {day for day, _ in unfiled}
    days |= {row.day for row in known.rows if row.phase == "deep_dream" and may_retry(row, known)}
    newest = {known.schedule.over(known.now, s.zone) for s in known.sleepers}
    days |= {day for day in newest if dreamers(day, known, begun=_begun(day, known))}
    return [_night(day, {agent for d, agent in unfiled if d == day}, known) for day in sorted(days)]


def _night(day: date, active: Collection[str], known: Known) -> Night:
    tried = {row.agent for row in known.rows if row.day == day and row.phase == "daily"}
    missed = (
        s.agent for s in known.sleepers if s.agent in active and s.agent not in tried and _late(day, s, known)
    )
    return Night(
        day=day,
        agents=tuple(sorted(active)),
        missed=tuple(sorted(missed)),
        sharing=tuple(s.agent for s in known.sleepers),
        begun=_begun(day, known),
    )


def _late(day: date, sleeper: Sleeper, known: Known) -> bool:
    return known.now - known.schedule.moment(day, sleeper.zone) > LATE


def _begun(day: date, known: Known) -> tuple[str, ...]:
    return tuple(sorted(s.agent for s in known.sleepers if known.schedule.moment(day, s.zone) <= known.now))


def _unfiled_days(known: Known, sleeper: Sleeper) -> Iterator[date]:
    newest = known.schedule.over(known.now, sleeper.zone)
    oldest = local_date(known.now, sleeper.zone) - timedelta(days=known.schedule.catch_up_days)
    rows = {row.day: row for row in known.rows if row.phase == "daily" and row.agent == sleeper.agent}
    for window in sleeper.windows:
        day = window.window
        if window.unfiled and oldest <= day <= newest and _open(rows.get(day), known, sleeper.zone):
            yield day


def _open(row: LedgerRow | None, known: Known, zone: ZoneInfo) -> bool:
    """Whether a day with unfiled records is to be summarised now.

    1. Never tried: yes.  2. Failed, or left running by a crash: while attempts are left, after the back-off.
    3. Settled: what came since waits for the night after. A row from the future (the clock was set back) does not.
    """
    if row is None:
        return True
    if row.state in ("failed", "running"):
        return may_retry(row, known)
    latest = known.schedule.moment(known.schedule.over(known.now, zone), zone)
    return row.finished_at is None or not latest <= row.finished_at <= known.now


def may_retry(row: LedgerRow, known: Known) -> bool:
    """Whether an unfinished phase is left to be tried again and has rested after its failure."""
    rested = row.state == "running" or (row.state == "failed" and _rests_until(row, known) is None)
    return rested and is_left(row, known)


def is_left(row: LedgerRow, known: Known) -> bool:
    """Whether a phase that fails has attempts left and is not too long ago."""
    oldest = known.now.date() - timedelta(days=known.schedule.catch_up_days + 1)
    return row.attempts < known.schedule.max_attempts and row.day >= oldest


def _rests_until(row: LedgerRow, known: Known) -> datetime | None:
    """The end of a failed phase's back-off, or of its agent's lack of budget; None when it has rested.

    A failure in the future (the clock was set back) does not rest.
    """
    if row.finished_at is None or row.finished_at > known.now:
        return None
    over = row.finished_at + back_off(row.attempts)
    over = max(over, known.short.get(row.agent, over))
    return over if known.now < over else None


def back_off(attempts: int) -> timedelta:
    """How long a phase rests after so many failures: 10, 30, 90, 270 minutes, then 6 hours."""
    factor: int = 3 ** min(max(attempts - 1, 0), 8)
    return min(BACK_OFF * factor, LONGEST_BACK_OFF)


def next_look(known: Known) -> datetime:
    """When to ask again: the next night of any zone, or the end of a back-off."""
    moments = {known.schedule.next(known.now, zone) for zone in {s.zone for s in known.sleepers}}
    rests = {
        over for row in known.rows if row.state == "failed" and (over := _rests_until(row, known)) is not None
    }
    return min(moments | rests, default=known.now + timedelta(days=1))


def dreamers(day: date, known: Known, *, begun: Collection[str], force: bool = False) -> list[str]:
    """Who is to have a Deep Dream in the night of `day`, at most `candidates` agents in all.

    1. Those whose turn it was already and who may try again.
    2. Those with daily material newer than their last Deep Dream, longest without a turn first. A failed turn is a
       turn, so that nobody in trouble keeps the others from theirs; a skipped one takes no place.

    `force` gives the places away anew, first to those who had them, news or not. An agent whose night has not begun
    is not returned, but keeps its place in the order.
    """
    taken = {} if force else _had_turns(day, known)
    again = sorted(agent for agent, row in taken.items() if may_retry(row, known))
    chosen = queue(day, known, force=force)[: max(0, known.candidates - len(taken))]
    return [agent for agent in again + chosen if agent in begun]


def queue(day: date, known: Known, *, force: bool = False) -> list[str]:
    """Who has daily material newer than their last Deep Dream and no turn in the night of `day`, the next one first."""
    turns = [row for row in known.rows if row.phase == "deep_dream"]
    had = _had_turns(day, known)
    last = {row.agent: row.day for row in sorted(turns, key=lambda row: row.day)}
    news = {row.agent for row in known.rows if row.day <= day and _is_news(row, turns)}
    hungry = {s.agent for s in known.sleepers if force or s.agent in news} - set(() if force else had)
    return sorted(hungry, key=lambda agent: (agent not in had, last.get(agent, date.min), agent))


def _had_turns(day: date, known: Known) -> dict[str, LedgerRow]:
    return {
        row.agent: row
        for row in known.rows
        if row.phase == "deep_dream" and row.day == day and row.state != "skipped"
    }


def waiting(day: date, known: Known) -> dict[str, tuple[str, ...]]:
    """For who has to wait beyond the night of `day` for a Deep Dream: those who dream in it or are before them."""
    had, hungry = tuple(sorted(_had_turns(day, known))), queue(day, known)
    free = max(0, known.candidates - len(had))
    places = {agent: (*had, *hungry[:at]) for at, agent in enumerate(hungry) if at >= free}
    return places if known.candidates else {}


def turn(first: Sequence[str]) -> str:
    """What to say to who waits for a Deep Dream."""
    return f"waits its turn: {', '.join(first)} {'dreams' if len(first) == 1 else 'dream'} first"


def _is_news(row: LedgerRow, turns: Iterable[LedgerRow]) -> bool:
    """Whether this row is of a daily that its agent's last Deep Dream has not seen, or not in this form."""
    if row.phase != "daily" or row.state != "done":
        return False
    return not any(
        turn.agent == row.agent
        and turn.state in ("done", "held", "skipped")
        and turn.day >= row.day
        and _ended(turn) >= _ended(row)
        for turn in turns
    )


def _ended(row: LedgerRow) -> datetime:
    return row.finished_at or datetime.min.replace(tzinfo=UTC)


def lookback(agent: str, day: date, rows: Sequence[LedgerRow], least: int) -> int:
    """How many days of dailies a Deep Dream has to read so that none since the agent's last one is left out."""
    done = [row for row in rows if row.phase == "deep_dream" and row.state in ("done", "held")]
    news = [row.day for row in rows if row.agent == agent and row.day <= day and _is_news(row, done)]
    since = (day - min(news, default=day)).days + 1
    return max(least, min(since, FARTHEST_LOOKBACK))


def wanted(known: Known, agents: Collection[str]) -> date:
    """The date that somebody means who asks for a night and names none.

    The latest local day of these agents, today included, that has unfiled records; else their latest day with any;
    else yesterday.
    """
    chosen = [s for s in known.sleepers if s.agent in agents]
    today = max((local_date(known.now, s.zone) for s in chosen), default=known.now.date())
    windows = [w for s in chosen for w in s.windows if w.window <= today]
    unfiled = [w.window for w in windows if w.unfiled]
    return max(unfiled or [w.window for w in windows], default=today - timedelta(days=1))
