"""What a person tells dreamd to keep: a record of the person's own words, and the long-term insight that rests on it."""

from msgspec import Struct

from dreamd.memories import Kind, Memory
from dreamd.parts import Parts


class Remembered(Struct, frozen=True):
    """The record of what was said and the insight that it bears. `new` is False when both were there already."""

    insight: Memory
    record: Memory
    new: bool = True


async def remember(
    parts: Parts,
    text: str,
    *,
    agent: str,
    kind: Kind | None = None,
    applies_when: str = "",
    pinned: bool = False,
) -> Remembered:
    """Keep `text` for good, as the person's own word, redacted; the same text twice is one insight.

    `kind` is told from the words where it is None. Raises UsageError (no text, too long, nothing but a secret),
    ConfigError (unknown agent), StateLocked (a dream of that agent is under way), StoreError, DiskFull.
    """
    raise NotImplementedError
