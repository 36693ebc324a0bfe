"""What every kind of source is read with, and what reading it reports step by step; a step is one transaction."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from dreamd.clock import Clock
from dreamd.events import Emit
from dreamd.sections import Tail
from dreamd.stores.base import Cursor, Store, Written
from dreamd.tail.ingest import Agent, Batch, counted


class Tools(Struct, frozen=True):
    store: Store
    clock: Clock
    emit: Emit
    settings: Tail
    agent: Agent


class How(NamedTuple):
    """`settle`: the logs are at rest, decide what waited for more. `stopping` is asked between two steps.

    `rest_s`: even without `settle` a log that nobody wrote to for so long is at rest. `enough` is asked often, whether the
    step should end now; `between` is called between two steps with the path that is read on next, and may take its time.
    """

    settle: bool = False
    rest_s: float = math.inf
    stopping: Callable[[], bool] = lambda: False
    enough: Callable[[], bool] = lambda: False
    between: Callable[[str], None] = lambda _path: None


class Step(NamedTuple):
    """What one transaction took: bytes and lines of the log, items of all kinds, what the store made of them."""

    written: Written
    read: int = 0
    lines: int = 0
    items: int = 0
    truncated: int = 0
    skipped: Mapping[str, int] = {}


class OpenSource(Protocol):
    """A source with its reader's state in memory. After any exception it must be thrown away and opened again."""

    cursor: Cursor

    def read(self, path: str, how: How) -> Iterator[Step]:
        """Everything new, up to the end. Raises LogUnreadable, StoreError and its kinds, DiskFull."""


def store(tools: Tools, batch: Batch, cursor: Cursor) -> tuple[Cursor, Step]:
    """Write what the batch holds and the cursor in one transaction; the cursor as stored and what happened."""
    moved = counted(replace(cursor, version=cursor.version + 1), batch)
    written = tools.store.write(batch.changes(moved))
    step = Step(
        written,
        lines=batch.lines,
        items=batch.items,
        truncated=batch.truncated,
        skipped=batch.skipped,
    )
    batch.clear()
    return moved, step
