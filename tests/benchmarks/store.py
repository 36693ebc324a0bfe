"""How fast the SQLite store takes raw memories and answers: `python -m tests.benchmarks.store [ROWS]`.

Prints rows a second over the whole run and over its last tenth (the id index grows, so the end is what counts), the
time of a commit, the time of the common questions at that size, and the process's peak memory. Not a test: no figure is
asserted.
"""

import contextlib
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from dreamd.memories import Memory, raw_id
from dreamd.records import Amendment, Span, Trust
from dreamd.stores.base import Changes, Cursor, MemoryQuery, Store
from dreamd.stores.sqlite import SqliteStore

BATCH = 1000
DAYS = 30
START = datetime(2026, 3, 1, tzinfo=UTC)
TEXT = (
    "Please look at the failing test in the parser module and tell me what you think. " * 3 + "谢谢，请继续。"
)


def memory(number: int, rows: int) -> Memory:
    """One of `rows` messages spread evenly over the days, as a log of a coding agent would give."""
    at = START + timedelta(seconds=number * DAYS * 86400 // rows)
    return Memory(
        memory_id=raw_id("ada", str(number)),
        type="raw",
        content=f"{number} {TEXT}",
        agent="ada",
        window=at.date(),
        received_at=at,
        timestamp=at,
        session_id=f"5f0c9a52-6d0e-4c0a-9d3e-{number // 2000:012d}",
        task_id=f"5f0c9a52-6d0e-4c0a-9d3e-{number // 2000:012d}",
        role="user",
        origin="human",
        trust=Trust.HUMAN,
        project="/home/ada/parser",
        span=Span(f"log-{number // 2000}", number * 2500 % 5_000_000, 2500, b"\x07" * 32),
    )


def show(label: str, value: float, unit: str = "") -> None:
    print(f"  {label:42} {value:12,.2f} {unit}")


def ingest(store: Store, rows: int) -> None:
    """Write all rows in batches, each with its cursor."""
    seconds = []
    cpu = 0.0
    for version, first in enumerate(range(0, rows, BATCH), 1):
        memories = [memory(number, rows) for number in range(first, first + BATCH)]
        cursor = Cursor(source_id="log", agent="ada", path="/logs/a", format="codex", version=version)
        began, began_cpu = time.perf_counter(), time.process_time()
        store.write(Changes(memories=memories, cursor=cursor))
        seconds.append(time.perf_counter() - began)
        cpu += time.process_time() - began_cpu
    tenth = seconds[-max(1, len(seconds) // 10) :]
    show("rows a second", rows / sum(seconds))
    show("rows a second of processor time", rows / cpu)
    show("rows a second, last tenth", BATCH * len(tenth) / sum(tenth))
    quantiles = statistics.quantiles(seconds, n=100)
    show("a batch, p50", quantiles[49] * 1000, "ms")
    show("a batch, p99 (checkpoints)", quantiles[98] * 1000, "ms")


def amend(store: Store, rows: int) -> None:
    changes = [
        (raw_id("ada", str(n)), Amendment(identity="", ok=True)) for n in range(0, rows, rows // BATCH)
    ]
    began = time.perf_counter()
    store.write(Changes(amendments=changes))
    show("amendments a second", len(changes) / (time.perf_counter() - began))


def commit(store: Store, *, durable: bool) -> None:
    seconds = []
    for number in range(100):
        began = time.perf_counter()
        store.write(Changes(meta={"number": str(number)}, durable=durable))
        seconds.append(time.perf_counter() - began)
    show(
        f"a one-row commit, {'durable' if durable else 'normal'}, p50",
        statistics.median(seconds) * 1000,
        "ms",
    )


def ask(label: str, question: Callable[[], Iterable[object]]) -> None:
    began = time.perf_counter()
    count = sum(1 for _ in question())
    show(label, (time.perf_counter() - began) * 1000, f"ms for {count:,}")


def questions(store: Store) -> None:
    day = date(2026, 3, 15)
    hundred = tuple(raw_id("ada", str(number)) for number in range(100))

    def query(**fields: object) -> Callable[[], Iterable[object]]:
        return lambda: store.memories(replace(MemoryQuery(agent="ada"), **fields))

    ask("windows", lambda: store.windows("ada"))
    ask("unfiled of a day", query(window=day, filed=False))
    ask("three days", query(since=day, until=day + timedelta(days=2)))
    ask("by 100 ids", query(ids=hundred))
    ask("summaries", query(types=("summary",)))
    ask("a session, by walking", query(session_id="none"))
    ask("everything, streamed", query())


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(SqliteStore(Path(folder))) as store:
        print(f"{rows:,} rows in batches of {BATCH:,}")
        ingest(store, rows)
        amend(store, rows)
        commit(store, durable=False)
        commit(store, durable=True)
        show("bytes a row on disk", (Path(folder) / "pool.db").stat().st_size / rows)
        questions(store)
        show("peak memory of the process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
