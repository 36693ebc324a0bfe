"""Whether a first byte came late, by what earlier calls took (pure).

Time to first token grows with the prompt on a server that reads it by itself, and hardly on a large one: a straight
line over the prompt's size, fitted to calls that had the upstream nearly to themselves, the newest counting most.
"""

from msgspec import Struct
from msgspec.structs import replace

MEMORY = 0.97  # of a time's weight that is left when the next one is in: about thirty count
DEVIATIONS = 3.0


class Pace(Struct, frozen=True):
    """Weighted sums over (bytes, seconds), and the usual distance from the line. `factor` times the line is late.

    It serves as well for the seconds of a token, which do not depend on the prompt: then all bytes are 0.
    """

    factor: float
    enough: float = 0.0  # times before anything is called late
    jitter_s: float = 0.01  # of a network and of a loop
    weight: float = 0.0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0
    off: float = 0.0


def usual(pace: Pace, prompt_bytes: int) -> float | None:
    """Seconds to the first byte of such a prompt; None while nobody knows."""
    if pace.weight == 0:
        return None
    mean = pace.y / pace.weight
    spread = pace.xx - pace.x * pace.x / pace.weight
    if spread <= 1e-6 * pace.xx:  # all prompts of one size
        return mean
    slope = max(0.0, (pace.xy - pace.x * pace.y / pace.weight) / spread)
    return max(mean + slope * (prompt_bytes - pace.x / pace.weight), 0.1 * mean)


def is_late(pace: Pace, prompt_bytes: int, seconds: float) -> bool:
    expected = usual(pace, prompt_bytes)
    if expected is None or pace.weight < pace.enough:
        return False
    return seconds > max(expected * pace.factor, expected + DEVIATIONS * pace.off) + pace.jitter_s


def heard(pace: Pace, prompt_bytes: int, seconds: float) -> Pace:
    """With one more time, of a call that had the upstream nearly to itself."""
    expected = usual(pace, prompt_bytes)
    off = 0.0 if expected is None else abs(seconds - expected)
    return replace(
        pace,
        weight=pace.weight * MEMORY + 1,
        x=pace.x * MEMORY + prompt_bytes,
        y=pace.y * MEMORY + seconds,
        xx=pace.xx * MEMORY + prompt_bytes**2,
        xy=pace.xy * MEMORY + prompt_bytes * seconds,
        off=pace.off + 0.2 * (off - pace.off),
    )
