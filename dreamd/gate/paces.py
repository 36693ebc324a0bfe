"""What the times of an upstream's calls say of it: usual times, learned from calls that had it nearly to themselves."""

from typing import Literal

from dreamd.gate.limit import Limit, Verdict
from dreamd.gate.pace import Pace, heard, is_late, usual

DREAM_LATE, FOREGROUND_LATE = 1.2, 1.5  # times the usual; the more they differ, the later counts as late
STUCK = 3.0  # times the usual
DELAYED = 1.2  # times the usual, where it counts only if most are
MANY = 8.0  # foreground calls, which go to many models, before one of them is called late
TOKEN_LATE = 1.05
ALONE = 2  # calls at once, of which each is thought to have the upstream to itself

Kind = Literal["dream", "foreground"]


class Paces:
    """Of one upstream. Seconds are from a call's beginning to its first byte, or from its first token to its last, by token."""

    def __init__(self) -> None:
        self._first: dict[Kind, Pace] = {
            "dream": Pace(DREAM_LATE),
            "foreground": Pace(FOREGROUND_LATE, enough=MANY),
        }
        self._token = Pace(TOKEN_LATE, jitter_s=0.0)

    def first_byte(
        self,
        kind: Kind,
        prompt_bytes: int,
        seconds: float,
        seen: int,
        limit: Limit,
        *,
        crowded: bool = False,
    ) -> Verdict:
        """Of a call that began as the `seen`-th in flight; `crowded` where slots were only just being left.

        The usual is what calls take that have the upstream nearly to themselves. Where there are hardly any, it is what the
        first few take, and any that is faster.
        """
        pace = self._first[kind]
        expected, late = usual(pace, prompt_bytes), is_late(pace, prompt_bytes, seconds)
        first = pace.weight < pace.enough
        news = expected is None or seconds < expected
        if first or (seen <= max(1, limit.calls if news else limit.calls // 2) and (news or not crowded)):
            self._first[kind] = heard(pace, prompt_bytes, seconds)
        if expected is None:
            return "unknown" if seen > limit.floor else "good"
        if not late:
            return "good"
        return "stuck" if seconds > STUCK * expected else "slow"

    def is_delayed(self, prompt_bytes: int, seconds: float) -> bool | None:
        """Whether the first byte of a foreground call is late at all; None while nobody knows what is usual."""
        pace = self._first["foreground"]
        expected = usual(pace, prompt_bytes)
        if expected is None or pace.weight < pace.enough:
            return None
        return seconds > expected * DELAYED + pace.jitter_s

    def too_many(self, token_s: float, load: float, limit: Limit) -> int | None:
        """How many calls at once are too many, if its tokens came late to a dream call beside `load` calls on average.

        Where all calls share the upstream, each runs the slower the more there are: from how much slower follows how many
        it takes at full speed.
        """
        usual_s = usual(self._token, 0)
        if usual_s is None or token_s < usual_s or load <= max(ALONE, limit.calls / 2):
            self._token = heard(self._token, 0, token_s)
        elif is_late(self._token, 0, token_s):
            return max(2, round(load * usual_s / token_s * TOKEN_LATE) + 1)
        return None
