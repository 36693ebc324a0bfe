"""What a person or an agent asks about in; the chain it rests on, down to the log's bytes, out. One way for every face."""

import re
from functools import partial
from pathlib import Path

from anyio import to_thread

from dreamd.deep_dream.evidence import Node, Verdict, of_line, of_memory
from dreamd.dream.standing import standing_of
from dreamd.errors import UsageError
from dreamd.hand.named import named, readable
from dreamd.memories import STATUSES, Memory
from dreamd.parts import Parts
from dreamd.tail.spans import standing

__all__ = ["Node", "evidence"]

_LINE = re.compile(r"(?P<file>.+):(?P<line>\d{1,9})")


async def evidence(parts: Parts, what: str) -> Node:
    """The chain under `FILE:LINE` (of a MEMORY.md, a daily or a diary) or a memory, named by its id or its beginning.

    Each record is looked up in its log; where that was rewritten or is gone the node says so, and whether its text is
    the pool's copy or the archive's. Raises UsageError (no such line or memory, or more than one), WorkspaceError,
    StoreError.
    """
    return await to_thread.run_sync(chain, parts, what)


def chain(parts: Parts, what: str) -> Node:
    """`evidence`, blocking."""
    judge = partial(_verdict, parts)
    what = readable(what).replace("\0", "")  # which stands in no name
    place = _LINE.fullmatch(what)
    if place:
        return of_line(parts, _file(place["file"]), int(place["line"]), standing, judge)
    if _names_a_file(what):
        raise UsageError(f"{what} names no line", hint="say which: FILE:LINE, such as MEMORY.md:3")
    return of_memory(parts, named(parts.store, what, statuses=STATUSES), standing, judge)


def _file(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # nobody is called so
        return Path(name)


def _verdict(parts: Parts, insight: Memory) -> Verdict:
    stands = standing_of(parts.store, insight, parts.config, parts.clock.now())
    against = (f"{other.memory_id[:8]} {other.statement} ({other.reason})" for other in stands.against)
    return Verdict(stands.sure, stands.lacks, tuple(against))


def _names_a_file(what: str) -> bool:
    return ":" in what or "/" in what or what.endswith(".md") or Path(what).is_file()
