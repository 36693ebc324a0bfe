"""Real SQLite stores for the tests of row formats: built from a `.sql` sample, read as the tail reads them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from dreamd.formats.base import RowFormat, Source
from dreamd.records import Item

MAX_POLLS = 1000


class Database:
    """A `Query` over one read-only connection."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def __call__(self, sql: str, /, *args: object) -> Iterator[tuple[object, ...]]:
        return iter(self.connection.execute(sql, args))


def source_of(path: Path) -> Source:
    return Source(source_id=str(path), path=path, root=path, zone="Asia/Shanghai")


def polled(format_: RowFormat, path: Path, state: bytes = b"") -> tuple[list[Item], bytes]:
    """Everything new in a store, batch by batch until there is no more, and the new state."""
    items: list[Item] = []
    database = Database(path)
    with closing(database.connection):
        for _ in range(MAX_POLLS):
            batch = format_.poll(database, source_of(path), state)
            items += batch.items
            state = batch.state
            if not batch.more:
                return items, state
    raise AssertionError("the store never comes to its end")


def built(sql: Path, path: Path) -> Path:
    """A store made from a `.sql` file."""
    run(path, sql.read_text(encoding="utf-8"))
    return path


def run(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"BEGIN; {script}; COMMIT;")
