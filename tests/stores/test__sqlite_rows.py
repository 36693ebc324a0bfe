from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from dreamd.memories import Memory
from dreamd.records import Trust
from dreamd.stores import _sqlite_rows as rows
from dreamd.stores.base import Contradiction, Cursor, FileVersion, Held, JournalEntry, LedgerRow, LineEvidence

ZONES = st.sampled_from([UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-9, minutes=-30))])
TIMES = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=ZONES)  # noqa: DTZ001 - zones are drawn
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    datetime: TIMES,
    date: st.dates(),
    int: st.integers(0, 2**63 - 1),
    str: st.text(max_size=8),
    bytes: st.binary(max_size=8),
    float: st.floats(0, 1),
    bool: st.booleans(),
    Trust: st.sampled_from(Trust),
    NoneType: st.none(),
}


def drawn(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type, a Struct's every field drawn by its type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in PLAIN:
        return PLAIN[kind]
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(drawn(arguments[0]), max_size=3).map(tuple)
    if origin is Mapping:
        return st.dictionaries(drawn(arguments[0]), drawn(arguments[1]), max_size=3)
    if arguments:
        return st.one_of(*map(drawn, arguments))
    assert issubclass(kind, msgspec.Struct)
    return st.builds(kind, **{name: drawn(hint) for name, hint in get_type_hints(kind).items()})


@given(TIMES)
def test_a_time_loses_not_a_microsecond(at: datetime) -> None:
    assert rows.moment_or_none(rows.micros(at)) == at
    assert rows.moment_or_none(rows.micros(None)) is None


@settings(max_examples=50)
@given(drawn(Memory))
def test_a_memory_survives_its_row(memory: Memory) -> None:
    source = memory.span.source_id if memory.span else ""
    row = rows.memory_row(memory, {source: 5})
    assert row[16] == (5 if memory.span else None)
    read = (memory.seq, *row[:16], source if memory.span else None, *row[17:])
    assert rows.memory_of(read) == msgspec.structs.replace(memory, archived=False)  # which the block tells


@given(drawn(Cursor))
def test_a_cursor_survives_its_row(cursor: Cursor) -> None:
    assert rows.cursor_of(rows.cursor_row(cursor)) == cursor


@given(drawn(LedgerRow))
def test_a_ledger_row_survives_its_row(row: LedgerRow) -> None:
    assert rows.ledger_of(rows.ledger_row(row)) == row


@given(drawn(JournalEntry))
def test_a_journal_entry_survives_its_row(entry: JournalEntry) -> None:
    assert rows.journal_of(rows.journal_row(entry)) == entry


@given(drawn(LineEvidence))
def test_a_lines_evidence_survives_its_row(line: LineEvidence) -> None:
    assert rows.line_of(rows.line_row(line)) == line


@given(drawn(FileVersion))
def test_a_file_version_survives_its_row(version: FileVersion) -> None:
    assert rows.version_of((*rows.version_row(version), version.version_id)) == version


@given(drawn(Held).filter(lambda held: held.held_id > 0))
def test_a_held_rewrite_survives_its_row(held: Held) -> None:
    assert rows.held_of(rows.held_row(held)) == held


@given(drawn(Contradiction))
def test_a_contradiction_survives_its_row(pair: Contradiction) -> None:
    assert rows.contradiction_of(rows.contradiction_row(pair)) == pair
