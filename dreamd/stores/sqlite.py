"""The default store: one SQLite file in the state folder, shared by threads and by processes.

Law: what a write was given is there whole or not at all, after a SIGKILL at any instant too. One connection writes,
under a lock; readers have connections of their own and never wait for it (WAL). No read transaction outlives a page of
rows, so that the WAL can always be taken back into the database.
"""

import contextlib
import sqlite3
import threading
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from itertools import chain, islice
from os.path import samestat
from pathlib import Path
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from dreamd import _plugins
from dreamd.archives.base import Blocks, Place
from dreamd.errors import DiskFull, StoreBusy, StoreError
from dreamd.memories import Memory
from dreamd.records import Origin
from dreamd.stores import _sql
from dreamd.stores import _sqlite_rows as rows
from dreamd.stores._following import ALL, followed
from dreamd.stores._sql import listed
from dreamd.stores._sqlite_erasing import Erasing, tombstones_of
from dreamd.stores._sqlite_errors import full, is_full, told
from dreamd.stores._sqlite_files import Ballast, connect, made_private, prepare, roll_back
from dreamd.stores._sqlite_writing import Writing
from dreamd.stores._tombstones import Register
from dreamd.stores.base import (
    Changes,
    Contradiction,
    Cursor,
    FileVersion,
    Held,
    JournalEntry,
    LedgerRow,
    LineEvidence,
    Mark,
    MemoryQuery,
    News,
    Phase,
    RunState,
    Slot,
    Spent,
    Store,
    TurnState,
    WindowCount,
    Written,
)

PAGE = 500  # memories that a reader holds at once
ARCHIVE = "archive"  # folder of the state folder
_BURIED = "tombstones.read"  # bytes of the register that the database knows
_TRIES = 3
WAIT_S = 10.0  # how long a write waits for another process's

Shape = TypeVar("Shape")


