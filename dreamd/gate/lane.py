"""One upstream's lane on the event loop: the rules of `state.py` with doors, clocks and connections behind them.

Foreground calls are announced and go on; dream calls wait at their door and are cancelled from here. What calls show of
the upstream (refusals, quota, time to the first byte) goes to the rules as it comes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Protocol, cast

import anyio
from anyio import lowlevel

from dreamd.clock import Clock
from dreamd.events import LANE_COOLING, LIMIT_CHANGED, Emit
from dreamd.gate.limit import Verdict, judged, starting
from dreamd.gate.pace import Pace, heard, is_late, usual
from dreamd.gate.quota import away_s, is_told, quotas
from dreamd.gate.state import (
    LaneState,
    Rules,
    Step,
    Why,
    arrived,
    came,
    departed,
    left,
    put_off,
    returned,
    told,
    wake,
)
from dreamd.parts import ForegroundCall
from dreamd.providers._answers import retry_after
from dreamd.providers.base import Listener
from dreamd.sections import Gate

DREAM_LATE, FOREGROUND_LATE = 1.2, 1.5  # times the usual; the more they differ, the later counts as late
STUCK = 3.0  # times the usual
MANY = 8.0  # foreground calls, which go to many models, before one of them is called late
NOTICED_S = 0.3  # until a server has noticed that nobody listens
TOKEN_LATE, ENOUGH_TOKENS = 1.1, 20
FIRST_COOLING_S, LONGEST_COOLING_S = 1.0, 60.0  # where a server that refuses does not say for how long
REFUSALS = (429, 529)
GOOD = range(200, 300)


class _Timer(Protocol):
    def cancel(self) -> object: ...


class _Loop(Protocol):
    """The event loop, where foreground calls are announced outside of any task."""

    def call_later(self, delay: float, callback: Callable[[], None], /) -> _Timer: ...


class DreamCall(Listener):
    """One dream call of a lane, from its coming to its end; each attempt has its own connection."""

    def __init__(self, lane: "Lane", ticket: int, prompt_bytes: int) -> None:
        self.ticket = ticket
        self.door = anyio.Event()
        self.made_way = False
        self._over = False  # the upstream has answered: there is nothing to cancel
        self._scope: anyio.CancelScope | None = None
        self._lane = lane
        self._size = prompt_bytes
        self._hang_up: Callable[[], None] | None = None
        self._seen, self._began, self._first = 0, 0.0, 0.0
        self._judged = False

    def begin(self, seen: int, now: float) -> None:
        """It is let in, as the `seen`-th call in flight."""
        self.made_way, self._over, self._hang_up = False, False, None
        self._seen, self._began, self._first, self._judged = seen, now, 0.0, False
        self.door.set()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """The attempt, until it must make way: then the block is cancelled, or not run to begin with."""
        with anyio.CancelScope() as scope:
            self._scope = scope
            if self.made_way:
                scope.cancel()
            try:
                yield
            finally:
                self._scope = None

    def make_way(self) -> None:
        """Hang up at once: the foreground call is on its way to the upstream already."""
        if self._over:
            return
        self.made_way = True
        if self._hang_up is not None:
            self._hang_up()
        if self._scope is not None:
            self._scope.cancel()

    def connected(self, hang_up: Callable[[], None]) -> None:
        self._hang_up = hang_up
        if self.made_way:
            hang_up()

    def answered(self, headers: Mapping[str, str]) -> None:
        self._lane.heard_quota(headers)

    def first_byte(self) -> None:
        self._first = self._lane.now()
        self._judge(self._lane.judged_pace("dream", self._size, self._seen, self._began))

    def ended_well(self, tokens: int) -> None:
        """With an answer of so many tokens, 0 where nobody knows."""
        self._over = True
        self._judge("good")
        if tokens >= ENOUGH_TOKENS and self._first > self._began:
            self._lane.judge_tokens(self._seen, self._began, (self._lane.now() - self._first) / tokens)
        self._lane.refusals = 0

    def refused(self, retry_after_s: float | None) -> None:
        """By a rate limit or for overload."""
        self._over = True
        self._judge("refused")
        self._lane.cool(retry_after_s)

    def timed_out(self) -> None:
        self._over = True
        self._judge("refused")

    def _judge(self, verdict: Verdict) -> None:
        if not self._judged and not self.made_way:
            self._judged = True
            self._lane.judge(verdict, self._seen, self._began)


class _Foreground(ForegroundCall):
    def __init__(self, lane: "Lane", prompt_bytes: int, *, own_key: bool) -> None:
        self._lane = lane
        self._size = prompt_bytes
        self._own_key = own_key
        self._seen, self._began = lane.state.in_flight, lane.state.now
        self._crowded = lane.crowded
        self._status = 0
        self._done = False

    def answered(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._status = status
        refused = status in REFUSALS
        if not (refused or self._own_key):
            return  # the headers tell of another's quota
        telling = {k.decode("latin-1"): v.decode("latin-1") for k, v in headers if is_told(k)}
        if telling and self._own_key:
            self._lane.heard_quota(telling)
        if refused:
            self._lane.cool(retry_after(telling))
            if not self._crowded:
                self._lane.judge("refused", self._seen, self._began)

    def first_byte(self) -> None:
        if (
            self._status in GOOD and self._size and not self._crowded
        ):  # what asks nothing is answered by no model
            verdict = self._lane.judged_pace("foreground", self._size, self._seen, self._began)
            if verdict != "good" or self._seen <= self._lane.state.limit.calls:
                self._lane.judge(verdict, self._seen, self._began)

    def done(self) -> None:
        if not self._done:
            self._done = True
            self._lane.depart()


class Lane:
    """All calls of one upstream. Used from one event loop at a time."""

    def __init__(self, name: str, settings: Gate, *, concurrency: int, clock: Clock, emit: Emit) -> None:
        self.name = name
        self.state = LaneState(
            rules=Rules(concurrency, settings.headroom, settings.patience_s),
            limit=starting(settings.floor, settings.ceiling),
            now=clock.monotonic(),
        )
        self.refusals = 0  # in a row
        self.counts: Counter[str] = Counter()
        self._settings = settings
        self._clock = clock
        self._emit = emit
        self._paces = {
            "dream": Pace(DREAM_LATE),
            "foreground": Pace(FOREGROUND_LATE, enough=MANY),
            "token": Pace(TOKEN_LATE, jitter_s=0.0),
        }
        self._late = 0
        self._tickets = count(1)
        self._dreams: dict[int, DreamCall] = {}
        self._loop: _Loop | None = None
        self._clear_at = float("-inf")
        self._thinned_at = float("-inf")  # when a call was last refused or made way
        self._timer: _Timer | None = None

    @property
    def crowded(self) -> bool:
        """Whether calls that made way may still be in their slots: then a refusal says nothing of the limit."""
        return bool(self.state.leaving) or self.now() < self._clear_at

    # the foreground

    def arrive(self, prompt_bytes: int, *, own_key: bool = True) -> ForegroundCall:
        """A foreground call begins."""
        self.counts["foreground"] += 1
        self._go(arrived(self.state, self.now()))
        return _Foreground(self, prompt_bytes, own_key=own_key)

    def depart(self) -> None:
        self._go(departed(self.state, self.now()))

    # dream calls

    def come(self, rank: int, prompt_bytes: int) -> DreamCall:
        """A dream call wants to start; its door opens when it may."""
        self._loop = cast("_Loop", lowlevel.current_token().native_token)
        call = DreamCall(self, next(self._tickets), prompt_bytes)
        self._dreams[call.ticket] = call
        self._go(came(self.state, call.ticket, rank, self.now()))
        return call

    def leave(self, call: DreamCall, *, finished: bool) -> None:
        """For good."""
        del self._dreams[call.ticket]
        self._go(left(self.state, call.ticket, self.now(), finished=finished))

    def go_back(self, call: DreamCall) -> None:
        """It made way and is gone from the upstream: it waits again."""
        self.counts["made_way"] += 1
        call.door = anyio.Event()
        self._go(returned(self.state, call.ticket, self.now()))

    def put_off(self, call: DreamCall, seconds: float, reason: Why) -> None:
        """It was let in and may not start after all."""
        call.door = anyio.Event()
        self._go(put_off(self.state, call.ticket, seconds, reason, self.now()))

    @property
    def empty(self) -> bool:
        """No dream call runs or waits."""
        return not self._dreams

    @property
    def most(self) -> int:
        """How many dream calls all processes together may have in flight now."""
        state = self.state
        here = len(state.dreams) + len(state.leaving)
        return min(state.rules.concurrency, max(here, state.capacity - state.busy))

    # what calls show of the upstream

    def judge(self, verdict: Verdict, seen: int, began: float) -> None:
        before = self.state.limit.calls
        if verdict == "good" and seen > before and self._thinned_at >= began:
            return  # there were never as many at the upstream
        limit = judged(self.state.limit, verdict, seen, began, self.now())
        if limit is not self.state.limit:
            self._go(told(self.state, self.now(), limit=limit))
        if limit.calls != before:
            self._emit(LIMIT_CHANGED, lane=self.name, limit=limit.calls, before=before, failed=limit.failed)

    def judged_pace(self, kind: str, prompt_bytes: int, seen: int, began: float) -> Verdict:
        """What the time to a first byte says. Calls that had the upstream nearly to themselves set the measure."""
        seconds, pace = self.now() - began, self._paces[kind]
        expected, late = usual(pace, prompt_bytes), is_late(pace, prompt_bytes, seconds)
        if seen <= max(1, self.state.limit.calls // 2):
            self._paces[kind] = heard(pace, prompt_bytes, seconds)
        if expected is None:
            return "unknown" if seen > self.state.limit.floor else "good"
        if not late:
            return "good"
        return "stuck" if seconds > STUCK * expected else "slow"

    def judge_tokens(self, seen: int, began: float, seconds: float) -> None:
        """By the seconds of a token: where all calls share the upstream, each runs the slower the more there are."""
        pace, usual_s = self._paces["token"], usual(self._paces["token"], 0)
        if seen <= max(1, self.state.limit.calls // 2):
            self._paces["token"] = heard(pace, 0, seconds)
        elif usual_s is not None and is_late(pace, 0, seconds):
            self.judge("slow", max(2, int(seen * usual_s / seconds * TOKEN_LATE)), began)

    def cool(self, retry_after_s: float | None) -> None:
        """Stay away for as long as the server says, or longer with each refusal when it does not."""
        self.refusals += 1
        self.counts["refused"] += 1
        self._thinned_at = self.now()
        pause = min(FIRST_COOLING_S * 2.0 ** min(self.refusals - 1, 16), LONGEST_COOLING_S)
        seconds = pause if retry_after_s is None else retry_after_s
        if self.state.cooling_until <= self.now():
            self._emit(LANE_COOLING, lane=self.name, seconds=round(seconds, 3), refusals=self.refusals)
        self._go(told(self.state, self.now(), cooling_until=self.now() + seconds))

    def heard_quota(self, headers: Mapping[str, str]) -> None:
        found = quotas(headers, self._clock.now())
        if found:
            away = away_s(found, self._settings.reserve)
            self._go(told(self.state, self.now(), quota_until=self.now() + away))

    def turns(self, under_way: int) -> None:
        """How many turns are under way on the agents of this lane."""
        self._go(told(self.state, self.now(), turns=under_way))

    # the rules

    def now(self) -> float:
        return self._clock.monotonic()

    def _go(self, step: Step) -> None:
        self.state = step.state
        if step.cancelled:
            self._thinned_at = self.now()
            self._clear_at = self._thinned_at + NOTICED_S
        for ticket in step.cancelled:
            self._dreams[ticket].make_way()
        if step.started:
            seen = {dream.ticket: dream.seen for dream in step.state.dreams}
            for ticket in step.started:
                self._dreams[ticket].begin(seen[ticket], step.state.now)
        if step.state.waiting or self._timer is not None:
            self._wake_up()

    def _wake_up(self) -> None:
        """Look again when time alone may let somebody in."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        moment = wake(self.state)
        if moment is not None and self._loop is not None:
            delay = max(moment - self.now(), 0.001)
            self._timer = self._loop.call_later(delay, self._look)

    def _look(self) -> None:
        self._timer = None
        self._go(told(self.state, self.now()))
