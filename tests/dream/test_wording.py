import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream.wording import wording


def words(text: str) -> list[str]:
    return [word for clause in wording(text).clauses for word in clause]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("I prefer short answers.", "Please keep in mind: always short answers!"),
        ("I don't like red charts", "I hate red charts"),
        ("我喜欢简短的回答", "请一律简短的回答吧"),
    ],
)
def test_how_much_and_how_politely_is_no_word_of_it(text: str, same: str) -> None:
    assert words(text) == words(same) != []


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The deadline is March 20, not March 13.", "March 13"),
        ("Not tabs but spaces", "tabs"),
        ("Use spaces instead of tabs.", "tabs"),
        ("I prefer tabs over spaces for indentation", "spaces"),
        ("We moved the review from Monday to Tuesday", "Monday"),
        ("周会是10点45分，不是9点。", "9点"),
        ("我要空格而不是制表符", "制表符"),
        ("截止日期从3月13日改到3月20日", "3月13日"),
    ],
)
def test_what_is_denied_is_told_from_what_is_said(text: str, denied: str) -> None:
    found = wording(text)
    assert found.denied.strip() == denied
    assert denied not in found.said


@pytest.mark.parametrize(
    "text", ["Do not push on Fridays", "I don't eat fish", "我不吃鱼", "这不能用", "not"]
)
def test_a_plain_denial_says_something(text: str) -> None:
    assert (wording(text).said, wording(text).denied) == (text, "")


def test_values_and_names_are_kept_apart_from_words() -> None:
    found = wording("On Fridays Anna Keller pays 1,450 euros at 9:30 am by March 3")
    assert found.values == {"1450 €", "09:30", "--03-03", "friday"}
    assert found.names == ("anna", "keller")
    assert "euro" in found.words
    assert not {"friday", "march", "am"} & found.words


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("I eat fish, not often", (True,)),
        ("The kitchen must not cost more than 100 euros", (False,)),
        ("没跑测试就不要推送", (False,)),
        ("我不吃鱼", (True,)),
    ],
)
def test_a_limit_and_a_double_denial_deny_nothing(text: str, denies: tuple[bool, ...]) -> None:
    found = wording(text)
    assert tuple(one for one, clause in zip(found.denying, found.clauses, strict=True) if clause)[
        -1:
    ] == denies or (found.denied)


@given(st.text(max_size=200))
def test_any_text_has_a_wording(text: str) -> None:
    found = wording(text)
    assert len(found.clauses) == len(found.denying) == len(found.opening) == len(found.pointing)
    assert found == wording(text)
