import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.calls import Reply, Stop
from dreamd.deep_dream.reply import Proposal, Proposed, Retired, cited, parse
from dreamd.errors import ReplyUnusable


def parsed(text: str, stop: Stop = "end") -> Proposal:
    return parse(Reply(text=text, stop=stop))


WHOLE = """[MEMORY]
## Tools
- uses pnpm (M1, D2)
- (M2)
[RETIRED]
- M3: replaced by the pnpm line (D2)
[DREAM]
A quiet day.
[END]"""


def test_a_whole_reply_is_taken_apart() -> None:
    assert parsed(WHOLE) == Proposal(
        lines=(Proposed("uses pnpm", ("M1", "D2"), "Tools"), Proposed("", ("M2",), "Tools")),
        retired=(Retired("M3", "replaced by the pnpm line", ("D2",)),),
        dream="A quiet day.",
    )


@pytest.mark.parametrize(
    "dressed",
    [
        WHOLE.replace("[", "【").replace("]", "】"),
        f"Sure, here it is:\n```markdown\n{WHOLE}\n```",
        WHOLE.replace("[MEMORY]", "**[Memory]**").replace("[END]", "## [end]"),
        WHOLE.replace("[MEMORY]", "  [ MEMORY ] "),
        WHOLE + "\nHope this helps! [MEMORY]",
        WHOLE.replace("[END]", ""),  # [DREAM] behind it shows that [MEMORY] is whole
        WHOLE.replace("[END]", "[/END]"),
        WHOLE.replace("[DREAM]", "[RETIRED]\n[DREAM]"),
        WHOLE.replace("(M1, D2)", "[M1][D2]"),
        WHOLE.replace("(M1, D2)", "（M1、D2）"),
        WHOLE.replace("- uses", "1. uses"),
    ],
)
def test_dress_does_not_matter(dressed: str) -> None:
    assert parsed(dressed) == parsed(WHOLE)


@pytest.mark.parametrize(
    "broken",
    [
        "I have no idea.",
        WHOLE.replace("[MEMORY]", ""),
        WHOLE[:30],
        WHOLE[: WHOLE.index("[DREAM]")],
        "[DREAM]\nA quiet day.\n[MEMORY]\n- uses pnpm (M1)",
        WHOLE.replace("[DREAM]", "[MEMORY]"),
    ],
)
def test_an_incomplete_reply_is_not_used(broken: str) -> None:
    with pytest.raises(ReplyUnusable):
        parsed(broken)


@pytest.mark.parametrize("stop", ["length", "filter"])
def test_a_reply_that_was_cut_off_is_not_used_even_if_it_looks_whole(stop: Stop) -> None:
    with pytest.raises(ReplyUnusable, match="cut off"):
        parsed(WHOLE, stop)


@pytest.mark.parametrize(
    ("line", "text", "cites"),
    [
        ("uses pnpm (M1)", "uses pnpm", ("M1",)),
        ("uses pnpm (m1; d02).", "uses pnpm.", ("M1", "D2")),
        ("uses pnpm (D1-D3)", "uses pnpm", ("D1", "D2", "D3")),
        ("uses pnpm (D1-3, M4)", "uses pnpm", ("D1", "D2", "D3", "M4")),
        ("uses pnpm【M1】（D2）", "uses pnpm", ("M1", "D2")),
        ("[M1] uses pnpm", "uses pnpm", ("M1",)),
        ("M1: uses pnpm", "uses pnpm", ("M1",)),
        ("has a MacBook (M1 chip) (D2)", "has a MacBook (M1 chip)", ("D2",)),
        ("no number", "no number", ()),
        ("see (note)", "see (note)", ()),
        ("喜欢茶（M1，D2）。", "喜欢茶。", ("M1", "D2")),
    ],
)
def test_source_numbers_are_taken_off(line: str, text: str, cites: tuple[str, ...]) -> None:
    assert cited(line) == (text, cites)


def test_a_bulleted_line_without_numbers_is_kept_to_be_refused() -> None:
    assert parsed("[MEMORY]\n- invented\nsome talk\n[END]").lines == (Proposed("invented", ()),)


def test_none_is_an_empty_memory() -> None:
    assert parsed("[MEMORY]\n- None\n[DREAM]\n[END]").lines == ()


@given(st.text())
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        proposal = parsed(text)
    except ReplyUnusable:
        return
    assert isinstance(proposal, Proposal)


@given(
    st.text(alphabet="abc 喜欢", min_size=1).map(str.strip).filter(bool),
    st.lists(st.integers(1, 99), min_size=1, unique=True),
)
def test_what_is_written_is_read_back(text: str, numbers: list[int]) -> None:
    ids = tuple(f"D{number}" for number in numbers)
    assert cited(f"{text} ({', '.join(ids)})") == (text, ids)
