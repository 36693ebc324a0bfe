"""One line log read on from its cursor: chunks to lines to items to the pool, a transaction every few chunks.

Law: a line counts when its newline has come, or when the log is at rest and the line is a whole JSON object (J3);
what was read and how far are stored together, so a kill at any instant neither loses nor repeats.
"""

from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from dreamd.events import LINE_TRUNCATED, SOURCE_REWRITTEN
from dreamd.formats.base import LineReader
from dreamd.records import Span
from dreamd.stores.base import Cursor, Fingerprint
from dreamd.tail.fingerprint import HEAD_BYTES, TAIL_BYTES, Observed, fingerprint, tail_of, what_happened
from dreamd.tail.ingest import BATCH_BYTES, Batch, Remembered, remembered, state_of
from dreamd.tail.lines import Line, Splitter
from dreamd.tail.logfile import CHUNK_BYTES, LogFile, opened
from dreamd.tail.steps import How, OpenSource, Step, Tools, store

_DUMP_EVERY_BYTES = 4 << 20  # at most about so much is fed again after a restart
_CHEAP_DUMP_BYTES = 16 << 10
_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class LineLog(OpenSource):
    """A log with its reader in memory. `open_reader` makes the format's reader from a dump."""

    def __init__(self, tools: Tools, cursor: Cursor, open_reader: Callable[[bytes], LineReader]) -> None:
        self.cursor = cursor
        self.known = Remembered()
        self._tools = tools
        self._open_reader = open_reader
        self._reader: LineReader | None = None

    def read(self, path: str, how: How) -> Iterator[Step]:
        with opened(path) as file:
            self._recognise(file)
            reader = self._opened(file)
            yield from _Pass(self._tools, self, reader, file).steps(how)

    def _recognise(self, file: LogFile) -> None:
        """Read on at the offset, or from the beginning with a fresh reader."""
        cursor = self.cursor
        tail = file.before(cursor.offset, cursor.tail_length) if cursor.offset else b""
        observed = Observed(file.stamp.device, file.stamp.inode, file.head(HEAD_BYTES), tail)
        happened = what_happened(cursor, observed)
        if happened in ("truncated", "rewritten"):
            self._tools.emit(SOURCE_REWRITTEN, agent=cursor.agent, path=file.path, what=happened)
            self.cursor = replace(
                cursor,
                offset=0,
                tail_length=0,
                tail_sha256=b"",
                state=state_of(Remembered(respan=True)),
                state_offset=0,
            )
            self._reader = None

    def _opened(self, file: LogFile) -> LineReader:
        """The reader as it was at the offset: from its dump, with the lines since then fed once more."""
        if self._reader is None:
            self.known = remembered(self.cursor.state)
            self._reader = self._open_reader(self.known.reader)
            start, end = self.cursor.state_offset, self.cursor.offset
            _Pass(self._tools, self, self._reader, file).feed_again(start, end)
        return self._reader


