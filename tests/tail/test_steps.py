from zoneinfo import ZoneInfo

from dreamd.clock import StillClock
from dreamd.events import silent
from dreamd.records import Record, Skip, Span
from dreamd.sections import Tail
from dreamd.stores.base import Cursor
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail.ingest import Agent, Batch, Remembered
from dreamd.tail.steps import Tools, store


def test_a_step_stores_batch_and_cursor_together_and_empties_the_batch(clock: StillClock) -> None:
    kept = InMemoryStore()
    tools = Tools(kept, clock, silent, Tail(), Agent("a", ZoneInfo("UTC"), 1000))
    batch = Batch(tools.agent, Remembered())
    record = Record(identity="i", session_id="s", role="user", origin="human", span=Span("s"), text="hi")
    batch.add([record, record, Skip("blank")], clock.now())
    batch.lines = 3
    cursor, step = store(tools, batch, Cursor(source_id="s", agent="a", path="/x", format="f", version=0))
    assert (step.written.stored, step.written.duplicates, step.lines, step.items) == (1, 1, 3, 2)
    assert (cursor.version, cursor.lines, cursor.records, cursor.skipped) == (1, 3, 2, {"blank": 1})
    assert kept.cursors() == [cursor]
    assert (batch.items, batch.lines) == (0, 0)
