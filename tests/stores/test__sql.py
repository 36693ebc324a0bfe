"""The SQL in its files."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from dreamd.stores import _sql
from dreamd.stores.sqlite import SqliteStore

HOME = _sql.folder("sqlite")
USED = "\n".join(path.read_text() for path in HOME.parent.parent.glob("*.py"))


def test_every_query_is_described_and_used() -> None:
    text = (HOME / "queries.sql").read_text()
    queries = _sql.queries(HOME)
    assert len(queries) == text.count("-- name: ") > 30
    asked_for = {name for name in queries if f'"{name}"' in USED}
    assert queries.keys() - asked_for == {name for name in queries if "{" + name + "}" in text}


def test_a_query_holds_the_text_of_the_fragments_it_names(tmp_path: Path) -> None:
    entries = "-- name: rest\n-- Words.\na = 1\n\n-- name: whole\n-- More words.\nSELECT 1\nWHERE {rest}\n"
    (tmp_path / "queries.sql").write_text(entries)
    assert _sql.queries(tmp_path) == {"rest": "a = 1", "whole": "SELECT 1\nWHERE a = 1"}


def test_migrations_come_by_number_with_the_hash_of_their_text(tmp_path: Path) -> None:
    (tmp_path / "0002_more.sql").write_text("b")
    (tmp_path / "0001_initial.sql").write_text("a")
    (tmp_path / "notes.sql").write_text("c")
    assert [(one.number, one.name, one.text) for one in _sql.migrations(tmp_path)] == [
        (1, "initial", "a"),
        (2, "more", "b"),
    ]
    assert len({one.sha256 for one in _sql.migrations(tmp_path)}) == 2


def test_the_migrations_are_numbered_without_gap() -> None:
    numbers = [migration.number for migration in _sql.migrations(HOME)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_semicolon_in_a_comment_or_a_text_ends_no_statement() -> None:
    script = "-- one; two\nCREATE TABLE a (\n  b TEXT -- c; d\n);\nINSERT INTO a VALUES (';');\n-- the end"
    assert [statement.strip()[-2:] for statement in _sql.statements(script)] == [");", ");"]
    assert len(list(_sql.statements(script))) == 2


@pytest.mark.parametrize(
    "name",
    [
        "memories_of_day",
        "memories_by_seq",
        "seqs_by_id",
        "seqs_of_days",
        "raw_memory",
        "count_new",
        "count_again",
    ],
)
def test_no_quick_question_walks_the_whole_pool(tmp_path: Path, name: str) -> None:
    store = SqliteStore(tmp_path)
    plan = store._writer.execute(
        f"EXPLAIN QUERY PLAN {store._sql[name]}", defaultdict(str, agent="ada", page=1)
    )
    steps = [row[3] for row in plan]
    store.close()
    assert any(re.match(r"SEARCH memories", step) for step in steps)
    assert [step for step in steps if re.match(r"SCAN memories", step)] == []
