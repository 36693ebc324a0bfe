"""Memories of an agent in the pool, and parts to recall them with."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.events import silent
from dreamd.indexes.sqlite import OPEN
from dreamd.memories import Memory, raw_id
from dreamd.parts import Meaning, Parts
from dreamd.records import Trust
from dreamd.sections import Agent, Recall
from dreamd.stores.base import Changes
from dreamd.stores.inmemory import InMemoryStore

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)


def record(number: int, text: str, agent: str = "ada", **fields: object) -> Memory:
    """The user's `number`-th message, a minute after the one before, ten days ago."""
    at = NOW - timedelta(days=10) + timedelta(minutes=number)
    memory = Memory(
        memory_id=raw_id(agent, str(number)), type="raw", content=text, agent=agent, window=at.date(), received_at=at,
        timestamp=at, session_id="session", role="user", origin="human", trust=Trust.HUMAN,
    )  # fmt: skip
    return replace(memory, **fields)


def insight(number: int, statement: str, agent: str = "ada", **fields: object) -> Memory:
    """A long-term fact that an agent told."""
    at = NOW - timedelta(days=5)
    memory = Memory(
        memory_id=f"i{number:031}", type="insight", content=statement, agent=agent, window=at.date(), received_at=at,
        timestamp=at, status="long_term", kind="fact", confidence=0.6, trust=Trust.AGENT,
    )  # fmt: skip
    return replace(memory, **fields)


def pour(parts: Parts, *memories: Memory) -> None:
    parts.store.write(Changes(memories=memories))


@contextmanager
def house(
    state: Path, agents: Sequence[str] = ("ada", "bob"), meaning: Meaning | None = None
) -> Iterator[Parts]:
    index = OPEN(state)
    yield Parts(
        config=Config(agents={name: Agent(zone="UTC") for name in agents}, recall=Recall()),
        state=state,
        store=InMemoryStore(),
        clock=StillClock(NOW),
        emit=silent,
        index=index,
        meaning=meaning,
    )
    index.close()
