"""CowAgent: rows of its workspace's `index.db` become items, rows it deleted are withdrawn (FORMATS 6, J12, J32).

A person's row is stored when the run starts, all others of the run in one batch at its end. Deleted sequence numbers
are used again, ids never: a row is known by its id, and by its time in case the database is made anew.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Literal

import msgspec
from msgspec import Struct, field

from dreamd.formats import _cowagent as cowagent
from dreamd.formats._cowagent import Block
from dreamd.formats._json import cut
from dreamd.formats._values import SQLITE, TRACE_BYTES, epoch_time, integer, joined, outcome
from dreamd.formats.base import CERTAIN, LIKELY, NO, Query, RowBatch, RowFormat, Source
from dreamd.records import Amendment, Item, Origin, Record, Role, Skip, Span, Trace, Turn

MAX_ROWS = 1000
MAX_CALLS = 100
MAX_KNOWN_ROWS = 60_000
_LATEST_SECOND = 1 << 36  # the year 4147
_CALLS, _TEXT, _MORE = 0x3F, 0x40, 0x80  # of a row's shape: how many calls, a text, a second text


class Run(Struct, array_like=True):
    """Rows with ids in sequence and one time."""

    first: int
    count: int
    at: int


class Session(Struct, array_like=True):
    runs: list[Run] = field(default_factory=list)
    shapes: bytes = b""  # a byte for each row
    forgotten: int = 0  # rows that are there but no longer remembered here
    origin: Origin = "human"
    interrupted: Origin | None = None  # of a run under way when a scheduled pair was put in
    busy: bool = False


class Call(Struct, array_like=True):
    identity: str
    arguments: str


class Progress(Struct):
    last: int = 0
    sessions: dict[str, Session] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)


class Row(Struct, frozen=True):
    id: int
    session: str
    role: str
    content: str
    at: int


_PROGRESS = msgspec.msgpack.Decoder(Progress)


class CowAgent(RowFormat):
    name = "cowagent"
    label = "cowagent"
    family: Literal["rows"] = "rows"
    places = ("cow/memory/long-term/index.db",)

    def claims(self, path: PurePath, head: bytes) -> int:
        if not head.startswith(SQLITE) or path.name.endswith(("-wal", "-shm", "-journal")):
            return NO
        if b"context_start_seq" in head or (b"CREATE TABLE messages" in head and b"msg_count" in head):
            return CERTAIN
        return LIKELY if path.parts[-3:] == ("memory", "long-term", "index.db") else NO

    def poll(self, query: Query, source: Source, state: bytes) -> RowBatch:
        progress = _PROGRESS.decode(state) if state else Progress()
        columns = _columns(query, "messages")
        if not {"id", "session_id", "role", "content"} <= columns:
            return RowBatch((Skip("schema"),), state)
        if _newest(query) < progress.last:
            progress = Progress()  # made anew or put back: read it all, known rows are known
        reading = _Reading(source, progress)
        rows = list(_rows(query, progress.last, timed="created_at" in columns))
        items = [item for row in rows for item in reading.row(row)]
        more = len(rows) == MAX_ROWS
        if not more:
            items += _deleted(query, progress)
        _forget_beyond_bounds(progress)
        return RowBatch(items, msgspec.msgpack.encode(progress), more)


def _columns(query: Query, table: str) -> set[str]:
    return {str(name) for (name,) in query("SELECT name FROM pragma_table_info(?)", table)}


def _newest(query: Query) -> int:
    """The highest id ever given, deleted rows included where the store remembers."""
    found = [integer(value) for (value,) in query("SELECT MAX(id) FROM messages")]
    if _columns(query, "sqlite_sequence"):
        found += [
            integer(value) for (value,) in query("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
        ]
    return max(found, default=0)


def _rows(query: Query, after: int, *, timed: bool) -> Iterator[Row]:
    at = "created_at" if timed else "NULL"
    sql = f"SELECT id, session_id, role, content, {at} FROM messages WHERE id > ? ORDER BY id LIMIT ?"  # noqa: S608 - fixed names
    for row_id, session, role, content, created_at in query(sql, after, MAX_ROWS):
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else str(content or "")
        yield Row(integer(row_id), str(session), str(role), text.replace("\0", ""), integer(created_at))


# Rows


class _Reading:
    def __init__(self, source: Source, progress: Progress) -> None:
        self._source = source
        self._progress = progress

    def row(self, row: Row) -> list[Item]:
        """A row's items; what it brought is remembered, so that it can be withdrawn when the row is gone."""
        self._progress.last = row.id
        session = self._progress.sessions.setdefault(row.session, Session())
        if row.role == "user":
            items = self._user(row, session)
        elif row.role == "assistant":
            items = self._assistant(row, session)
        else:
            items = [Skip("role")]
        _remember(session, row, items)
        return items or [Skip("blank")]

    def _user(self, row: Row, session: Session) -> list[Item]:
        blocks = cowagent.blocks_of(row.content)
        items = [item for block in blocks if block.type == "tool_result" for item in self._result(row, block)]
        for at, words in enumerate(cowagent.words_of(row.session, blocks)):
            if words.starts:
                session.interrupted = session.origin if words.origin == "scheduled" and session.busy else None
                session.origin = words.origin
            if words.text:
                items.append(self._text(row, words.text, "user", words.origin, "+" * at))
            if words.origin == "human" and not words.steering:
                session.busy = True
                items.append(Turn(row.session, busy=True, at=_time(row)))
        return items

    def _assistant(self, row: Row, session: Session) -> list[Item]:
        blocks = cowagent.blocks_of(row.content)
        raw = joined(cowagent.shown(block) for block in blocks)
        role, origin = self._speaker(raw, session)
        text = cowagent.cleaned(raw)
        items: list[Item] = []
        said = calls = 0
        for block in blocks:
            if text and not said and cowagent.shown(block).strip():
                items.append(self._text(row, text, role, origin))
                said = 1
            elif block.type == "tool_use" and block.name:
                items.append(self._call(row, block, calls))
                calls += 1
        return items + self._answered(row, session)

    def _speaker(self, text: str, session: Session) -> tuple[Role, Origin]:
        if cowagent.is_cancel_note(text):
            return "system", "injected"
        return "assistant", "scheduled" if cowagent.is_evolution(text) else session.origin

    def _answered(self, row: Row, session: Session) -> list[Item]:
        """A run is stored when it is over. A scheduled pair that came meanwhile is one row and ends nothing."""
        if session.interrupted is not None:
            session.origin, session.interrupted = session.interrupted, None
            return []
        if not session.busy:
            return []
        session.busy = False
        return [Turn(row.session, busy=False, at=_time(row))]

    def _call(self, row: Row, block: Block, at: int) -> Record:
        identity = f"{_identity(row.session, row.id, row.at)}:{at}"
        arguments = cut(bytes(block.input).decode("utf-8", "replace"), TRACE_BYTES)
        calls, call_id = self._progress.calls, f"{row.session}:{block.id}"
        calls.pop(call_id, None)
        calls[call_id] = Call(identity, arguments)
        while len(calls) > MAX_CALLS:
            calls.pop(next(iter(calls)))
        return Record(
            identity=identity,
            session_id=row.session,
            role="tool",
            origin="tool",
            span=self._span(row),
            tool=block.name or "",
            at=_time(row),
            trace=Trace(arguments=arguments) if arguments else None,
        )

    def _result(self, row: Row, block: Block) -> list[Item]:
        call = self._progress.calls.pop(f"{row.session}:{block.tool_use_id}", None)
        if call is None:
            return [Skip("orphan")]
        text = cowagent.result_text(block)
        ok = cowagent.result_ok(block, text)
        return [Amendment(identity=call.identity, ok=ok, trace=outcome(call.arguments, text, ok=ok))]

    def _text(self, row: Row, text: str, role: Role, origin: Origin, suffix: str = "") -> Record:
        return Record(
            identity=_identity(row.session, row.id, row.at) + suffix,
            session_id=row.session,
            role=role,
            origin=origin,
            span=self._span(row),
            text=text,
            at=_time(row),
        )

    def _span(self, row: Row) -> Span:
        content = hashlib.sha256(row.content.encode("utf-8", "replace")).digest()
        return Span(self._source.source_id, table="messages", row=str(row.id), sha256=content)


