import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream.alike import alike, likeness, nested
from dreamd.dream.wording import wording

SAYINGS = st.sampled_from(
    [
        "I hate red in charts",
        "I like red charts",
        "The budget is 500 euros",
        "我不吃香菜",
        "点菜别放香菜，我不吃",
        "",
        "...",
    ]
)


@pytest.mark.parametrize(
    ("left", "right", "like"),
    [
        ("I prefer short answers", "Please keep your answers short", True),
        ("I hate red shirts", "I hate blue shirts", False),
        ("The caterer asks 650 euros", "The caterer costs 650 euros", True),
        ("日志保留30天", "日志保存30天", True),
        ("我早上喝绿茶", "我早上喝豆浆", False),
    ],
)
def test_no_word_may_stand_where_the_other_has_another_one(left: str, right: str, like: bool) -> None:
    a, b = wording(left), wording(right)
    assert alike(a, b, 0.5) == alike(b, a, 0.5) == like


@given(SAYINGS, SAYINGS)
def test_likeness_is_a_share_and_does_not_depend_on_who_comes_first(left: str, right: str) -> None:
    a, b = wording(left), wording(right)
    assert 0 <= likeness(a, b) <= 1
    assert likeness(a, b) == likeness(b, a)


def test_one_says_all_the_words_of_the_other() -> None:
    assert nested(wording("The gym is closed"), wording("On Mondays the gym is closed"))
    assert not nested(wording("The gym is closed"), wording("The pool is closed"))
