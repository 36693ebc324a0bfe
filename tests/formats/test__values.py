"""Times, texts, traces and digests out of values of any type."""

from datetime import UTC, datetime

import pytest

from dreamd.formats._values import bound, digest, epoch_time, integer, joined, name_of, outcome, text_of
from dreamd.records import Trace


@pytest.mark.parametrize(
    ("seconds", "at"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1781000000.9996, datetime(2026, 6, 9, 10, 13, 20, 999000, tzinfo=UTC)),
        (1e30, None),
        (float("nan"), None),
        (True, None),
        ("5", None),
        (None, None),
    ],
)
def test_seconds_become_utc_cut_to_milliseconds(seconds, at):
    assert epoch_time(seconds) == at


def test_texts_are_trimmed_and_empty_ones_vanish():
    assert joined([" a ", "", " \n", "b\nc\n"]) == "a\nb\nc"


def test_what_is_no_text_is_shown_as_json():
    assert [text_of(value) for value in ("a", None, {"b": 1}, [True])] == ["a", "", '{"b":1}', "[true]"]


def test_an_outcome_is_a_result_or_an_error_cut_to_its_bound():
    assert outcome("args", "字" * 1000, ok=True) == Trace(arguments="args", result="字" * 682)
    assert outcome("args", "bad", ok=False) == Trace(arguments="args", error="bad")


def test_a_name_depends_on_every_part_alone():
    assert name_of("s", "1") == name_of("s", "1") != name_of("s", "2")
    assert len(name_of("\ud800")) == 24


def test_a_table_beyond_its_bound_lets_the_oldest_go():
    table = {"a": 1, "b": 2, "c": 3}
    bound(table, 2)
    assert list(table) == ["b", "c"]


def test_what_is_no_integer_is_nought():
    assert [integer(value) for value in (7, "7", None)] == [7, 0, 0]


def test_a_digest_tells_where_one_part_ends():
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a") == digest(b"a")
    assert len(digest("\ud800")) == 8
