import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.similarity import contrary, covered, keywords, negated, overlap


def test_word_order_and_endings_do_not_matter() -> None:
    assert overlap("deploys the reports weekly", "weekly report deployed") == 1.0


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    assert overlap("喜欢快速交付", "快速交付很重要") > 0.4
    assert overlap("喜欢红色", "数据库部署") == 0.0


def test_different_texts_have_little_in_common() -> None:
    assert overlap("the cat sleeps", "quarterly budget report") == 0.0


def test_coverage_counts_the_text_and_not_the_source() -> None:
    assert covered("weekly report", "the weekly report goes to Ann, and a lot more happened") == 1.0
    assert covered("weekly report", "nothing of the kind") == 0.0
    assert covered("", "anything") == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "do not use tabs",
        "never on Friday",
        "don’t",
        "no longer works",
        "不要红色",
        "别用它",
        "没有时间",
        "不再使用",
        "讨厌红色",
    ],
)
def test_a_denial_is_seen(text: str) -> None:
    assert negated(text)


@pytest.mark.parametrize("text", ["uses tabs", "a notable note", "别的方案", "不仅快", "用户喜欢茶"])
def test_an_affirmation_is_no_denial(text: str) -> None:
    assert not negated(text)


@given(st.text(max_size=50), st.text(max_size=50))
def test_overlap_is_a_symmetric_share(a: str, b: str) -> None:
    assert 0.0 <= overlap(a, b) == overlap(b, a) <= 1.0


@given(st.text(max_size=50))
def test_a_text_covers_itself(text: str) -> None:
    assert covered(text, text) == 1.0
    assert "" not in keywords(text)


def test_contrary_looks_at_the_clause_that_is_meant() -> None:
    assert not contrary("The shop is open", ["don't use tabs -> the shop is open"])
    assert contrary("Use tabs", ["don't use tabs -> the shop is open"])


@pytest.mark.parametrize(
    "text", ["Don't forget that the budget is limited", "别忘了预算有限", "不要忘记预算有限"]
)
def test_a_reminder_denies_nothing(text: str) -> None:
    assert not negated(text)
