from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from dreamd.daily.page import Section, holds, lines_of, mark, put

DAY = date(2026, 3, 2)
A, B, C = "a" * 64, "b" * 64, "c" * 64


def section(input_hash: str = A, *lines: str, **more: object) -> Section:
    return Section(
        day=DAY, input_hash=input_hash, lines=lines or ("User: x -> Reply: y",), language="en", **more
    )


def test_a_new_file_is_the_section_alone() -> None:
    assert put("", section(hours="09:01-17:40 UTC+01:00")) == (
        "<!-- dreamd daily 2026-03-02 aaaaaaaaaaaa -->\n"
        "## Daily summary 2026-03-02 09:01-17:40 UTC+01:00\n"
        "\n"
        "- User: x -> Reply: y\n"
        "<!-- /dreamd -->\n"
    )


def test_the_chinese_labels() -> None:
    text = put(
        "", Section(day=DAY, input_hash=A, lines=["用户: 甲 → 回复: 乙"], language="zh", rules=1, more=2)
    )
    assert "## 每日摘要 2026-03-02（规则摘要）\n" in text
    assert "- 用户: 甲 → 回复: 乙\n（另有 2 条，未列出）\n<!-- /dreamd -->\n" in text
    late = put(text, Section(day=DAY, input_hash=B, lines=["1", "2"], language="zh", rules=1))
    assert "## 每日摘要 2026-03-02，补记（部分为规则摘要）\n" in late


def test_who_wrote_it_stands_in_the_heading() -> None:
    assert "summary)" not in put("", section(A, "one", "two"))
    assert "(partly rule-based summary)" in put("", section(A, "one", "two", rules=1))
    assert "02 (rule-based summary)" in put("", section(A, "one", "two", rules=2))


def test_what_found_no_room_is_counted_and_is_no_line() -> None:
    text = put("", section(more=7))
    assert "\n(and 7 more, not listed here)\n" in text
    assert lines_of(text, DAY, A) == ("User: x -> Reply: y",)


@given(st.text())
def test_other_text_stays_as_it_is(other: str) -> None:
    text = put(other, section())
    assert text.startswith(other)
    between = text[len(other) : text.index(mark(DAY, A), len(other))]
    assert between in ("", "\n")


def test_the_same_section_is_not_written_twice() -> None:
    text = put("mine\n", section())
    assert put(text, section()) == text
    assert put(text + "more of mine\n", section()) == text + "more of mine\n"


def test_a_second_section_is_a_supplement() -> None:
    text = put(put("", section(A)), section(B, "late"))
    assert text.count("supplement") == 1
    assert text.index("supplement") > text.index(mark(DAY, B))


def test_an_abandoned_section_is_replaced_where_it_stands_and_nothing_else_is() -> None:
    text = "top\n" + put("", section(A, "old")) + "bottom\n"
    new = put(text, section(B, "new"), instead_of=(A,))
    assert new == "top\n" + put("", section(B, "new")) + "bottom\n"


def test_none_means_all_of_the_day_and_no_other_day() -> None:
    other = Section(day=date(2026, 3, 1), input_hash=C, lines=["yesterday"], language="en")
    text = put(put(put("top\n", section(A, "one")) + "between\n", section(B, "two")), other)
    new = put(text, section(A, "whole"), instead_of=None)
    assert new == put(put("top\n", section(A, "whole")) + "between\n", other)


def test_a_section_whose_closing_mark_is_gone_is_left_alone() -> None:
    text = put("", section(A, "old")).replace("<!-- /dreamd -->\n", "") + "a person's text\n"
    new = put(text, section(B, "new"), instead_of=None)
    assert new.startswith(text)
    assert holds(text, DAY, A)
    assert put(text, section(A, "old")) == text


def test_an_open_section_does_not_reach_into_the_next() -> None:
    broken = put("", section(A, "one")).replace("<!-- /dreamd -->\n", "")
    text = put(broken + "a person's text\n", section(B, "two"))
    new = put(text, section(C, "three"), instead_of=(A, B))
    assert new.startswith(broken + "a person's text\n")


def test_lines_are_read_as_they_stand() -> None:
    text = put("- not mine\n", section(A, "one", "two")).replace("two", "two, edited").replace("\n", "\r\n")
    assert lines_of(text, DAY, A) == ("one", "two, edited")
    assert lines_of(text, DAY, B) == ()


def test_the_sections_of_another_agent_in_the_same_file_are_left_alone() -> None:
    text = put(put("", section(A, "mine", agent="anna")), section(B, "theirs", agent="bert"))
    assert text.startswith(mark(DAY, A, "anna"))
    assert "supplement" not in text
    again = put(text, section(C, "mine anew", agent="anna"), instead_of=None)
    assert lines_of(again, DAY, A) == ()
    assert lines_of(again, DAY, B) == ("theirs",)
    assert lines_of(again, DAY, C) == ("mine anew",)
    assert "supplement" in put(again, section(A, "late", agent="bert"))
