"""What a call of dreamd's own waits for, in words for a person (pure): the lane's state in, the cause and what to do out."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from dreamd.gate.state import Dream, LaneState, Why, why
from dreamd.gate.turns import Underway


class Wait(Struct, frozen=True, kw_only=True):
    """`what` it waits for and what a person may do about it. Waits with the same `what` have the same cause."""

    why: Why
    what: str
    todo: str


def wait(
    state: LaneState, dream: Dream, turns: Sequence[Underway], budget: str, now: datetime
) -> Wait | None:
    """None while nothing keeps it back but dreamd's other calls. `budget` says what of it is used up."""
    reason = why(state, dream)
    if reason in ("", "place"):
        return None
    if turns and (reason == "turn" or (reason == "foreground" and not state.foreground)):
        return _for_turn(state, dream, turns[0], now)
    what, todo = _words(reason, state, budget, now)
    return Wait(why=reason, what=what, todo=todo)


def _for_turn(state: LaneState, dream: Dream, turn: Underway, now: datetime) -> Wait:
    patience_s = state.rules.patience_s
    over = max(
        now + timedelta(seconds=dream.came + patience_s - state.now),
        turn.heard + timedelta(seconds=patience_s),
    )
    return Wait(
        why="turn",
        what=f"a turn of agent {turn.agent} that began at {local(turn.began)}",
        todo=f"if the agent was killed, dreamd goes on at {local(over)}, "
        "or sooner when run again with DREAMD_GATE__PATIENCE_S=1",
    )


def _words(reason: Why, state: LaneState, budget: str, now: datetime) -> tuple[str, str]:
    if reason == "budget":
        return f"the budget ({budget})" if budget else "the budget", "raise it in [budget], or let it wait"
    if reason == "cooling":
        again = now + timedelta(seconds=state.cooling_until - state.now)
        return "the upstream, which refused", f"it is asked again at {local(again)}"
    if reason == "quota":
        again = now + timedelta(seconds=state.quota_until - state.now)
        return (
            "the provider's quota",
            f"dreamd goes on at {local(again)}, or sooner with a lower gate.reserve",
        )
    if reason == "shared":
        return "other processes of dreamd, which hold the slots", "dreamd goes on when their calls end"
    return "calls of agents", "dreamd goes on when they end"


def local(at: datetime) -> str:
    """To the second, by this machine's clock."""
    return f"{at.astimezone():%H:%M:%S}"


class Teller:
    """Says when a wait is to be told: once it has lasted `after_s`, and again only when the cause is another."""

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._cause, self._since, self._told = "", 0.0, ""

    def is_due(self, one: Wait | None, now: float) -> bool:
        """At the monotonic time `now`; who is told so tells it."""
        cause = one.what if one else ""
        if cause != self._cause:
            self._cause, self._since = cause, now
        if not cause or cause == self._told or now - self._since < self._after_s:
            return False
        self._told = cause
        return True
