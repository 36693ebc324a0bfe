from datetime import date

import pytest
from msgspec.structs import replace

from dreamd.indexes.base import Index
from dreamd.memories import Entity
from dreamd.parts import Parts
from dreamd.pool.terms import dated
from dreamd.recall.following import PAGE, described, entries, follow, speaker, spoken
from dreamd.records import Trace, Trust
from dreamd.stores import sqlite
from dreamd.stores.base import Changes, Mark
from dreamd.stores.inmemory import InMemoryStore
from tests.recall.pouring import insight, pour, record


def index_of(parts: Parts) -> Index:
    assert parts.index is not None
    return parts.index


def found(parts: Parts, term: str, *, conclusions: bool = False) -> set[int]:
    hits = index_of(parts).search([term], ["ada"], conclusions=conclusions, most=9).hits
    return {hit.seq for hit in hits}


def test_it_comes_up_to_the_pool_page_by_page(parts: Parts) -> None:
    pour(parts, *(record(number, f"message{number}") for number in range(PAGE + 10)))
    assert not follow(parts.store, index_of(parts), pages=1)
    assert found(parts, f"message{PAGE - 1}") == {PAGE}
    assert found(parts, f"message{PAGE + 1}") == set()
    assert follow(parts.store, index_of(parts), pages=5)
    assert found(parts, f"message{PAGE + 1}") == {PAGE + 2}


def test_an_index_of_another_pool_is_made_anew(parts: Parts) -> None:
    pour(parts, record(1, "red"), record(2, "blue"))
    follow(parts.store, index_of(parts), pages=9)
    other = replace(parts, store=InMemoryStore())
    pour(other, record(3, "green"))
    assert follow(other.store, index_of(parts), pages=9)
    assert found(other, "red") == set()
    assert found(other, "green") == {1}


def test_what_turns_out_to_be_nobodys_words_goes(parts: Parts) -> None:
    pour(parts, record(1, "red"))
    follow(parts.store, index_of(parts), pages=9)
    pour(parts, record(2, "red", origin="scheduled"))
    parts.store.write(Changes(statuses=[(record(1, "").memory_id, "withdrawn")]))
    follow(parts.store, index_of(parts), pages=9)
    assert found(parts, "red") == set()


def test_a_candidate_stands_by_how_its_records_were_said(parts: Parts) -> None:
    said = record(1, "I hate red.")
    kept = insight(
        1, "I hate red", kind="preference", status="candidate", trust=Trust.HUMAN, ref_ids=(said.memory_id,)
    )
    pour(parts, said, kept)
    follow(parts.store, index_of(parts), pages=9)
    assert index_of(parts).standing(["ada"], 9) == [2]


def test_an_entry_has_the_terms_of_its_text_and_of_its_day(parts: Parts) -> None:
    pour(parts, record(1, "red shirts"))
    (entry,) = entries(parts.store, parts.store.news(Mark(), 9))
    assert list(entry.terms) == ["red", "shirt", *dated(record(1, "").window)]


def test_of_a_long_text_every_term_is_found_once_at_least(parts: Parts) -> None:
    pour(parts, record(1, " ".join(f"word{number % 1500}" for number in range(9000))))
    (entry,) = entries(parts.store, parts.store.news(Mark(), 9))
    assert {f"word{number}" for number in range(1500)} <= set(entry.terms)
    assert len(entry.terms) < 1600


def test_an_action_says_what_its_trace_tells() -> None:
    trace = Trace(goal="ship it", error="disk full")
    assert spoken(record(1, "", role="tool", tool="Bash", trace=trace)) == "ship it\ndisk full"


def test_a_goal_that_is_the_text_as_well_is_said_once() -> None:
    assert spoken(record(1, "Book a table", trace=Trace(goal="Book a table"))) == "Book a table"


def test_an_insight_is_found_by_its_situation_and_whom_it_is_about() -> None:
    one = insight(1, "Check twice", applies_when="before a release", entities=(Entity("Ada", "person"),))
    assert described(one) == "Check twice\nbefore a release\nAda"


def test_escaped_arguments_are_found_and_told_readable(parts: Parts) -> None:
    trace = Trace(
        arguments='{"city": "\\u676d\\u5dde", "note": "one\\ntwo"}', result='{"hotel": "\\u897f\\u6e56"}'
    )
    called = record(1, "book_hotel", role="tool", trace=trace)
    pour(parts, called)
    follow(parts.store, index_of(parts), pages=9)
    assert found(parts, "杭州") == found(parts, "西湖") == found(parts, "two") == {1}
    assert "杭州" in spoken(called)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ann: hello", ["ann"]),
        ("小明：你好", ["小明"]),
        ("Ann Lee: so: hello", ["ann", "lee"]),
        ("https://example.org", []),
        ("std::vector", []),
        ("12:30 lunch", []),
        ("We met at the old station near the river and said: no", []),
        ("hello", []),
    ],
)
def test_who_says_it_is_told_by_the_text(text: str, name: list[str]) -> None:
    assert speaker(text) == name


def test_an_index_made_anew_knows_what_the_archive_holds(parts: Parts) -> None:
    parts = replace(parts, store=sqlite.OPEN(parts.state))
    pour(parts, record(1, "a red shirt"), record(2, "a green one"))
    follow(parts.store, index_of(parts), pages=9)
    assert parts.store.archive(date(2100, 1, 1)) == 2
    index_of(parts).clear()
    follow(parts.store, index_of(parts), pages=9)
    assert found(parts, "red") == {1}
    assert found(parts, "green") == {2}
    parts.store.close()
