"""Rows of SQLite in, frozen structs out, and back; pure. Times are integer microseconds, so nothing is rounded."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from sys import intern
from typing import Any

import msgspec
from msgspec import Struct

from dreamd.calls import Reply
from dreamd.memories import Entity, Kind, Memory
from dreamd.records import Span, Trace, Trust, Turn
from dreamd.stores._sql import listed
from dreamd.stores.base import (
    LONGEST_HOLD,
    Contradiction,
    Cursor,
    FileVersion,
    Fingerprint,
    Held,
    JournalEntry,
    LedgerRow,
    LineEvidence,
    MemoryQuery,
    Slot,
    Spent,
    TurnState,
    Usage,
    WindowCount,
)

Row = tuple[Any, ...]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
NO_SPAN = Span("")


class _Extra(Struct, frozen=True, omit_defaults=True):
    """The fields that few memories have, named and defaulted as in Memory."""

    entities: tuple[Entity, ...] = ()
    ref_ids: tuple[str, ...] = ()
    contradictions_flag: bool = False
    trace: Trace | None = None
    kind: Kind | None = None
    applies_when: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    windows: int = 0
    tasks: int = 0
    origins: int = 0


_encode = msgspec.json.Encoder().encode
_decode_extra = msgspec.json.Decoder(_Extra).decode
_decode_usage = msgspec.json.Decoder(tuple[Usage, ...]).decode
_decode_reply = msgspec.json.Decoder(Reply).decode
_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode
_decode_counts = msgspec.json.Decoder(dict[str, int]).decode


def micros(at: datetime | None) -> int | None:
    return None if at is None else (at - EPOCH) // MICROSECOND


def moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def moment_or_none(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else moment(microseconds)


def iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def filters(query: MemoryQuery) -> dict[str, object]:
    """The parameters of the fragment `wanted`."""
    return {
        "agent": query.agent,
        "day": iso(query.window),
        "since": iso(query.since),
        "until": iso(query.until),
        "filed": query.filed,
        "id_prefix": query.id_prefix,
        "rests_on": listed(query.rests_on),
        "session_id": query.session_id,
        "types": listed(query.types or None),
        "origins": listed(query.origins or None),
        "statuses": listed(query.statuses or None),
        "holding": listed(query.holding),
    }


def extra_of(memory: Memory) -> str | None:
    extra = _encode(
        _Extra(
            memory.entities,
            memory.ref_ids,
            memory.contradictions_flag,
            memory.trace,
            memory.kind,
            memory.applies_when,
            memory.valid_from,
            memory.valid_until,
            memory.windows,
            memory.tasks,
            memory.origins,
        )
    )
    return None if extra == b"{}" else extra.decode()


def memory_row(memory: Memory, sources: Mapping[str, int]) -> Row:
    """The parameters of `insert_memory`; `sources` has the number of every log named by a span."""
    span = memory.span
    place = span or NO_SPAN
    return (
        memory.memory_id,
        memory.type,
        memory.agent,
        memory.window.isoformat(),
        memory.status,
        memory.filed,
        memory.role,
        memory.origin,
        int(memory.trust),
        memory.session_id,
        memory.task_id,
        micros(memory.timestamp),
        micros(memory.received_at),
        memory.ok,
        memory.tool,
        memory.project,
        None if span is None else sources[span.source_id],
        place.offset,
        place.length,
        place.sha256,
        place.table,
        place.row,
        memory.confidence,
        memory.content,
        extra_of(memory),
        memory.pinned,
        micros(memory.last_recalled_at),
    )


def memory_of(row: Row) -> Memory:
    """A row of `memory_columns`."""
    extra = {} if row[25] is None else _extra_fields(row[25])
    return Memory(
        seq=row[0],
        memory_id=row[1],
        type=row[2],
        agent=row[3],
        window=date.fromisoformat(row[4]),
        status=row[5],
        filed=bool(row[6]),
        role=row[7],
        origin=row[8],
        trust=Trust(row[9]),
        session_id=row[10],
        task_id=row[11],
        timestamp=moment_or_none(row[12]),
        received_at=moment(row[13]),
        ok=None if row[14] is None else bool(row[14]),
        tool=row[15],
        project=row[16],
        span=None if row[17] is None else Span(*row[17:23]),
        confidence=row[23],
        content=row[24],
        pinned=bool(row[26]),
        last_recalled_at=moment_or_none(row[27]),
        **extra,
    )


def with_text(memory: Memory, archived: Memory | None) -> Memory:
    """A memory whose text was archived, with what it said then. None: its file is lost, and so is that."""
    if archived is None:
        return msgspec.structs.replace(memory, archived=True)
    said = {field: getattr(archived, field) for field in _Extra.__struct_fields__}
    return msgspec.structs.replace(memory, content=archived.content, archived=True, **said)


def _extra_fields(text: str) -> dict[str, Any]:
    return msgspec.structs.asdict(_decode_extra(text))


def cursor_row(cursor: Cursor) -> Row:
    print_ = cursor.fingerprint
    return (
        cursor.source_id,
        cursor.agent,
        cursor.path,
        cursor.format,
        str(print_.device),
        str(print_.inode),
        print_.head_length,
        print_.head_sha256,
        cursor.offset,
        cursor.tail_length,
        cursor.tail_sha256,
        cursor.state,
        cursor.state_offset,
        cursor.version,
        cursor.lines,
        cursor.records,
        cursor.truncated,
        _encode(cursor.skipped).decode(),
        micros(cursor.read_at),
    )


def cursor_of(row: Row) -> Cursor:
    return Cursor(
        source_id=row[0],
        agent=intern(row[1]),  # there may be thousands of cursors
        path=row[2],
        format=intern(row[3]),
        fingerprint=Fingerprint(int(row[4]), int(row[5]), row[6], row[7]),
        offset=row[8],
        tail_length=row[9],
        tail_sha256=row[10],
        state=row[11],
        state_offset=row[12],
        version=row[13],
        lines=row[14],
        records=row[15],
        truncated=row[16],
        skipped=_decode_counts(row[17]),
        read_at=moment_or_none(row[18]),
    )


def window_of(row: Row) -> WindowCount:
    return WindowCount(row[0], date.fromisoformat(row[1]), row[2], row[3])


def turn_of(row: Row) -> TurnState:
    return TurnState(row[0], row[1], bool(row[2]), moment_or_none(row[3]))


def turn_row(told: tuple[str, Turn]) -> Row:
    agent, turn = told
    return (agent, turn.session_id, turn.busy, micros(turn.at))


def ledger_row(row: LedgerRow) -> Row:
    return (
        row.agent,
        row.day.isoformat(),
        row.phase,
        row.state,
        row.attempts,
        row.input_hash,
        row.reason,
        _encode(row.usage).decode(),
        micros(row.started_at),
        micros(row.finished_at),
    )


def ledger_of(row: Row) -> LedgerRow:
    return LedgerRow(
        agent=row[0],
        day=date.fromisoformat(row[1]),
        phase=row[2],
        state=row[3],
        attempts=row[4],
        input_hash=row[5],
        reason=row[6],
        usage=_decode_usage(row[7]),
        started_at=moment_or_none(row[8]),
        finished_at=moment_or_none(row[9]),
    )


def journal_row(entry: JournalEntry) -> Row:
    return (entry.key, entry.job, entry.purpose, _encode(entry.reply).decode(), micros(entry.at))


def journal_of(row: Row) -> JournalEntry:
    return JournalEntry(
        key=row[0], job=row[1], purpose=row[2], reply=_decode_reply(row[3]), at=moment(row[4])
    )


def line_row(line: LineEvidence) -> Row:
    return (line.agent, line.line, _encode(line.ref_ids).decode(), line.day.isoformat(), micros(line.at))


def line_of(row: Row) -> LineEvidence:
    return LineEvidence(
        agent=row[0],
        line=row[1],
        ref_ids=_decode_names(row[2]),
        day=date.fromisoformat(row[3]),
        at=moment(row[4]),
    )


def version_row(version: FileVersion) -> Row:
    return (
        version.agent,
        version.path,
        version.author,
        version.content,
        version.sha256,
        micros(version.at),
        iso(version.day),
        version.note,
    )


def version_of(row: Row) -> FileVersion:
    return FileVersion(
        agent=row[0],
        path=row[1],
        author=row[2],
        content=row[3],
        sha256=row[4],
        at=moment(row[5]),
        day=None if row[6] is None else date.fromisoformat(row[6]),
        note=row[7],
        version_id=row[8],
    )


def held_row(held: Held) -> Row:
    return (
        held.agent,
        held.day.isoformat(),
        held.path,
        held.base_sha256,
        held.content,
        held.diary,
        held.reason,
        held.detail,
        micros(held.at),
        held.state,
        held.held_id or None,
    )


def held_of(row: Row) -> Held:
    return Held(
        agent=row[0],
        day=date.fromisoformat(row[1]),
        path=row[2],
        base_sha256=row[3],
        content=row[4],
        diary=row[5],
        reason=row[6],
        detail=row[7],
        at=moment(row[8]),
        state=row[9],
        held_id=row[10],
    )


def contradiction_row(pair: Contradiction) -> Row:
    return (pair.agent, pair.left_id, pair.right_id, pair.reason, micros(pair.at))


def contradiction_of(row: Row) -> Contradiction:
    return Contradiction(agent=row[0], left_id=row[1], right_id=row[2], reason=row[3], at=moment(row[4]))


def slot_row(slot: Slot, most: int | None) -> Mapping[str, object]:
    return msgspec.structs.asdict(slot) | {
        "began_at": micros(slot.began_at),
        "held_until": micros(slot.held_until),
        "longest": micros(slot.began_at + LONGEST_HOLD),
        "most": most,
    }


def slot_of(row: Row) -> Slot:
    return Slot(
        slot_id=row[0],
        lane=row[1],
        agent=row[2],
        purpose=row[3],
        began_at=moment(row[4]),
        held_until=moment_or_none(row[5]),
        input_tokens=row[6],
        output_tokens=row[7],
        told=bool(row[8]),
    )


def spent_of(row: Row) -> Spent:
    return Spent(
        agent=row[0],
        calls=row[1],
        input_tokens=row[2],
        output_tokens=row[3],
        estimated=row[4],
        first_at=moment(row[5]),
    )
