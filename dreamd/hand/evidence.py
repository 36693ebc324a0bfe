"""What a person or an agent asks about in; the chain it rests on, down to the log's bytes, out. The one way for every face."""

from dreamd.deep_dream.evidence import Node
from dreamd.parts import Parts

__all__ = ["Node", "evidence"]


async def evidence(parts: Parts, what: str) -> Node:
    """The chain under `FILE:LINE` (of a MEMORY.md, a daily or a diary) or under a memory, named by its id or its beginning.

    Raises UsageError (no such line or memory, or more than one), WorkspaceError, StoreError.
    """
    raise NotImplementedError
