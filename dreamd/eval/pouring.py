"""Lines of a world in; in the pool, through the same door as a log's records: redacted, dated, without dreamd's own words."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from dreamd.eval.truth import Line
from dreamd.stores.base import Changes, Store
from dreamd.tail.ingest import Agent, Batch, Remembered

ZONE = "UTC"
_MAX_TEXT_BYTES = 64 << 10


def pour(store: Store, lines: Sequence[Line], now: datetime) -> None:
    """Blocks; raises StoreError."""
    for agent in dict.fromkeys(line.agent for line in lines):
        batch = Batch(Agent(agent, ZoneInfo(ZONE), _MAX_TEXT_BYTES), Remembered())
        batch.add((line.record for line in lines if line.agent == agent), now)
        store.write(Changes(memories=batch.memories))
