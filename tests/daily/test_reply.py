import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.daily.reply import Line, Parsed, parse

ONE = "User: a -> Reply: b"


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        (f"- {ONE} [E3]", (3,)),
        (f"* {ONE} [E3, E4]", (3, 4)),
        (f"• {ONE} [E3,4]", (3, 4)),
        (f"1. {ONE} [E3][E4]", (3, 4)),
        (f"2) {ONE} (E3)", (3,)),
        (f"3、{ONE}【E3】", (3,)),
        (f"（4）{ONE}（E3、E4）", (3, 4)),
        (f"{ONE} [E3-E5]", (3, 4, 5)),
        (f"{ONE} [E3–5]", (3, 4, 5)),
        (f"{ONE} [E3 to E5]", (3, 4, 5)),
        (f"{ONE} [e3 and e4]", (3, 4)),
        (f"- E3: {ONE}", (3,)),
        (f"- **E3** {ONE}", (3,)),
        (f"- E3 09:14 {ONE}", (3,)),
        (f"- {ONE} [E4, E3, E4]", (4, 3)),
    ],
)
def test_many_ways_to_name_events_are_understood(written: str, cited: tuple[int, ...]) -> None:
    assert parse(written, "end") == Parsed((Line(ONE, cited),))


def test_fences_and_prose_around_are_passed_over() -> None:
    text = f"Here are the notes:\n```markdown\n- {ONE} [E1]\n```\nLet me know!"
    assert parse(text, "end") == Parsed((Line(ONE, (1,)),))


def test_a_line_broken_before_its_reply_is_joined() -> None:
    assert parse("- User: a\n  -> Reply: b [E1]\n- 用户: c\n回复: d [E2]", "end").lines == (
        Line(ONE, (1,)),
        Line("用户: c 回复: d", (2,)),
    )


@pytest.mark.parametrize(
    "text", ["None", "- None", "none.", "无", "- 无。", "（无）", "```\nNone\n```", "- N/A"]
)
def test_the_word_for_nothing_is_no_line(text: str) -> None:
    assert parse(text, "end") == Parsed(nothing=True)


def test_nothing_beside_something_does_not_count() -> None:
    assert parse(f"- {ONE} [E1]\n- None", "end") == Parsed((Line(ONE, (1,)),))
    assert parse("- None [E1]", "end").lines == ()


def test_a_bullet_without_numbers_is_counted() -> None:
    assert parse(f"- {ONE}\n- {ONE} [E1]", "end") == Parsed((Line(ONE, (1,)),), uncited=1)


def test_of_a_reply_cut_off_the_last_line_goes_unless_it_is_whole() -> None:
    assert len(parse(f"- {ONE} [E1]\n- User: c -> Reply: 12", "length").lines) == 1
    assert len(parse(f"- {ONE} [E1]\n- User: c -> Reply: d [E2", "length").lines) == 1
    assert len(parse(f"- {ONE} [E1]\n- User: c -> Reply: d [E2]", "length").lines) == 2
    assert len(parse(f"- {ONE} [E1]\n- E2: User: c -> Reply: 12", "length").lines) == 1


def test_a_huge_range_is_bounded() -> None:
    assert len(parse(f"- {ONE} [E1-E999999]", "end").lines[0].cited) < 100


def test_the_same_line_twice_is_one() -> None:
    assert len(parse(f"- {ONE} [E1]\n" * 50, "end").lines) == 1


@given(st.text("-*E0123 []【】\n，,abc→>:用户无", max_size=120), st.sampled_from(["end", "length", "filter"]))
def test_no_reply_breaks_it_and_every_line_names_an_event(text: str, stop: str) -> None:
    parsed = parse(text, stop)
    assert all(line.cited and line.text and "\n" not in line.text for line in parsed.lines)