def _identity(session: str, row_id: int, at: int) -> str:
    return f"cowagent:{session}:{row_id}:{at}"


def _time(row: Row) -> datetime | None:
    """Seconds since 1970; a figure that can only be milliseconds is taken as such."""
    return epoch_time(row.at / 1000 if row.at > _LATEST_SECOND else row.at) if row.at else None


# Deletions


def _remember(session: Session, row: Row, items: Sequence[Item]) -> None:
    records = [item for item in items if isinstance(item, Record)]
    calls = sum(record.role == "tool" for record in records)
    texts = len(records) - calls
    _keep(session, row.id, row.at, min(calls, _CALLS) | _TEXT * (texts > 0) | _MORE * (texts > 1))


def _keep(session: Session, row_id: int, at: int, shape: int) -> None:
    session.shapes += bytes([shape])
    last = session.runs[-1] if session.runs else None
    if last is not None and last.first + last.count == row_id and last.at == at:
        last.count += 1
    else:
        session.runs.append(Run(row_id, 1, at))


def _deleted(query: Query, progress: Progress) -> list[Item]:
    """Retractions of rows that are gone from sessions that are still there.

    A session gone as a whole was cleared or aged out; that is no wish to take back what was said in it.
    """
    sql = "SELECT session_id, COUNT(*) FROM messages WHERE id <= ? GROUP BY session_id"
    counts = {str(name): integer(count) for name, count in query(sql, progress.last)}
    kept = set(counts)
    if "session_id" in _columns(query, "sessions"):
        kept |= {str(name) for (name,) in query("SELECT session_id FROM sessions")}
    items: list[Item] = []
    for name, session in list(progress.sessions.items()):
        if name not in kept:
            del progress.sessions[name]
        elif counts.get(name, 0) != len(session.shapes) + session.forgotten:
            items += _missing(query, name, session)
            session.forgotten = counts.get(name, 0) - len(session.shapes)
    return items


