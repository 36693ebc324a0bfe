"""Memories and cursors for tests, made from a number."""

from datetime import UTC, date, datetime, timedelta

from msgspec.structs import replace

from dreamd.memories import Memory, derived_id, raw_id
from dreamd.records import Span, Trust
from dreamd.stores.base import Changes, Cursor, MemoryQuery, Store

NOON = datetime(2026, 3, 2, 12, 0, 0, 123456, tzinfo=UTC)
DAY = date(2026, 3, 2)
EVERYTHING = MemoryQuery(
    statuses=("fresh", "dreamt", "candidate", "long_term", "superseded", "withdrawn", "archived", "forgotten")
)


def raw(number: int, agent: str = "ada", **fields: object) -> Memory:
    """The user's `number`-th message to an agent."""
    memory = Memory(
        memory_id=raw_id(agent, str(number)),
        type="raw",
        content=f"message {number} 你好",
        agent=agent,
        window=DAY,
        received_at=NOON + timedelta(seconds=number),
        session_id="session",
        timestamp=NOON,
        role="user",
        origin="human",
        trust=Trust.HUMAN,
        span=Span(f"log-{agent}", number * 100, 99, b"\x00\xff" * 16),
    )
    return replace(memory, **fields)


def summary(content: str, refs: tuple[str, ...], agent: str = "ada", **fields: object) -> Memory:
    memory = Memory(
        memory_id=derived_id("summary", agent, content, refs),
        type="summary",
        content=content,
        agent=agent,
        window=DAY,
        received_at=NOON,
        ref_ids=refs,
    )
    return replace(memory, **fields)


def cursor(version: int = 1, source_id: str = "log-ada", **fields: object) -> Cursor:
    made = Cursor(
        source_id=source_id,
        agent="ada",
        path="/logs/a.jsonl",
        format="codex",
        version=version,
        offset=version * 100,
    )
    return replace(made, **fields)


def stored(store: Store, *memories: Memory) -> list[Memory]:
    """Write the memories; all that the store has now."""
    store.write(Changes(memories=memories))
    return list(store.memories(EVERYTHING))


def ids(store: Store, query: MemoryQuery) -> list[str]:
    return [memory.memory_id for memory in store.memories(query)]
