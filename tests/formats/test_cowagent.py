"""CowAgent's rows: runs stored in batches, scheduled pairs, steering, and what it deletes."""

import json
from pathlib import Path, PurePath

import pytest

from dreamd.formats import _cowagent, cowagent
from dreamd.formats.base import CERTAIN, LIKELY, NO
from dreamd.formats.cowagent import FORMAT
from dreamd.records import Amendment, Item, Record, Skip, Turn
from tests.formats.folding import expected, fold
from tests.formats.rows import built, polled, run

SAMPLES = Path(__file__).parent.parent / "samples" / "cowagent"
TABLES = """
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, created_at INTEGER, msg_count INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, seq INTEGER, role TEXT, content TEXT, created_at INTEGER);
INSERT INTO sessions VALUES ('web', 0, 0);
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    run(tmp_path / "index.db", TABLES)
    return tmp_path / "index.db"


def row(role: str, content: object, at: int = 1781000000, session: str = "web") -> str:
    text = (content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)).replace(
        "'", "''"
    )
    return f"INSERT INTO messages (session_id, seq, role, content, created_at) VALUES ('{session}', 0, '{role}', '{text}', {at});"


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def short(items: list[Item]) -> list[tuple[str, str, str]]:
    return [(each["role"], each["origin"], each.get("text", "")) for each in fold([items], "cowagent")]


@pytest.mark.shared
def test_the_shared_sample_reads_as_expected(shared):
    where = shared / "samples" / "cowagent"
    items, _ = polled(FORMAT, where / "01_current/cow/memory/long-term/index.db")
    assert fold([items], "cowagent") == expected(where / "01_current.expected.json")


@pytest.mark.parametrize("rows", [1, 4, 1000])
def test_a_sample_reads_as_its_golden_list_says_in_batches_of_any_size(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(cowagent, "MAX_ROWS", rows)
    items, _ = polled(FORMAT, built(SAMPLES / "01_pantry.sql", tmp_path / "index.db"))
    assert fold([items], "cowagent") == expected(SAMPLES / "01_pantry.expected.json")


def test_new_rows_are_read_once(store):
    run(store, row("user", text("One")))
    first, state = polled(FORMAT, store)
    again, state = polled(FORMAT, store, state)
    run(store, row("assistant", text("Two")))
    more, _ = polled(FORMAT, store, state)

    assert (short(first), again) == ([("user", "human", "One")], [])
    assert short(more) == [("assistant", "human", "Two")]


def test_rows_deleted_from_a_session_that_goes_on_are_withdrawn_with_their_calls(store):
    calls = [{"type": "tool_use", "id": str(n), "name": "read", "input": {}} for n in range(2)]
    run(
        store,
        row("user", text("One")) + row("assistant", [*text("Two"), *calls]) + row("user", text("Three")),
    )
    items, state = polled(FORMAT, store)
    run(store, "DELETE FROM messages WHERE id < 3;" + row("user", text("Four")))
    more, state = polled(FORMAT, store, state)

    assert short(items + more) == [("user", "human", "Three"), ("user", "human", "Four")]
    assert polled(FORMAT, store, state)[0] == []


def test_deleting_the_only_rows_of_a_session_that_is_still_listed_withdraws_them(store):
    run(store, row("user", text("One")))
    items, state = polled(FORMAT, store)
    run(store, "DELETE FROM messages;")
    assert short(items + polled(FORMAT, store, state)[0]) == []


def test_a_session_cleared_or_aged_out_keeps_its_records(store):
    run(store, row("user", text("One")))
    items, state = polled(FORMAT, store)
    run(store, "DELETE FROM messages; DELETE FROM sessions;")
    assert short(items + polled(FORMAT, store, state)[0]) == [("user", "human", "One")]


def test_a_database_made_anew_is_read_from_its_start(store):
    run(store, row("user", text("One")) + row("user", text("Two")))
    items, state = polled(FORMAT, store)
    store.unlink()
    run(store, TABLES + row("user", text("Fresh"), at=1781009999))
    items += polled(FORMAT, store, state)[0]

    assert [words for _, _, words in short(items)] == ["One", "Two", "Fresh"]


def test_rows_let_go_of_are_not_taken_for_deleted(store, monkeypatch):
    monkeypatch.setattr(cowagent, "MAX_KNOWN_ROWS", 4)
    run(store, "".join(row("user", text(f"Text {n}")) for n in range(10)))
    items, state = polled(FORMAT, store)
    more, state = polled(FORMAT, store, state)
    run(store, "DELETE FROM messages WHERE id = 10;")
    last, _ = polled(FORMAT, store, state)

    assert (more, len(short(items)), len(short(items + last))) == ([], 10, 9)


def test_a_run_is_busy_from_the_persons_row_until_its_batch(store):
    run(store, row("user", text("One")))
    items, state = polled(FORMAT, store)
    assert [item.busy for item in items if isinstance(item, Turn)] == [True]

    run(store, row("user", text("[SCHEDULED] tick")) + row("assistant", text("tock")))
    items, state = polled(FORMAT, store, state)
    assert [item for item in items if isinstance(item, Turn)] == []

    run(store, row("assistant", text("Two")))
    items, _ = polled(FORMAT, store, state)
    assert [item.busy for item in items if isinstance(item, Turn)] == [False]
    assert short(items) == [("assistant", "human", "Two")]


STEERING = "[Steering update for the active task]\nUse this new instruction for the current task before continuing.\n\n"
GUARD = "工具已成功执行并返回结果。请基于这些信息向用户做出回复，不要重复调用相同的工具。"
WORDS = [
    ("web", "[SCHEDULED] 播报天气", "scheduled", "播报天气"),
    ("web", " Scheduled task: water", "scheduled", "water"),
    ("web", "About [SCHEDULED] things", "human", "About [SCHEDULED] things"),
    ("scheduler_x_1", "Check", "scheduled", "Check"),
    ("web", GUARD, "injected", GUARD),
    ("web", f"{GUARD} What is this?", "human", f"{GUARD} What is this?"),
    ("web", f"{STEERING}1. a\n2. b", "human", "1. a\n2. b"),
]


@pytest.mark.parametrize(("session", "said", "origin", "left"), WORDS)
def test_whose_words_a_user_row_holds(store, session, said, origin, left):
    run(store, row("user", text(said), session=session))
    assert short(polled(FORMAT, store)[0]) == [("user", origin, left)]


def test_a_scheduled_mark_alone_still_gives_the_answer_its_origin(store):
    run(store, row("user", text("[SCHEDULED]")) + row("assistant", text("Done")))
    assert short(polled(FORMAT, store)[0]) == [("assistant", "scheduled", "Done")]


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ('[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":" b "}]', "a\n[image]\nb"),
        ('"a string"', "a string"),
        ("plain words", "plain words"),
        ("[half a list", "[half a list"),
        ('"half a string', '"half a string'),
        ("42", "42"),
        ("null", "null"),
        ('{"note": 1}', '{"note": 1}'),
        ('[{"type":"text","text":"kept"}, 5, null]', "kept"),
        ("[]", ""),
        ('""', ""),
        ('[{"type":"text","text":"\\ud83d"}]', "\ufffd"),
    ],
)
def test_content_of_every_age_is_read(store, content, read):
    run(store, row("user", content))
    assert [words for _, _, words in short(polled(FORMAT, store)[0])] == ([read] if read else [])


@pytest.mark.parametrize(
    ("result", "ok"),
    [
        ({"content": "fine"}, True),
        ({"content": [{"type": "text", "text": "fine"}], "is_error": False}, True),
        ({"content": "no", "is_error": True}, False),
        ({"content": "Skipped because the user redirected the active task."}, False),
        ({"content": None}, True),
    ],
)
def test_results_amend_their_call(store, result, ok):
    call = {"type": "tool_use", "id": "c", "name": "bash", "input": {"command": "ls"}}
    run(store, row("assistant", [call]) + row("user", [{"type": "tool_result", "tool_use_id": "c"} | result]))
    (done,) = [item for item in polled(FORMAT, store)[0] if isinstance(item, Amendment)]

    assert (done.ok, done.trace and done.trace.arguments) == (ok, '{"command": "ls"}')


def test_an_undoing_mark_is_taken_off_as_on_cowagents_own_page():
    assert _cowagent.cleaned("[EVOLUTION] New habit.\n(backup_id: 1; to undo, restore)") == "New habit."
    assert _cowagent.cleaned("See (backup_id: 1) above.") == "See (backup_id: 1) above."
    assert _cowagent.cleaned("Done.\n(backup_id: 1)") == "Done.\n(backup_id: 1)"


def test_older_and_newer_tables_are_coped_with(tmp_path):
    run(
        tmp_path / "a.db",
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT);",
    )
    run(tmp_path / "a.db", "INSERT INTO messages VALUES (1, 'web', 'user', 'Old'), (2, 'web', 'tool', 'x');")
    items, state = polled(FORMAT, tmp_path / "a.db")
    run(tmp_path / "b.db", "CREATE TABLE memory_chunks (id TEXT);")

    assert [(item.text, item.at) for item in items if isinstance(item, Record)] == [("Old", None)]
    assert Skip("role") in items
    assert polled(FORMAT, tmp_path / "a.db", state)[0] == []
    assert polled(FORMAT, tmp_path / "b.db")[0] == [Skip("schema")]


def test_spans_name_the_row_and_its_content(store):
    run(store, row("user", text("One")))
    (record,) = [item for item in polled(FORMAT, store)[0] if isinstance(item, Record)]
    assert (record.span.table, record.span.row, len(record.span.sha256)) == ("messages", "1", 32)


def test_the_state_stays_small_however_many_rows_there_are(store):
    run(
        store,
        "".join(
            row("user" if n % 2 else "assistant", text("x"), at=n // 2, session=f"s{n % 7}")
            for n in range(5000)
        ),
    )
    _, state = polled(FORMAT, store)
    assert len(state) < 100_000


def test_the_database_is_known_by_its_tables_or_its_place(store, tmp_path):
    assert (
        FORMAT.claims(store, built(SAMPLES / "01_pantry.sql", tmp_path / "x.db").read_bytes()[: 1 << 16])
        == CERTAIN
    )
    assert FORMAT.claims(PurePath("cow/memory/long-term/index.db"), b"SQLite format 3\0") == LIKELY
    assert FORMAT.claims(PurePath("index.db"), b"SQLite format 3\0") == NO
    assert FORMAT.claims(PurePath("cow/memory/long-term/index.db-wal"), b"\x37\x7f") == NO
