"""An insight and the time in; whether it has faded so far that it is put away out (pure).

Law: that nobody recalled it condemns nothing. What fades is archived, never removed, and new evidence brings it back.
"""

from datetime import datetime
from math import floor

from msgspec.structs import replace

from dreamd.memories import Memory
from dreamd.pool.fading import confidence_now
from dreamd.sections import Decay


def decayed(insight: Memory, now: datetime, decay: Decay) -> Memory:
    """The insight itself, or archived with the confidence that was left."""
    left = confidence_now(insight, now, decay)
    if insight.pinned or insight.status not in ("candidate", "long_term") or left >= decay.archive_below:
        return insight
    return replace(insight, status="archived", confidence=floor(left * 10_000) / 10_000)
