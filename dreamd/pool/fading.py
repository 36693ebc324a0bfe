"""An insight and the time in; how sure it still is out (pure).

Law: an insight fades from its newest evidence, or its last recall if that is later, or the day dreamd came to know it:
old logs read today are news today. The stored confidence does not fade, so that a dream without news writes nothing.
"""

from datetime import datetime, timedelta

from dreamd.memories import Memory
from dreamd.sections import Decay

_DAY = timedelta(days=1)


def confidence_now(insight: Memory, now: datetime, decay: Decay) -> float:
    """The stored confidence, faded by the half-life of its status; pinned and put away ones stay as they are."""
    if insight.pinned or insight.status not in ("candidate", "long_term"):
        return insight.confidence
    half_life = decay.long_term_days if insight.status == "long_term" else decay.candidate_days
    return insight.confidence * faded((now - _refreshed(insight)) / _DAY / half_life)


def faded(age: float) -> float:
    """What is left after so many half-lives."""
    return float(0.5 ** max(age, 0.0))


def _refreshed(insight: Memory) -> datetime:
    times = (insight.timestamp, insight.received_at, insight.last_recalled_at)
    return max(time for time in times if time is not None)
