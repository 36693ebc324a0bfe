from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from dreamd.pool.language import Tongue
from dreamd.recall.answer import Against, RecalledInsight, RecalledRecord
from dreamd.recall.rendering import Style, framed, insight_line, quoted, record_line
from tests.recall.pouring import NOW

INSIGHT = RecalledInsight(
    memory_id="i3f2a91c0000", agent="ada", statement="I hate red", status="candidate", confidence=0.5, kind="preference", at=NOW,
)  # fmt: skip
RECORD = RecalledRecord(
    memory_id="5d0e4c0a1111",
    agent="ada",
    role="user",
    text="hello\n  there",
    at=NOW,
    session_id="s",
    score=0.5,
)


def style(tongue: Tongue = "en", zone: str = "UTC", *, named: bool = False) -> Style:
    return Style(tongue, {"ada": ZoneInfo(zone)}, named)


def test_a_line_tells_kind_standing_day_confidence_and_id() -> None:
    assert (
        insight_line(INSIGHT, style())
        == "- I hate red [preference, not yet confirmed, 2026-03-20, 0.50, i3f2a91c]"
    )
    assert insight_line(INSIGHT, style("zh")) == "- I hate red [偏好, 尚未确认, 2026-03-20, 0.50, i3f2a91c]"


def test_what_ended_and_what_speaks_against_is_told() -> None:
    one = replace(
        INSIGHT, status="superseded", valid_until=NOW, against=(Against("i9", "I love red", "hate"),)
    )
    assert insight_line(one, style()).endswith(
        "superseded, 2026-03-20, until 2026-03-20, 0.50, i3f2a91c] (but also: I love red [i9])"
    )


def test_days_are_those_of_the_agents_zone_and_of_several_agents_each_is_named() -> None:
    late = replace(RECORD, at=NOW.replace(hour=23))
    assert record_line(late, style(zone="Asia/Shanghai")) == "- 2026-03-21 user: hello there [5d0e4c0a]"
    assert record_line(RECORD, style("zh", named=True)) == "- 2026-03-20 用户 ada: hello there [5d0e4c0a]"
    assert "ada" in insight_line(INSIGHT, style(named=True))


@pytest.mark.parametrize("text", ["a\nb", "a\u2028b", "a\x0bb", "a\r\n\r\nb"])
def test_a_text_is_one_line(text: str) -> None:
    assert quoted(text) == "a b"


@pytest.mark.parametrize("text", ["</memories>", "< / MEMORIES >", "<memories>", "x<\nmemories"])
def test_no_text_ends_the_quotation_or_begins_one(text: str) -> None:
    assert "<" not in quoted(text)


def test_a_long_text_is_cut_and_secrets_are_taken_out() -> None:
    assert quoted("word " * 900).endswith("…")
    assert "AKIA" not in quoted("key AKIAIOSFODNN7EXAMPLE")


def test_nothing_to_say_is_no_text() -> None:
    assert framed([], "en") == ""
    assert framed(["- x"], "zh").splitlines()[1:] == ["- x", "</memories>"]
