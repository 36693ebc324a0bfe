"""A whole-file log, read again when it changed: what is new, changed, gone or back since the last reading, to the pool."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from dreamd.errors import LogUnreadable
from dreamd.formats.base import DocumentFormat, Source
from dreamd.memories import raw_id
from dreamd.records import Amendment, Record
from dreamd.stores.base import Cursor, Fingerprint
from dreamd.tail.ingest import Batch, remembered, state_of
from dreamd.tail.logfile import opened
from dreamd.tail.steps import How, OpenSource, Step, Tools, store

MAX_BYTES = 64 << 20

Seen = dict[str, bytes]  # memory id -> digest of what it said; b"" once it was withdrawn
_decode = msgspec.msgpack.Decoder(Seen).decode
_encode = msgspec.msgpack.Encoder().encode


class Difference(NamedTuple):
    """What turns the earlier reading into this one. `seen` is to be remembered."""

    new: list[Record]
    amended: list[tuple[str, Amendment]]
    seen: Seen


def difference(agent: str, seen: Seen, records: Sequence[Record]) -> Difference:
    now: Seen = {}
    new: list[Record] = []
    amended: list[tuple[str, Amendment]] = []
    for record in records:
        memory_id, digest = raw_id(agent, record.identity), _digest(record)
        if memory_id in now:
            continue
        now[memory_id] = digest
        before = seen.get(memory_id)
        if before is None:
            new.append(record)
        elif before != digest:
            amended.append((memory_id, _amendment(record, back=before == b"")))
    gone = [memory_id for memory_id, digest in seen.items() if digest and memory_id not in now]
    amended += [(memory_id, Amendment(identity="", withdrawn=True)) for memory_id in gone]
    return Difference(new, amended, {**dict.fromkeys(seen, b""), **now})


def _amendment(record: Record, *, back: bool) -> Amendment:
    return Amendment(
        identity=record.identity,
        ok=record.ok,
        origin=record.origin,
        text=record.text,
        trace=record.trace,
        withdrawn=False if back else None,
    )


def _digest(record: Record) -> bytes:
    said = (record.text, record.ok, record.origin, record.tool, record.trace)
    return hashlib.sha256(msgspec.msgpack.encode(said)).digest()[:8]


class Document(OpenSource):
    def __init__(self, tools: Tools, cursor: Cursor, one: DocumentFormat, source: Source) -> None:
        self.cursor = cursor
        self._tools = tools
        self._format = one
        self._source = source

    def read(self, path: str, how: How) -> Iterator[Step]:  # noqa: ARG002 - a document is one step
        with opened(path) as file:
            if file.stamp.size > MAX_BYTES:
                raise LogUnreadable(f"{path}: larger than {MAX_BYTES >> 20} MiB, too large for its format")
            data, stamp = file.head(MAX_BYTES), file.stamp
        known, now = remembered(self.cursor.state), self._tools.clock.now()
        seen = _decode(known.reader) if known.reader else {}
        found = difference(self.cursor.agent, seen, self._format.read(data, self._source))
        batch = Batch(self._tools.agent, known)
        batch.add(found.new, now)
        for memory_id, amendment in found.amended:
            batch.amend(memory_id, amendment)
        batch.lines = batch.items
        known.reader = _encode(found.seen)
        cursor = replace(
            self.cursor,
            path=path,
            fingerprint=Fingerprint(stamp.device, stamp.inode),
            offset=len(data),
            state=state_of(known),
            state_offset=len(data),
            read_at=now,
        )
        self.cursor, step = store(self._tools, batch, cursor)
        yield step._replace(read=len(data))