def _missing(query: Query, name: str, session: Session) -> list[Item]:
    there = {integer(row_id) for (row_id,) in query("SELECT id FROM messages WHERE session_id = ?", name)}
    items: list[Item] = []
    known = list(_known(session))
    session.runs, session.shapes = [], b""
    for row_id, at, shape in known:
        if row_id in there:
            _keep(session, row_id, at, shape)
        else:
            items += _withdrawals(_identity(name, row_id, at), shape)
    return items


def _known(session: Session) -> Iterator[tuple[int, int, int]]:
    """The session's rows as (id, time, shape)."""
    rows = ((run.first + at, run.at) for run in session.runs for at in range(run.count))
    return ((row_id, at, shape) for (row_id, at), shape in zip(rows, session.shapes, strict=True))


def _withdrawals(identity: str, shape: int) -> Iterator[Amendment]:
    suffixes = [""] * bool(shape & _TEXT) + ["+"] * bool(shape & _MORE)
    for suffix in (*suffixes, *(f":{at}" for at in range(shape & _CALLS))):
        yield Amendment(identity=identity + suffix, withdrawn=True)


def _forget_beyond_bounds(progress: Progress) -> None:
    """Let the older half of the largest session's rows go: they stay in the pool even if they are deleted here."""
    while sum(len(session.shapes) for session in progress.sessions.values()) > MAX_KNOWN_ROWS:
        largest = max(progress.sessions.values(), key=lambda session: len(session.shapes))
        known = list(_known(largest))
        half = len(known) // 2
        largest.runs, largest.shapes, largest.forgotten = [], b"", largest.forgotten + half
        for row in known[half:]:
            _keep(largest, *row)


FORMAT: RowFormat = CowAgent()
