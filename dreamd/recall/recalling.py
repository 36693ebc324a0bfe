"""A goal in the agent's words in; the conclusions and records of the pool that bear on it out."""

from collections.abc import Sequence
from datetime import datetime

from dreamd.parts import Parts
from dreamd.recall.answer import Recalled


async def recall(
    parts: Parts,
    goal: str,
    *,
    agents: Sequence[str] | None = None,
    budget: int | None = None,
    as_of: datetime | None = None,
    stamp: bool = True,
) -> Recalled:
    """Of the named agents, or of all enabled ones; `budget` in tokens, by default the configuration's.

    `as_of` answers as things stood then. `stamp` notes on what is given that it was recalled, which protects it from
    fading. Raises UsageError (unknown agent, empty goal), StoreError.
    """
    raise NotImplementedError
