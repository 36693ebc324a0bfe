"""The protocols of a session-log format, and what they are given.

A format is one file here: bytes or rows go in, items (records, amendments, turns, skips) come out. No I/O of its
own: it is handed lines, a query function or bytes, and `Surroundings` for the few facts that lie in a neighbouring
file. Three families:

* line logs  - `LineFormat` opens a `LineReader` per source; the tail feeds it every complete line in order;
* row stores - `RowFormat.poll` is called with a read-only database whenever it may have changed;
* documents  - `DocumentFormat.read` is given a whole file; the tail withdraws what is no longer in it.

The last line of a format's file is typed, e.g. `FORMAT: LineFormat = ClaudeCode()`. Where two files read one agent's
logs (OpenClaw's JSONL and its SQLite), both have the same `label`, which is what people and configurations see.
"""

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from dreamd.records import Item, Record, Span

Family = Literal["lines", "rows", "document"]

# How sure a format is that a file is its own. Exact signatures beat names; generic formats come last.
NO, MAYBE, LIKELY, CERTAIN = 0, 1, 2, 3


class Surroundings(Protocol):
    """What a format may ask about the files beside a source. Every answer is bounded; None means not there."""

    def sibling(self, relative: str, max_bytes: int = 1 << 20) -> bytes | None:
        """The head of a file named relative to the source's folder (`x.meta.json`, `../sessions.json`)."""

    def lines_of(self, name_part: str) -> Iterator[bytes] | None:
        """The lines of another log of this agent whose file name contains `name_part` (decompressed), or None."""

    def rows_of(self, relative: str, sql: str, *args: object) -> list[tuple[object, ...]] | None:
        """What a SELECT finds in a database beside the source, if that is read as a log of this agent too."""


class Source(Struct, frozen=True):
    """The log a reader is opened on. `root` is the configured folder or file it was found under.

    `programs_are_human`: a prompt that a program sent (an SDK, `codex exec`) counts as the human's, since nothing in the
    log says otherwise (J22); False makes it scheduled.
    """

    source_id: str
    path: PurePath
    root: PurePath
    zone: str  # IANA name, for formats with naive local times
    programs_are_human: bool = True


class LineReader(Protocol):
    """Reads one line log. Owns all state about it; `dump` and the format's `open` carry it over a restart.

    State must stay bounded (about 1 MiB) however long the log is.
    """

    def feed(self, line: bytes, span: Span) -> Sequence[Item]:
        """Items of one line: without its newline, BOM, CR and NULs already removed (J1); never raises on bad input.

        The tail guarantees: lines come in order, each exactly once per reader life (after a restart the
        lines since the last dump are fed again, and what they yield is thrown away). A line longer than
        `max_line_bytes` arrives as valid JSON whose long strings were cut.
        """

    def settle(self) -> Sequence[Item]:
        """The log is at rest: decide what was waiting for more. May be called often; must be harmless."""

    def dump(self) -> bytes:
        """The state, for `LineFormat.open`. b"" is a fresh reader's."""


@runtime_checkable
class LineFormat(Protocol):
    name: str
    label: str
    family: Literal["lines"]
    places: tuple[str, ...]
    """Where the logs lie unless configured: globs relative to the home folder (`.claude/projects/**/*.jsonl`)."""

    def claims(self, path: PurePath, head: bytes) -> int:
        """How sure that this file is this format's: NO, MAYBE, LIKELY or CERTAIN. `head`: first 64 KiB, decompressed.

        A file that the format must not read (deleted, lock, backup) is NO whatever it holds.
        """

    def order(self, path: PurePath, head: bytes, tail: bytes) -> tuple[object, ...]:
        """Sort key among logs found together: who owns shared history comes first (J21). () is fine for most."""

    def open(self, source: Source, around: Surroundings, state: bytes) -> LineReader: ...


class Query(Protocol):
    """Runs one SELECT on the agent's own database, read-only, rows as tuples, streamed."""

    def __call__(self, sql: str, /, *args: object) -> Iterator[tuple[object, ...]]: ...


class RowBatch(Struct, frozen=True):
    """Items in log order with the new state; `more` when the store holds further rows than this batch took."""

    items: Sequence[Item]
    state: bytes
    more: bool = False


@runtime_checkable
class RowFormat(Protocol):
    name: str
    label: str
    family: Literal["rows"]
    places: tuple[str, ...]

    def claims(self, path: PurePath, head: bytes) -> int: ...

    def poll(self, query: Query, source: Source, state: bytes) -> RowBatch:
        """What is new, changed or gone since `state` (b"" at first), at most about 1,000 rows a batch.

        Missing tables or columns of older versions are coped with; a store that cannot be understood yields a Skip.
        """


@runtime_checkable
class DocumentFormat(Protocol):
    name: str
    label: str
    family: Literal["document"]
    places: tuple[str, ...]

    def claims(self, path: PurePath, head: bytes) -> int: ...

    def read(self, data: bytes, source: Source) -> Sequence[Record]:
        """All records of the whole file, in order. What an earlier reading had and this one lacks is withdrawn."""


Format = LineFormat | RowFormat | DocumentFormat
