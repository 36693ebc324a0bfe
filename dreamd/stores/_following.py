"""What a store has read of new and changed memories in; the news for whoever follows it out (pure)."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from dreamd.memories import GONE, STATUSES, Memory
from dreamd.stores.base import Mark, MemoryQuery, News

ALL = MemoryQuery(statuses=STATUSES)


def followed(
    after: Mark,
    fresh: Sequence[Memory],
    touched: Sequence[tuple[int, int]],
    standing: Iterable[Memory],
    limit: int,
) -> News:
    """`touched` are (number, seq) of changes in order; `standing` is what stands at those places now."""
    known = {memory.seq: memory for memory in (*standing, *fresh)}
    gone = {seq for _, seq in touched if seq not in known} | {
        seq for seq, memory in known.items() if memory.status in GONE
    }
    newest = fresh[-1] if fresh else None
    return News(
        mark=Mark(
            newest.seq if newest else after.seq,
            newest.memory_id if newest else after.memory_id,
            touched[-1][0] if touched else after.touch,
        ),
        memories=tuple(known[seq] for seq in sorted(known.keys() - gone)),
        gone=tuple(sorted(gone)),
        more=limit in (len(fresh), len(touched)),
    )


def differs(known: Memory, memory: Memory) -> bool:
    """The change is one that a search can tell."""
    seen = (memory.content, memory.trace, memory.origin, memory.status in GONE)
    if seen != (known.content, known.trace, known.origin, known.status in GONE):
        return True
    return memory.type != "raw" and _unstamped(memory) != _unstamped(known)


def _unstamped(memory: Memory) -> Memory:
    return replace(memory, last_recalled_at=None, filed=False)
