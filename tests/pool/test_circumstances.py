import pytest

from dreamd.pool.circumstances import BUDGET, FACT, FIGURED_FACT, HURRY, MANNER, SITUATION


@pytest.mark.parametrize(
    "text",
    [
        "I am allergic to peanuts",
        "I'm a left-handed designer",
        "I live in Berlin",
        "my wife hates red",
        "my birthday is in May",
        "our database is PostgreSQL",
        "we use PostgreSQL",
        "我对花生过敏",
        "我叫小明",
        "我在上海工作",
        "我妻子讨厌红色",
        "我们用MySQL",
    ],
)
def test_what_a_person_tells_of_himself_and_the_work_is_heard(text: str) -> None:
    assert FACT.search(text)


@pytest.mark.parametrize(
    "text", ["my laptop is broken", "our server is down", "I am ready", "我是说这个", "we use it", "我是不是"]
)
def test_what_passes_is_no_fact(text: str) -> None:
    assert FACT.search(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Budget is limited",
        "the budget's tight",
        "we are on a budget",
        "no more than 500, we can't afford it",
        "预算有限",
        "我们的预算很紧张",
        "不要超预算",
    ],
)
def test_a_limited_budget_is_heard(text: str) -> None:
    assert BUDGET.search(text)


@pytest.mark.parametrize(
    "text", ["hurry up", "please be quick", "asap", "I'm in a hurry", "快一点", "赶紧", "我赶时间"]
)
def test_hurry_is_heard(text: str) -> None:
    assert HURRY.search(text)


@pytest.mark.parametrize("text", ["a quick fox", "she left in a hurry", "快乐的一天"])
def test_what_sounds_like_hurry_is_none(text: str) -> None:
    assert HURRY.search(text) is None


def test_manners_and_measured_things_are_heard() -> None:
    assert MANNER.search("make it shorter")
    assert MANNER.search("简短一点")
    assert FIGURED_FACT.search("the port is 8080")


@pytest.mark.parametrize(
    ("text", "situation"),
    [
        ("when shopping, I prefer small stores", "when shopping"),
        ("I prefer black when buying clothes", "when buying clothes"),
        ("before every push, run the tests", "before every push"),
        ("买衣服时我喜欢黑色", "买衣服时"),
        ("买衣服的时候,我喜欢黑色", "买衣服的时候"),
        ("部署之前先备份", "部署之前"),
    ],
)
def test_a_situation_is_named_by_its_own_words(text: str, situation: str) -> None:
    match = SITUATION.search(text)
    assert match is not None
    assert match[match.lastgroup or 0] == situation


@pytest.mark.parametrize("text", ["I hate red", "我讨厌红色", "it takes two小时", "以后用表格", "平时用表格"])
def test_no_situation_is_made_up(text: str) -> None:
    assert SITUATION.search(text) is None