class SqliteStore(Store):
    def __init__(self, state: Path, *, wait_s: float = WAIT_S) -> None:
        """Open or make `pool.db` in the state folder.

        Raises StoreTooNew, StoreCorrupt, StoreBusy, StoreError (no permission), DiskFull.
        """
        home = _sql.folder("sqlite")
        migrations = _sql.migrations(home)
        self._sql = _sql.queries(home)
        self._wait_s = wait_s
        self._path = made_private(state, migrations)
        self._ballast = Ballast(self._path)
        self._idle: list[sqlite3.Connection] = []  # readers' connections that nobody uses now
        self._idle_lock = threading.Lock()
        self._closed = False
        self._blocks: Blocks | None = None
        self._lock = threading.Lock()  # the writer's
        try:
            self._writer = self._opened(migrations)
        except DiskFull:
            self._ballast.drop()
            self._writer = self._opened(migrations)
        self._erasing = Erasing(self._writer, self._sql, self._archive)
        self._writing = Writing(self._writer, self._sql, self._erasing)
        self._register = Register(state)
        self._file = self._path.stat()
        self._bury()

    def _opened(self, migrations: list[_sql.Migration]) -> sqlite3.Connection:
        with told(self._path):
            connection = connect(self._path, self._wait_s)
            try:
                prepare(connection, self._path, migrations)
            except BaseException:
                connection.close()
                raise
        return connection

    def write(self, changes: Changes) -> Written:
        if changes.erased:
            self._register.add(tombstones_of(changes.erased))
        done = partial(self._writing.apply, changes)
        return self._written(done, durable=changes.durable or changes.erased is not None)

    def _written(self, work: Callable[[], Shape], *, durable: bool) -> Shape:
        """What `work` returns, done in a transaction."""
        with self._lock:
            self._check_open()
            self._check_there()
            try:
                with told(self._path):
                    done = self._transact(work, durable=durable)
            except DiskFull:
                self._make_room()
                raise
            self._ballast.keep()
        return done

    def archive(self, before: date) -> int:
        moved, after = 0, 0
        while True:
            page = self._written(partial(self._erasing.archive, after, before.isoformat()), durable=False)
            if page is None:
                return moved
            after, count = page
            moved += count

    def check_room(self) -> None:
        if is_full(self._path):  # a short write may still go through: the WAL has room of its own
            raise full(self._path)

    def purge(self) -> None:
        """By writing all of the database anew: freed and half-filled pages hold what was there before."""
        if (self._path.parent / ARCHIVE).exists():
            self._written(self._erasing.sweep, durable=True)
        with self._lock, told(self._path):
            self._check_open()
            self._writer.execute("VACUUM")
            (busy, *_) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise StoreBusy(f"{self._path} is read by another process all the while", hint="try again")

    def _bury(self) -> None:
        """What the register knows and the database does not: it was made anew."""
        known = self.meta(_BURIED)
        if self._register.size == int(known or 0):
            return
        size, tombstones = self._register.size, self._register.read()
        self._written(partial(self._erasing.bury, tombstones), durable=False)
        self.write(Changes(meta={_BURIED: str(size)}))

    def _archive(self) -> Blocks:
        if self._blocks is None:
            opening = cast("Callable[[Path], Blocks]", _plugins.load("archives", "files", "OPEN"))
            self._blocks = opening(self._path.parent / ARCHIVE)
        return self._blocks

    def _check_there(self) -> None:
        """What is written to a file that was removed is lost, though every write succeeds."""
        try:
            there = samestat(self._path.stat(), self._file)
        except OSError:
            there = False
        if not there:
            raise StoreError(f"{self._path} was moved or removed while it is in use", hint="restart dreamd")

    def _transact(self, work: Callable[[], Shape], *, durable: bool) -> Shape:
        self._writer.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            done = work()
            self._writer.execute("COMMIT")
        except BaseException:
            self._undo()
            raise
        return done

    def _undo(self) -> None:
        self._writing.forget()
        roll_back(self._writer)

    def _make_room(self) -> None:
        self._ballast.drop()
        with contextlib.suppress(sqlite3.Error):  # the full disk is told already
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def cursors(self, agent: str | None = None, source_id: str | None = None) -> list[Cursor]:
        name = "cursors" if source_id is None else "cursor"
        return self._read(name, {"agent": agent, "source_id": source_id}, rows.cursor_of)

    def memories(self, query: MemoryQuery) -> Iterator[Memory]:
        asked = rows.filters(query) | {"after": query.after_seq}
        if query.seqs is None:  # else nothing that comes meanwhile could come in
            asked["last"] = self._read("last_seq", (), _first)[0]
        seqs = self._seqs(query, asked)
        pages = self._walked(query, asked) if seqs is None else self._picked(seqs, asked)
        return islice(chain.from_iterable(pages), query.limit)

    def news(self, after: Mark, limit: int) -> News:
        ((known, last, newest),) = self._read("newest", (after.seq,), tuple)
        if (after.seq and known != after.memory_id) or newest < after.touch:
            return News(mark=Mark(), restart=True, more=True)
        unread = limit and last > after.seq
        fresh = list(islice(self.memories(replace(ALL, after_seq=after.seq)), limit)) if unread else []
        touched = self._read("touched_after", (after.touch, limit), tuple) if newest > after.touch else []
        return followed(after, fresh, touched, self._standing([seq for _, seq in touched]), limit)

    def _standing(self, seqs: Sequence[int]) -> list[Memory]:
        return list(self.memories(replace(ALL, seqs=tuple(seqs)))) if seqs else []

    def windows(self, agent: str, origins: tuple[Origin, ...] = ()) -> list[WindowCount]:
        asked = {"agent": agent, "origins": listed(origins or None)}
        return self._read("day_counts", asked, rows.window_of)

    def ledger(
        self,
        agent: str | None = None,
        phase: Phase | None = None,
        since: date | None = None,
        state: RunState | None = None,
    ) -> list[LedgerRow]:
        asked = {"agent": agent, "phase": phase, "since": rows.iso(since), "state": state}
        return self._read("ledger", asked, rows.ledger_of)

    def journalled(self, key: str) -> JournalEntry | None:
        return next(iter(self._read("journal_entry", (key,), rows.journal_of)), None)

    def evidence(self, agent: str) -> dict[str, LineEvidence]:
        return {row.line: row for row in self._read("evidence", (agent,), rows.line_of)}

    def versions(self, agent: str, limit: int | None = None) -> list[FileVersion]:
        asked = {"agent": agent, "limit": -1 if limit is None else limit}
        return self._read("versions", asked, rows.version_of)

    def held(self, agent: str | None = None) -> list[Held]:
        return self._read("held", {"agent": agent}, rows.held_of)

    def turns(self, agent: str | None = None) -> list[TurnState]:
        return self._read("turns", {"agent": agent}, rows.turn_of)

    def contradictions(self, agent: str) -> list[Contradiction]:
        return self._read("contradictions", (agent,), rows.contradiction_of)

    def slots(self) -> list[Slot]:
        return self._read("slots", (), rows.slot_of)

    def spent(self, since: datetime) -> list[Spent]:
        return self._read("spent", (rows.micros(since),), rows.spent_of)

    def meta(self, key: str) -> str | None:
        return next(iter(self._read("meta", (key,), _first)), None)

    def close(self) -> None:
        with self._lock, self._idle_lock, told(self._path):
            self._closed = True
            for connection in (*self._idle, self._writer):
                connection.close()
            self._idle.clear()

    def _seqs(self, query: MemoryQuery, asked: Mapping[str, object]) -> Sequence[int] | None:
        """Where all that may be wanted stands, eight bytes each; None where walking in order is quicker."""
        if query.seqs is not None:
            return array("q", sorted(set(query.seqs)))
        if query.ids is not None:
            name, more = "seqs_by_id", {"ids": listed(query.ids)}
        elif query.id_prefix:
            name, more = "seqs_by_prefix", {}
        elif query.rests_on is not None:
            name, more = "seqs_by_ref", {}
        elif query.agent is not None and query.window is None and (query.since or query.until):
            name, more = "seqs_of_days", {}
        elif query.types and "raw" not in query.types:
            name, more = "seqs_of_derived", {}
        else:
            return None
        with self._reader() as connection:
            return array("q", chain.from_iterable(connection.execute(self._sql[name], {**asked, **more})))

    def _picked(self, seqs: Sequence[int], asked: Mapping[str, object]) -> Iterator[list[Memory]]:
        for start in range(0, len(seqs), PAGE):
            page = listed(seqs[start : start + PAGE])
            yield self._read("memories_by_seq", {**asked, "seqs": page}, self._memory_of)

    def _walked(self, query: MemoryQuery, asked: Mapping[str, object]) -> Iterator[list[Memory]]:
        one_day = query.agent is not None and query.window is not None
        name = "memories_of_day" if one_day else "memories_in_order"
        size = PAGE if query.limit is None else min(PAGE, query.limit)
        after = query.after_seq
        while page := self._read(name, {**asked, "after": after, "page": size}, self._memory_of):
            yield page
            after = page[-1].seq

    def _memory_of(self, row: rows.Row) -> Memory:
        memory, block = rows.memory_of(row), row[28]
        if block is None or block < 0:
            return memory
        for _ in range(_TRIES):
            places = self._read("block", (block,), Place._make)
            if not places:
                break
            with contextlib.suppress(FileNotFoundError):  # rewritten this very moment
                return rows.with_text(memory, self._archive().read(places[0]).get(memory.memory_id))
        return rows.with_text(memory, None)

    def _read(
        self, name: str, asked: rows.Row | Mapping[str, object], shape: Callable[[rows.Row], Shape]
    ) -> list[Shape]:
        with self._reader() as connection:
            return [shape(row) for row in connection.execute(self._sql[name], asked)]

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection that is nobody else's meanwhile."""
        with told(self._path):
            connection = self._taken()
            try:
                yield connection
            finally:
                self._given_back(connection)

    def _taken(self) -> sqlite3.Connection:
        with self._idle_lock:
            self._check_open()
            if self._idle:
                return self._idle.pop()
        return connect(self._path, self._wait_s, read_only=True)

    def _given_back(self, connection: sqlite3.Connection) -> None:
        with self._idle_lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self._path} is closed")


def _first(row: rows.Row) -> Any:
    return row[0]


OPEN: Callable[[Path], Store] = SqliteStore
