import re

from dreamd.pool.cues import FIGURE, MEMORY_CALL, B, Pattern


def test_a_pattern_is_tried_on_texts_with_a_hint_alone() -> None:
    pattern = Pattern("red blue", r"\bgreen\b")
    assert pattern.search("green and red")
    assert pattern.search("green 和红")
    assert pattern.search("green alone") is None


def test_what_begins_a_clause_is_looked_for_there() -> None:
    pattern = Pattern("i", rf"{B}i hate", "red is")
    assert pattern.search("well, i hate it")
    assert pattern.search("because I hate it")
    assert pattern.search("he thinks i hate it") is None
    assert pattern.search("all red is gone, i said")


def test_figures_are_numbers_and_days_but_not_one_of_a_kind() -> None:
    assert all(
        FIGURE.search(text) for text in ("3 reports", "by Friday", "in March", "三份", "周五", "一万元")
    )
    assert not any(FIGURE.search(text) for text in ("a report", "一个好主意", "soon"))


def test_a_call_to_remember_ends_where_the_matter_begins() -> None:
    for text in ("remember: X", "Please remember that X", "keep in mind: X", "记住,X", "请记一下:X"):
        call = re.match(MEMORY_CALL, text)
        assert call is not None
        assert text[call.end() :] == "X"
    assert MEMORY_CALL.match("I remember X") is None
