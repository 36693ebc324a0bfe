"""OpenClaw's database: the same records as its JSONL, rewrites, archives, and stores of other versions."""

import json
from pathlib import Path, PurePath

import pytest
import zstandard

from dreamd.formats import openclaw_sqlite
from dreamd.formats.base import CERTAIN, NO
from dreamd.formats.openclaw import FORMAT as JSONL
from dreamd.formats.openclaw_sqlite import FORMAT
from dreamd.records import Item, Record, Skip, Turn
from tests.formats.folding import expected, fold, items_of
from tests.formats.rows import built, polled, run

SAMPLES = Path(__file__).parent.parent / "samples" / "openclaw_sqlite"
TABLES = """
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, created_at INTEGER, status TEXT);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER, PRIMARY KEY (session_id, seq));
CREATE TABLE transcript_rewrite_watermarks (session_id TEXT PRIMARY KEY, generation TEXT, updated_at INTEGER);
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "openclaw-agent.sqlite"
    run(
        path,
        TABLES
        + "INSERT INTO session_windows VALUES ('s', 'agent:main:main', 1, 'running');"
        + event(0, HEAD),
    )
    return path


HEAD = {"type": "session", "version": 3, "id": "s", "cwd": "/srv"}


def said(entry_id: str, parent: str | None, text: str, role: str = "user") -> dict[str, object]:
    message = {"role": role, "content": [{"type": "text", "text": text}], "stopReason": "stop"}
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-09-01T00:00:00Z",
        "message": message,
    }


def event(seq: int, entry: dict[str, object], session: str = "s") -> str:
    text = json.dumps(entry).replace("'", "''")
    return f"INSERT INTO transcript_events VALUES ('{session}', {seq}, '{text}', {seq});"


def texts(items: list[Item]) -> list[str]:
    return [each.get("text", "") for each in fold([items], "openclaw")]


@pytest.mark.shared
def test_the_shared_sample_reads_as_expected(shared):
    where = shared / "samples" / "openclaw"
    items, _ = polled(FORMAT, where / "03_sqlite/agents/main/agent/openclaw-agent.sqlite")
    assert fold([items], "openclaw") == expected(where / "03_sqlite.expected.json")


@pytest.mark.shared
def test_the_jsonl_that_a_migration_left_behind_holds_the_same_records(shared):
    agent = shared / "samples" / "openclaw" / "03_sqlite" / "agents" / "main"
    (left,) = (agent / "session-sqlite-import-archive").glob("*.jsonl")
    rows, _ = polled(FORMAT, agent / "agent" / "openclaw-agent.sqlite")

    known = {item.identity for item in rows if isinstance(item, Record)}
    assert {item.identity for item in items_of(JSONL, left) if isinstance(item, Record)} <= known


def test_a_sample_reads_as_its_golden_list_says(tmp_path):
    items, _ = polled(FORMAT, built(SAMPLES / "01_boat.sql", tmp_path / "x.db"))
    assert fold([items], "openclaw") == expected(SAMPLES / "01_boat.expected.json")


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_batches_of_any_size_come_to_the_same(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(openclaw_sqlite, "MAX_ROWS", rows)
    items, _ = polled(FORMAT, built(SAMPLES / "01_boat.sql", tmp_path / "x.db"))
    assert fold([items], "openclaw") == expected(SAMPLES / "01_boat.expected.json")


def test_new_rows_are_read_once_and_a_quiet_store_says_nothing(store):
    run(store, event(1, said("a", None, "One")))
    first, state = polled(FORMAT, store)
    again, state = polled(FORMAT, store, state)
    run(store, event(2, said("b", "a", "Two")))
    more, _ = polled(FORMAT, store, state)

    assert (texts(first), again, texts(more)) == (["One"], [], ["Two"])


def test_a_tree_that_was_let_go_still_knows_its_branches(store, monkeypatch):
    monkeypatch.setattr(openclaw_sqlite, "MAX_TREE_NODES", 0)
    run(store, event(1, said("a", None, "One")) + event(2, said("b", "a", "Two")))
    items, state = polled(FORMAT, store)
    run(store, event(3, said("c", "a", "Three")))
    items += polled(FORMAT, store, state)[0]

    assert texts(items) == ["One", "Three"]


def test_a_rewritten_session_is_read_anew(store):
    run(
        store,
        "".join(event(n, said(f"e{n}", f"e{n - 1}" if n > 1 else None, f"Text {n}")) for n in range(1, 6)),
    )
    items, state = polled(FORMAT, store)
    run(
        store,
        "DELETE FROM transcript_events WHERE seq IN (1, 3, 5);"
        "UPDATE transcript_events SET event_json = replace(event_json, 'Text 4', 'Changed');"
        "INSERT INTO transcript_rewrite_watermarks VALUES ('s', 'g2', 0);",
    )
    items += polled(FORMAT, store, state)[0]

    assert texts(items) == ["Text 1", "Text 2", "Changed"]


def test_a_session_that_is_gone_keeps_its_records(store):
    run(store, event(1, said("a", None, "One")))
    items, state = polled(FORMAT, store)
    run(store, "DELETE FROM transcript_events; DELETE FROM session_windows;")
    more, _ = polled(FORMAT, store, state)

    assert (texts(items), more) == (["One"], [])


def test_the_stores_own_word_ends_a_turn_that_was_killed(store):
    run(store, event(1, said("a", None, "One")))
    items, state = polled(FORMAT, store)
    run(store, "UPDATE session_windows SET status = 'killed';")
    more, state = polled(FORMAT, store, state)

    assert [item.busy for item in items if isinstance(item, Turn)] == [True]
    assert [item.busy for item in more if isinstance(item, Turn)] == [False]
    assert polled(FORMAT, store, state)[0] == []


def test_archives_are_unpacked_once_and_a_broken_one_is_counted(tmp_path):
    path = built(SAMPLES / "01_boat.sql", tmp_path / "x.db")
    blob = zstandard.compress(
        "\n".join(json.dumps(each) for each in (HEAD, said("a", None, "Packed"))).encode()
    )
    insert = "INSERT INTO session_transcript_archives VALUES ('{0}', 'g', 'k', 'reset', 'zstd', x'{1}', '', '{0}', {2});"
    _, state = polled(FORMAT, path)
    run(path, insert.format("s", blob.hex(), 4000) + insert.format("t", b"junk".hex(), 5000))
    items, state = polled(FORMAT, path, state)

    assert texts(items) == ["Packed"]
    assert Skip("archive") in items
    assert polled(FORMAT, path, state)[0] == []


def test_spans_name_the_row_and_its_content(store):
    run(store, event(1, said("a", None, "One")))
    (record,) = [item for item in polled(FORMAT, store)[0] if isinstance(item, Record)]
    assert (record.span.table, record.span.row, len(record.span.sha256)) == ("transcript_events", "s:1", 32)


def test_a_store_without_transcripts_is_skipped(tmp_path):
    run(tmp_path / "x.db", "CREATE TABLE schema_meta (a)")
    assert polled(FORMAT, tmp_path / "x.db")[0] == [Skip("schema")]


def test_a_store_of_transcripts_alone_is_read(tmp_path):
    path = tmp_path / "x.db"
    run(path, "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT);")
    run(path, event(1, said("a", None, "One")).replace(", 1);", ");"))
    assert texts(polled(FORMAT, path)[0]) == ["One"]


@pytest.mark.parametrize("junk", ["x'00ff'", "NULL", "''", "'[1]'", "'{\"type\":5}'", "7"])
def test_rows_that_hold_no_entry_are_counted(store, junk):
    run(store, f"INSERT INTO transcript_events VALUES ('s', 1, {junk}, 0);")
    assert all(isinstance(item, Skip) for item in polled(FORMAT, store)[0])


def packed(seq: int, blob: bytes) -> str:
    return f"INSERT INTO transcript_events VALUES ('s', {seq}, NULL, {seq}, x'{blob.hex()}', {len(blob)}, '{{}}');"


PACKING = "".join(
    f"ALTER TABLE transcript_events ADD COLUMN {column};"
    for column in ("event_zstd BLOB", "event_utf8_bytes INTEGER", "navigation_json TEXT")
)


def test_an_entry_that_the_store_has_packed_is_read_like_any_other(store):
    long = "长话 " * 1000
    entry = said("b", "a", long)
    run(
        store,
        event(1, said("a", None, "One"))
        + PACKING
        + packed(2, zstandard.compress(json.dumps(entry).encode())),
    )
    items, state = polled(FORMAT, store)

    assert texts(items) == ["One", long.strip()]
    assert polled(FORMAT, store, state)[0] == []


def test_a_span_is_the_entrys_own_whether_the_store_has_packed_it_or_not(store, tmp_path):
    entry = said("a", None, "One")
    other = tmp_path / "packed" / store.name
    other.parent.mkdir()
    other.write_bytes(store.read_bytes())
    run(store, event(1, entry))
    run(other, PACKING + packed(1, zstandard.compress(json.dumps(entry).encode())))

    plain, tight = (polled(FORMAT, path)[0] for path in (store, other))
    assert [one.span.sha256 for one in plain if isinstance(one, Record)] == [
        one.span.sha256 for one in tight if isinstance(one, Record)
    ]


@pytest.mark.parametrize("blob", [b"junk", zstandard.compress(b"x" * 5000)[:20]])
def test_a_broken_pack_is_counted_and_what_follows_is_read(store, blob):
    run(
        store,
        PACKING
        + packed(1, blob)
        + packed(2, zstandard.compress(json.dumps(said("a", None, "One")).encode())),
    )
    items, _ = polled(FORMAT, store)

    assert texts(items) == ["One"]
    assert Skip("damaged") in items


def test_the_database_is_known_by_its_head_and_name(store):
    head = store.read_bytes()[: 1 << 16]
    assert FORMAT.claims(store, head) == CERTAIN
    assert FORMAT.claims(PurePath("copy.db"), head) == CERTAIN
    assert FORMAT.claims(PurePath("openclaw-agent.sqlite-wal"), b"\x37\x7f\x06\x82") == NO
    assert FORMAT.claims(PurePath("other.db"), b"SQLite format 3\0") == NO