class _Pass:
    """One reading of an open file, from the cursor to the end."""

    def __init__(self, tools: Tools, log: LineLog, reader: LineReader, file: LogFile) -> None:
        self._tools = tools
        self._log = log
        self._reader = reader
        self._file = file
        self._now = tools.clock.now()
        self._head = file.head(HEAD_BYTES)
        self._batch = Batch(tools.agent, log.known)
        self._splitter = Splitter(log.cursor.offset, tools.settings.max_line_bytes)
        self._newly_settled = False
        self._chunk, self._chunk_end = b"", log.cursor.offset
        self._lead = b""  # the TAIL_BYTES before the chunk
        self._tail = b""  # those before the last line's end, as of the chunk before

    def feed_again(self, start: int, end: int) -> None:
        splitter = Splitter(start, self._tools.settings.max_line_bytes)
        for chunk in self._file.chunks(start, end):
            for line in splitter.feed(chunk):
                self._feed(line)
            self._batch.clear()
        if rest := splitter.rest():
            self._feed(rest)
        self._batch.clear()

    def steps(self, how: How) -> Iterator[Step]:
        offset = self._log.cursor.offset
        self._lead = self._tail = self._file.before(offset, min(offset, TAIL_BYTES)) or b""
        for chunk in self._file.chunks(offset):
            self._turn_to(chunk)
            for line in self._splitter.feed(chunk):
                self._take(line)
                if self._batch.full or how.enough():
                    yield self._write()
                    how.between(self._file.path)
            if len(chunk) < CHUNK_BYTES:
                continue  # the end: what is left goes into the last transaction
            stopping = how.stopping()
            if self._unstored >= (1 if stopping else BATCH_BYTES):
                yield self._write()
            if stopping:
                return
            how.between(self._file.path)
        yield from self._end(how)

    def _turn_to(self, chunk: bytes) -> None:
        self._tail = self._last_read()
        self._lead = (self._lead + self._chunk[-TAIL_BYTES:])[-TAIL_BYTES:]
        self._chunk = chunk
        self._chunk_end += len(chunk)

    def _last_read(self) -> bytes:
        """The TAIL_BYTES before the last line's end, which may lie several chunks back."""
        end = len(self._chunk) - (self._chunk_end - self._splitter.offset)
        if end < 0:
            return self._tail
        return (self._lead + self._chunk[max(0, end - TAIL_BYTES) : end])[-TAIL_BYTES:]

    @property
    def _unstored(self) -> int:
        """Bytes of the log taken since the last transaction."""
        return self._splitter.offset - self._log.cursor.offset

    def _has_news(self) -> bool:
        return self._unstored > 0 or self._batch.items > 0

    def _end(self, how: How) -> Iterator[Step]:
        """The end of the log: settle if asked to, and store what is not stored yet."""
        known, settled = self._log.known, how.settle and self._settle()
        if known.respan and how.settle:  # until then a last line without newline waits for its new place
            yield self._write()
            known.respan = False
            settled = True
        behind = self._log.cursor.state_offset < self._splitter.offset or self._newly_settled
        dump = settled or (behind and self._dump_is_cheap())
        if dump or self._has_news() or self._has_moved():
            yield self._write(dump=dump)

    def _has_moved(self) -> bool:
        known = self._log.cursor
        return known.path != self._file.path or known.fingerprint != self._fingerprint()

    def _settle(self) -> bool:
        """Take a whole last line without newline and what the reader held back. Whether there was any."""
        before = self._batch.items
        rest = self._splitter.rest()
        if rest and _is_object(rest.content):
            self._take(rest)
            self._splitter.take_rest()
        self._batch.add(self._reader.settle(), self._now)
        self._newly_settled = self._log.known.settled != self._splitter.offset
        self._log.known.settled = self._splitter.offset
        return self._batch.items > before

    def _take(self, line: Line) -> None:
        if line.cut:
            self._batch.truncated += 1
            where = {"path": self._file.path, "offset": line.offset, "length": line.length}
            self._tools.emit(LINE_TRUNCATED, agent=self._log.cursor.agent, **where)
        self._feed(line)

    def _feed(self, line: Line) -> None:
        if not line.content or line.content.isspace():
            return
        span = Span(self._log.cursor.source_id, line.offset, line.length, line.sha256)
        self._batch.lines += 1
        self._batch.add(self._reader.feed(line.content, span), self._now)

    def _write(self, *, dump: bool = False) -> Step:
        before, offset = self._log.cursor, self._splitter.offset
        tail_length, tail_sha256 = tail_of(self._last_read())
        cursor = replace(
            before,
            path=self._file.path,
            fingerprint=self._fingerprint(),
            offset=offset,
            tail_length=tail_length,
            tail_sha256=tail_sha256,
            read_at=self._now,
        )
        if dump or offset - before.state_offset >= _DUMP_EVERY_BYTES:
            self._log.known.reader = self._reader.dump()
            cursor = replace(cursor, state=state_of(self._log.known), state_offset=offset)
        self._log.cursor, step = store(self._tools, self._batch, cursor)
        return step._replace(read=offset - before.offset)

    def _dump_is_cheap(self) -> bool:
        size, since = len(self._log.known.reader), self._log.cursor.offset - self._log.cursor.state_offset
        return size <= _CHEAP_DUMP_BYTES or since >= 4 * size

    def _fingerprint(self) -> Fingerprint:
        stamp = self._file.stamp
        return fingerprint(stamp.device, stamp.inode, self._head, self._splitter.offset)


def _is_object(line: bytes) -> bool:
    try:
        _object(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
