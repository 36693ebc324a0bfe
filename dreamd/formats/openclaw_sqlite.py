"""OpenClaw since 2026.8.1: rows of an agent's `openclaw-agent.sqlite`, the same entries as its JSONL (FORMATS 5).

The state keeps how far each session was read, and the trees of the latest ones only: a tree that was let go is read
again from the database, silently, when its session goes on.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Literal

import msgspec
import zstandard
from msgspec import Struct, field
from msgspec.structs import replace

from dreamd.formats._openclaw import LABEL
from dreamd.formats._openclaw_tree import State, Transcript
from dreamd.formats._values import SQLITE, integer
from dreamd.formats.base import CERTAIN, NO, Query, RowBatch, RowFormat, Source
from dreamd.records import Item, Skip, Span

MAX_ROWS = 1000
MAX_TREE_NODES = 12_000
_NODES_OF_A_CALL = 100  # what a call under way weighs in the state
MAX_ARCHIVE_BYTES = 256 << 20
MAX_EVENT_BYTES = 32 << 20  # unpacked; OpenClaw itself packs up to 4 MiB
_ARCHIVE_COLUMNS = frozenset(
    {"session_id", "generation", "session_key", "reason", "encoding", "archive_blob", "created_at"}
)
_OVER = frozenset({"done", "failed", "killed", "timeout"})


class Seen(Struct, array_like=True):
    """How far a session was read."""

    seq: int = -1
    count: int = 0
    generation: str = ""


class Archive(Struct, array_like=True, frozen=True, order=True):
    """Where an archived transcript stands in the order of reading."""

    created_at: int = -1
    session: str = ""
    generation: str = ""


class Progress(Struct):
    seen: dict[str, Seen] = field(default_factory=dict)
    trees: dict[str, State] = field(default_factory=dict)  # latest last
    archive: Archive = Archive()


class Window(Struct, frozen=True):
    """What the store says of a session beside its entries."""

    key: str = ""
    created_at: int = 0
    status: str = ""
    generation: str = ""


_PROGRESS = msgspec.msgpack.Decoder(Progress)


class OpenClawSqlite(RowFormat):
    name = "openclaw_sqlite"
    label = LABEL
    family: Literal["rows"] = "rows"
    places = (".openclaw/agents/*/agent/openclaw-agent.sqlite",)

    def claims(self, path: PurePath, head: bytes) -> int:
        if not head.startswith(SQLITE):
            return NO
        return CERTAIN if path.name == "openclaw-agent.sqlite" or b"transcript_events" in head else NO

    def poll(self, query: Query, source: Source, state: bytes) -> RowBatch:
        progress = _PROGRESS.decode(state) if state else Progress()
        reading = _Reading(query, source, progress)
        items, more = reading.batch()
        return RowBatch(items, msgspec.msgpack.encode(progress), more)


class _Reading:
    def __init__(self, query: Query, source: Source, progress: Progress) -> None:
        self._query = query
        self._source = source
        self._progress = progress
        self._tables = {str(name) for (name,) in query("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self._entry_columns = self._columns("transcript_events")

    def batch(self) -> tuple[Sequence[Item], bool]:
        if not {"session_id", "seq", "event_json"} <= self._entry_columns:
            return (Skip("schema"),), False
        items, left = list[Item](), MAX_ROWS
        windows = self._windows()
        for session, count, last in self._grown(windows):
            if left <= 0:
                return items, True
            taken, read = self._session(session, windows.get(session, Window()), (count, last), left)
            items += taken
            left -= read
        items += self._ended(windows)
        archived, more = self._archived() if left > 0 else ([], True)
        self._let_trees_go()
        return items + archived, more

    def _columns(self, table: str) -> set[str]:
        if table not in self._tables:
            return set()
        return {str(name) for (name,) in self._query("SELECT name FROM pragma_table_info(?)", table)}

    def _windows(self) -> dict[str, Window]:
        """The sessions' keys, ages, states and rewrite marks, as far as this version of the store has them."""
        keys = dict(self._pairs("session_nodes", "current_session_id", "session_key"))
        known = self._columns("session_windows")
        marks = dict(self._pairs("transcript_rewrite_watermarks", "session_id", "generation"))
        windows = {
            session: Window(str(key), generation=str(marks.get(session, ""))) for session, key in keys.items()
        }
        if "session_id" not in known:
            return windows
        wanted = [name if name in known else "NULL" for name in ("session_key", "created_at", "status")]
        rows = self._query(f"SELECT session_id, {', '.join(wanted)} FROM session_windows")  # noqa: S608 - fixed names
        for session, key, created_at, status in rows:
            windows[str(session)] = Window(
                str(key or keys.get(str(session), "")),
                created_at if isinstance(created_at, int) else 0,
                str(status or ""),
                str(marks.get(str(session), "")),
            )
        return windows

    def _pairs(self, table: str, name: str, value: str) -> Iterator[tuple[str, object]]:
        if not {name, value} <= self._columns(table):
            return
        for row_name, row_value in self._query(f"SELECT {name}, {value} FROM {table}"):  # noqa: S608 - fixed names
            yield str(row_name), row_value

    def _grown(self, windows: dict[str, Window]) -> list[tuple[str, int, int]]:
        """Sessions with something new or rewritten, oldest first, with their count of rows and last seq."""
        found, there = [], dict[str, Seen]()
        rows = self._query("SELECT session_id, COUNT(*), MAX(seq) FROM transcript_events GROUP BY session_id")
        for name, count, last in rows:
            session, seen = str(name), self._progress.seen.get(str(name), Seen())
            generation = windows.get(session, Window()).generation
            if seen.seq >= 0:
                there[session] = seen
            if (seen.seq, seen.count) != (last, count) or (seen.seq >= 0 and seen.generation != generation):
                found.append((session, integer(count), integer(last)))
        self._progress.seen = there  # a session that is gone was archived or pruned; its records stay
        return sorted(found, key=lambda grown: (windows.get(grown[0], Window()).created_at, grown[0]))

    def _session(
        self, session: str, window: Window, extent: tuple[int, int], left: int
    ) -> tuple[list[Item], int]:
        """The items of up to `left` new rows of a session, and how many rows that were."""
        seen = self._progress.seen.setdefault(session, Seen(generation=window.generation))
        transcript = self._transcript(session, window, seen)
        items: list[Item] = []
        read = 0
        for seq, data, span in self._rows(session, seen.seq, left):
            items += transcript.read(data, span)
            seen.seq, read = seq, read + 1
        seen.count += read
        self._progress.trees[session] = transcript.state
        if read < left and (seen.seq, seen.count, seen.generation) != (
            extent[1],
            extent[0],
            window.generation,
        ):
            again, rows = self._rewritten(session, window, extent)
            return items + again, read + rows
        return items, read

    def _transcript(self, session: str, window: Window, seen: Seen) -> Transcript:
        """The session's tree as it was left, from the state or from the rows once more."""
        tree = self._progress.trees.pop(session, None)
        if tree is not None:
            return Transcript(tree)
        transcript = Transcript(State(session=session, key=window.key))
        if seen.seq >= 0:
            for _, data, span in self._rows(session, -1, -1, seen.seq):
                transcript.read(data, span)
        return transcript

    def _rewritten(self, session: str, window: Window, extent: tuple[int, int]) -> tuple[list[Item], int]:
        """A session whose rows were replaced is read anew; what vanished behind something that stayed is withdrawn."""
        before = self._progress.trees[session]
        transcript = Transcript(State(session=session, key=window.key))
        items: list[Item] = []
        for _, data, span in self._rows(session, -1, -1):
            items += transcript.read(data, span)
        items += transcript.rewritten(before, items)
        self._progress.trees[session] = transcript.state
        self._progress.seen[session] = Seen(extent[1], extent[0], window.generation)
        return items, extent[0]

    def _rows(
        self, session: str, after: int, limit: int, until: int | None = None
    ) -> Iterator[tuple[int, bytes, Span]]:
        # since 2026.9 most entries of 1 KiB and more are compressed
        packed_column = "event_zstd" if "event_zstd" in self._entry_columns else "NULL"
        sql = (
            f"SELECT seq, event_json, {packed_column} FROM transcript_events"  # noqa: S608 - fixed names
            " WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        )
        for seq, event, packed in self._query(sql, session, after, 2**62 if until is None else until, limit):
            data = _entry(event, packed)
            yield (
                integer(seq),
                data.replace(b"\0", b""),
                self._span("transcript_events", f"{session}:{seq}", data),
            )

    def _span(self, table: str, row: str, data: bytes) -> Span:
        return Span(self._source.source_id, table=table, row=row, sha256=hashlib.sha256(data).digest())

    def _ended(self, windows: dict[str, Window]) -> list[Item]:
        items: list[Item] = []
        for session, tree in self._progress.trees.items():
            if tree.busy and windows.get(session, Window()).status in _OVER:
                items += Transcript(tree).idle()
        return items

    # Reset sessions whose rows were put away as one blob

    def _archived(self) -> tuple[list[Item], bool]:
        """The next archived transcript, and whether there are more. What a person deleted is not read (J30)."""
        if not self._columns("session_transcript_archives") >= _ARCHIVE_COLUMNS:
            return [], False
        last = self._progress.archive
        rows = self._query(
            "SELECT created_at, session_id, generation, session_key, encoding, archive_blob"
            " FROM session_transcript_archives"
            " WHERE reason = 'reset' AND (created_at, session_id, generation) > (?, ?, ?)"
            " ORDER BY created_at, session_id, generation LIMIT 1",
            last.created_at,
            last.session,
            last.generation,
        )
        for created_at, session, generation, key, encoding, blob in rows:
            self._progress.archive = Archive(integer(created_at), str(session), str(generation))
            data = blob if isinstance(blob, bytes) else str(blob).encode()
            span = self._span("session_transcript_archives", f"{session}:{generation}", data)
            return _unpacked(State(session=str(session), key=str(key)), span, str(encoding), data), True
        return [], False

    def _let_trees_go(self) -> None:
        """Keep the trees of the latest sessions within bounds, and those whose turn is under way."""
        trees, kept = self._progress.trees, 0
        for session in reversed(list(trees)):
            kept += len(trees[session].nodes) + _NODES_OF_A_CALL * len(trees[session].calls)
            if kept > MAX_TREE_NODES:
                del trees[session]


def _entry(event: object, packed: object) -> bytes:
    """An entry's own bytes, the same whether the store has packed it or not; a broken pack is no entry."""
    if event is None and isinstance(packed, bytes):
        try:
            return zstandard.ZstdDecompressor().stream_reader(packed).read(MAX_EVENT_BYTES)
        except zstandard.ZstdError:
            return packed
    return event if isinstance(event, bytes) else str(event).encode("utf-8", "replace")


def _unpacked(state: State, span: Span, encoding: str, blob: bytes) -> list[Item]:
    transcript = Transcript(state)
    items: list[Item] = []
    try:
        for line, at in _lines(blob, encoding):
            items += transcript.read(line, replace(span, offset=at, length=len(line)))
    except zstandard.ZstdError:
        items.append(Skip("archive"))
    return items


def _lines(blob: bytes, encoding: str) -> Iterator[tuple[bytes, int]]:
    """The lines of an archived transcript with their offsets in it."""
    chunks: Iterable[bytes] = (blob,)
    if encoding == "zstd":
        chunks = zstandard.ZstdDecompressor().read_to_iter(blob)
    rest, at, total = b"", 0, 0
    for chunk in chunks:
        total += len(chunk)
        if total > MAX_ARCHIVE_BYTES:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield line, at
            at += len(line) + 1
    if rest.strip():
        yield rest, at


FORMAT: RowFormat = OpenClawSqlite()
