"""The rules of a lane, as a state that only arrivals, departures, time and news of the upstream change (pure).

1. A foreground call never waits. Dream calls make way for it, the youngest first, until half of the spare slots are free
   again: those that the foreground needs because a server takes a moment to notice. How many they are is learned
   (`spare.py`); half of them, for who is let in beside all of them shall not be broken off by the next call.
2. A dream call starts only in quiet: fewer calls in flight than the limit, less the spare slots and what the foreground
   took at its recent maximum; the lane not cooling; its quota above the reserve; no turn under way on an agent of the
   lane, unless the call's patience is over and there is room beside the turns.
3. One dream at a time may try whether the upstream takes one call more than the limit, the spare slots
   forgotten meanwhile: dreams, not the foreground, pay for learning the limit (`limit.py`).
4. Dream calls start in the order of their ranks, within a rank as they came. One that made way keeps its place, but
   backs off, longer each time.
5. Whoever leaves lets in as many waiting calls as the rules allow: none is forgotten.

Times are monotonic seconds; a `now` that goes back counts as the latest one seen.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dreamd.gate.limit import Limit, broken_off, rested, tries

FAST = 4  # calls; beyond it the limit rises by one in a dream call's length
FIRST_BACKOFF_S = 0.1  # up to a dream call's usual length
RECENT = 0.02  # dream calls' usual lengths: what the foreground did just before it may do again

Why = Literal["", "place", "foreground", "turn", "cooling", "quota", "backoff", "budget", "shared"]


class Rules(Struct, frozen=True):
    """`concurrency` bounds the dream calls in flight, whatever the upstream takes."""

    concurrency: int
    patience_s: float = 900.0


class Dream(Struct, frozen=True):
    """A dream call. `seen` is the number of calls in flight when it began, itself included."""

    ticket: int
    rank: int
    came: float
    began: float = 0.0
    seen: int = 0
    not_before: float = float("-inf")
    held_by: Why = ""  # who asked it to wait until then
    made_way: int = 0


class Peak(Struct, frozen=True):
    """The most foreground calls at once, in this period and the one before."""

    since: float = float("-inf")
    here: int = 0
    before: int = 0


class LaneState(Struct, frozen=True, kw_only=True):
    """`dreams` are in flight, the oldest first; `leaving` are cancelled and not gone yet; `waiting` stand in order.

    `spare` slots stay free for the foreground. `turns` counts those under way that no gateway shows. `usual_s` is how
    long a dream call takes.
    """

    rules: Rules
    limit: Limit
    spare: int = 0
    now: float = 0.0
    foreground: int = 0
    turns: int = 0
    seen_calls: bool = False  # foreground calls are announced here: turns are no longer guessed from
    peak: Peak = Peak()
    dreams: tuple[Dream, ...] = ()
    leaving: tuple[Dream, ...] = ()
    waiting: tuple[Dream, ...] = ()
    cooling_until: float = float("-inf")
    quota_until: float = float("-inf")
    usual_s: float = 5.0

    @property
    def busy(self) -> int:
        """Foreground calls in flight, or turns where no calls are announced."""
        return self.foreground if self.seen_calls else max(self.foreground, self.turns)

    @property
    def in_flight(self) -> int:
        return self.busy + len(self.dreams) + len(self.leaving)

    @property
    def capacity(self) -> int:
        """The limit. Where dreams alone cannot reach what is too much, the spare slots are thought to lie beyond it."""
        unbounded = not self.limit.failed and self.limit.calls >= self.rules.concurrency
        return self.limit.calls + (self.spare if unbounded else 0)


class Step(Struct, frozen=True):
    """The state after a change, the tickets that start because of it, and those that must make way."""

    state: LaneState
    started: tuple[int, ...] = ()
    cancelled: tuple[int, ...] = ()


def arrived(state: LaneState, now: float) -> Step:
    """A foreground call begins."""
    now = max(now, state.now)
    foreground = state.foreground + 1
    peak = _peaked(state, foreground, now)
    state = replace(state, now=now, foreground=foreground, seen_calls=True, peak=peak)
    return _making_way(state) if state.dreams else Step(state)


def departed(state: LaneState, now: float) -> Step:
    """A foreground call ended."""
    state = replace(state, now=max(now, state.now), foreground=max(0, state.foreground - 1))
    return _admitting(state) if state.waiting else Step(state)


def came(state: LaneState, ticket: int, rank: int, now: float) -> Step:
    """A dream call wants to start. `ticket` is new."""
    state = _at(state, now)
    return _admitting(_queued(state, Dream(ticket, rank, state.now)))


def left(state: LaneState, ticket: int, now: float, *, finished: bool = False) -> Step:
    """A dream call ended, failed or gave up waiting. An unknown ticket changes nothing but the time."""
    state = _at(state, now)
    ended = next((dream for dream in state.dreams if dream.ticket == ticket), None)
    if finished and ended is not None:
        state = replace(state, usual_s=state.usual_s + 0.25 * (state.now - ended.began - state.usual_s))
    return _admitting(_without(state, ticket))


def returned(state: LaneState, ticket: int, now: float) -> Step:
    """A cancelled dream call is gone from the upstream and waits again."""
    state = _at(state, now)
    gone = next((dream for dream in state.leaving if dream.ticket == ticket), None)
    if gone is None:
        return Step(state)
    pause = min(FIRST_BACKOFF_S * 2.0 ** min(gone.made_way - 1, 16), max(FIRST_BACKOFF_S, state.usual_s))
    gone = replace(gone, not_before=state.now + pause, held_by="backoff")
    return _admitting(_queued(_without(state, ticket), gone))


def put_off(state: LaneState, ticket: int, seconds: float, why: Why, now: float) -> Step:
    """A dream call that was let in may not start after all (budget, slots of other processes): it waits again."""
    state = _at(state, now)
    held = next((dream for dream in (*state.dreams, *state.leaving) if dream.ticket == ticket), None)
    if held is None:
        return Step(state)
    held = replace(held, not_before=state.now + seconds, held_by=why)
    return _admitting(_queued(_without(state, ticket), held))


def told(
    state: LaneState,
    now: float,
    *,
    limit: Limit | None = None,
    spare: int | None = None,
    turns: int | None = None,
    cooling_until: float | None = None,
    quota_until: float | None = None,
) -> Step:
    """News of the upstream and its agents, or none but the time. A turn that begins counts as a call that comes."""
    state = _at(state, now)
    tried = limit is not None and limit.retry_at > state.limit.retry_at
    if limit is not None and limit.calls > max(FAST, state.limit.calls):
        limit = rested(limit, state.now + state.usual_s)  # until calls end that ran beside so many
        tried = True
    began = turns is not None and turns > state.turns
    state = replace(
        state,
        limit=state.limit if limit is None else limit,
        spare=state.spare if spare is None else spare,
        turns=state.turns if turns is None else turns,
        cooling_until=max(state.cooling_until, cooling_until or float("-inf")),
        quota_until=state.quota_until if quota_until is None else quota_until,
    )
    return _making_way(state) if began or tried else _admitting(state)  # a trial gives back the spare slots


def why(state: LaneState, dream: Dream) -> Why:
    """What keeps a waiting dream call from starting; "" when nothing does."""
    closed = _closed(state, dream)
    if closed:
        return closed
    taken = len(state.dreams) + len(state.leaving)
    if taken >= state.rules.concurrency:
        return "place"
    if taken < _room(state) or _may_try(state):
        return ""
    return "foreground" if state.busy or recent(state) else "place"


def wake(state: LaneState) -> float | None:
    """When time alone may let in a waiting dream call; None: never."""
    if not state.waiting:
        return None
    moments = (
        state.cooling_until,
        state.quota_until,
        state.limit.retry_at,
        state.limit.rest_until,
        state.peak.since + RECENT * state.usual_s,
        state.peak.since + 2 * RECENT * state.usual_s,
        *(dream.not_before for dream in state.waiting),
        *(dream.came + state.rules.patience_s for dream in state.waiting),
    )
    return min((moment for moment in moments if moment > state.now), default=None)


def recent(state: LaneState) -> int:
    """The foreground's maximum, this or the last period's."""
    peak, period = state.peak, RECENT * state.usual_s
    if state.now - peak.since >= 2 * period:
        return state.foreground
    if state.now - peak.since >= period:
        return max(state.foreground, peak.here)
    return max(peak.here, peak.before)


def _peaked(state: LaneState, foreground: int, now: float) -> Peak:
    peak, age, period = state.peak, now - state.peak.since, RECENT * state.usual_s
    if age < period:
        return peak if foreground <= peak.here else Peak(peak.since, foreground, peak.before)
    return Peak(now, foreground, peak.here if age < 2 * period else 0)


def _at(state: LaneState, now: float) -> LaneState:
    return replace(state, now=max(now, state.now))


def _without(state: LaneState, ticket: int) -> LaneState:
    return replace(
        state,
        dreams=tuple(dream for dream in state.dreams if dream.ticket != ticket),
        leaving=tuple(dream for dream in state.leaving if dream.ticket != ticket),
        waiting=tuple(dream for dream in state.waiting if dream.ticket != ticket),
    )


def _queued(state: LaneState, dream: Dream) -> LaneState:
    in_order = sorted((*state.waiting, dream), key=lambda one: (one.rank, one.ticket))
    return replace(state, waiting=tuple(in_order))


def _making_way(state: LaneState) -> Step:
    """As many dream calls as the foreground needs slots for, or as keep slots spare."""
    cancelled: list[Dream] = []
    for dream in _leavable(state):
        cancelled.append(replace(dream, made_way=dream.made_way + 1))
        state = replace(state, dreams=tuple(one for one in state.dreams if one.ticket != dream.ticket))
    if cancelled:
        state = replace(state, leaving=(*state.leaving, *cancelled))
    if any(dream.seen > state.limit.calls for dream in cancelled):
        state = replace(state, limit=broken_off(state.limit, state.now))
    return Step(state, cancelled=tuple(dream.ticket for dream in cancelled))


def _leavable(state: LaneState) -> Sequence[Dream]:
    """The youngest first."""
    over = state.busy + len(state.dreams) - state.capacity + min((state.spare + 1) // 2, state.capacity - 1)
    return state.dreams[::-1][: max(0, over)]


def _admitting(state: LaneState) -> Step:
    started: list[int] = []
    while (dream := _next(state)) is not None:
        begun = replace(dream, began=state.now, seen=state.in_flight + 1, held_by="")
        state = replace(_without(state, dream.ticket), dreams=(*state.dreams, begun))
        started.append(dream.ticket)
    return Step(state, tuple(started))


def _next(state: LaneState) -> Dream | None:
    return next((dream for dream in state.waiting if not why(state, dream)), None)


def _closed(state: LaneState, dream: Dream) -> Why:
    """What keeps it back though there were room."""
    if dream.not_before > state.now:
        return dream.held_by
    if state.cooling_until > state.now:
        return "cooling"
    if state.quota_until > state.now:
        return "quota"
    return "turn" if _disturbs(state, dream) else ""


def _disturbs(state: LaneState, dream: Dream) -> bool:
    """Whether it would go beside a turn though it can still wait."""
    return state.turns > 0 and state.now - dream.came < state.rules.patience_s


def _room(state: LaneState) -> int:
    """How many dream calls the lane takes now: the last slot is kept free only for a call that is there."""
    kept = max(state.busy, recent(state)) + state.spare
    return state.capacity - (kept if state.busy else min(kept, state.capacity - 1))


def _may_try(state: LaneState) -> bool:
    """Whether to go for one call more than the limit, if enough calls are there to get so far."""
    goal = state.limit.calls + 1
    ready = sum(dream.not_before <= state.now for dream in state.waiting)
    return (
        tries(state.limit, state.now)
        and not state.turns
        and state.in_flight < goal <= state.in_flight + ready
        and goal - state.busy <= state.rules.concurrency
    )
