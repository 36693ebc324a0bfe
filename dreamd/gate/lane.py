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
from dreamd.gate import spare
from dreamd.gate.breaks import Breaks
from dreamd.gate.limit import Limit, Verdict, is_news, judged, served, spoilt, starting
from dreamd.gate.paces import Paces
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

ENOUGH_TOKENS = 20  # for their pace to be told
ALMOST = 0.5  # calls less on average are as good as so many
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
        self._seen, self._began, self._first, self._load = 0, 0.0, 0.0, 0.0
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
        self._first, self._load = self._lane.now(), self._lane.load
        seconds, limit = self._first - self._began, self._lane.state.limit
        verdict = self._lane.paces.first_byte("dream", self._size, seconds, self._seen, limit)
        if verdict != "good" or not self._lane.tells_by_tokens(self._seen):
            self._judge(self._lane.unthinned(verdict, self._seen, self._began))

    def ended_well(self, tokens: int) -> None:
        """With an answer of so many tokens, 0 where nobody knows."""
        self._over = True
        took = self._lane.now() - self._first
        if tokens >= ENOUGH_TOKENS and self._first > self._began and took > 0:
            beside = (self._lane.load - self._load) / took
            self._judge(self._lane.judged_tokens(self._seen, beside, self._began, took / (tokens - 1)))
        else:
            self._judge(self._lane.unthinned("good", self._seen, self._began))
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
        self._leans = self._crowded and lane.leaned_on
        self._beside_try = lane.breaks.beside_try(self._began)
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
            self._refused()

    def _refused(self) -> None:
        lane = self._lane
        if self._crowded:
            lane.breaks.refused()
        if self._beside_try:
            lane.spoil_tries()
        elif self._leans:
            lane.judge_spare("refused", self._began, leaned=True)
        elif not self._crowded and is_news(lane.state.limit, "refused", self._seen):
            lane.judge("refused", self._seen, self._began)

    def first_byte(self) -> None:
        if self._status not in GOOD or not self._size:  # what asks nothing is answered by no model
            return
        lane, seconds = self._lane, self._lane.now() - self._began
        late = lane.paces.is_delayed(self._size, seconds)
        verdict = lane.paces.first_byte(
            "foreground", self._size, seconds, self._seen, lane.state.limit, crowded=self._crowded
        )
        if late is not None:
            self._felt(seconds, late=late)
        if not self._crowded and is_news(lane.state.limit, verdict, self._seen):
            lane.judge(verdict, self._seen, self._began)

    def _felt(self, seconds: float, *, late: bool) -> None:
        """What it says of calls that made way, or of the limit where there were none."""
        lane = self._lane
        if self._crowded and late:
            lane.breaks.waited(seconds)
        elif self._crowded:
            lane.breaks.went_well()
        elif not late:
            lane.learn(served(lane.state.limit, self._seen))
        if self._beside_try:
            if late:
                lane.spoil_tries()
        elif not lane.empty:
            lane.judge_spare("late" if late else "well", self._began, leaned=self._leans)

    def done(self) -> None:
        if not self._done:
            self._done = True
            self._lane.depart()


class Lane:
    """All calls of one upstream. Used from one event loop at a time."""

    def __init__(self, name: str, settings: Gate, *, concurrency: int, clock: Clock, emit: Emit) -> None:
        self.name = name
        self.spare = spare.starting(settings.headroom, clock.monotonic())
        self.state = LaneState(
            rules=Rules(concurrency, settings.patience_s),
            limit=starting(settings.floor, settings.ceiling),
            spare=self.spare.slots,
            now=clock.monotonic(),
        )
        self.paces = Paces()
        self.refusals = 0  # in a row
        self.counts: Counter[str] = Counter()
        self._settings = settings
        self._clock = clock
        self._emit = emit
        self._worked = 0.0
        self._tickets = count(1)
        self._dreams: dict[int, DreamCall] = {}
        self._loop: _Loop | None = None
        self.breaks = Breaks()
        self._thinned_at = float("-inf")  # when a call was last refused or made way
        self._timer: _Timer | None = None

    @property
    def crowded(self) -> bool:
        """Whether calls that made way may still be in their slots: then a refusal says nothing of the limit."""
        return bool(self.state.leaving) or self.breaks.left(self.now()) > 0

    @property
    def leaned_on(self) -> bool:
        """Whether the newest call has no slot but one that is only just being left."""
        lingering = max(len(self.state.leaving), self.breaks.left(self.now()))
        taken = self.state.busy + len(self.state.dreams)
        return taken <= self.state.capacity < taken + lingering

    @property
    def load(self) -> float:
        """Calls in flight times the seconds they were, while there were dream calls."""
        return self._worked + self.state.in_flight * (self.now() - self.state.now)

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
        self.learn(judged(self.state.limit, verdict, seen, began, self.now()))

    def learn(self, limit: Limit) -> None:
        before = self.state.limit.calls
        if limit is not self.state.limit:
            self._go(told(self.state, self.now(), limit=limit))
        if limit.calls != before:
            self._emit(LIMIT_CHANGED, lane=self.name, limit=limit.calls, before=before, failed=limit.failed)

    def spoil_tries(self) -> None:
        """A foreground call waited or was refused because of one."""
        self.learn(spoilt(self.state.limit, self.now()))

    def judge_spare(self, went: spare.Went, began: float, *, leaned: bool) -> None:
        """After a foreground call, which may have leaned on a slot just being left."""
        most, now = self.state.capacity - 1, self.now()
        refuses = self.state.limit.refuses
        self.spare = spare.after(self.spare, went, most, began, now, leaned=leaned, refuses=refuses)
        if self.spare.slots != self.state.spare:
            self._go(told(self.state, now, spare=self.spare.slots))

    def unthinned(self, verdict: Verdict, seen: int, began: float) -> Verdict:
        """A call that was tried proves nothing where there were never as many at the upstream."""
        tried = seen > self.state.limit.calls
        return "unknown" if verdict == "good" and tried and self._thinned_at >= began else verdict

    def tells_by_tokens(self, seen: int) -> bool:
        """Whether only the pace of its tokens tells if the upstream takes so many calls."""
        return self.state.limit.shares and seen > self.state.limit.calls

    def judged_tokens(self, seen: int, load: float, began: float, seconds: float) -> Verdict:
        """What the seconds of a token say of so many calls, when there were `load` in flight on average."""
        too_many = self.paces.too_many(seconds, load, self.state.limit)
        if too_many is not None:
            self.judge("shared", too_many, began)
        return "good" if too_many is None and load > seen - ALMOST else "unknown"

    def cool(self, retry_after_s: float | None) -> None:
        """Stay away for as long as the server says, or longer with each refusal when it does not."""
        self.refusals += self.state.cooling_until <= self.now()  # those that come meanwhile are one
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
        if self._dreams:
            self._worked += self.state.in_flight * (step.state.now - self.state.now)
        before, self.state = self.state.limit, step.state
        if step.cancelled:
            self._thinned_at = self.now()
            tried = step.state.limit.broken > before.broken
            self.breaks.add(len(step.cancelled), self._thinned_at, tried=tried)
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
