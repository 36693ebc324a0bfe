import pytest

from dreamd.pool.plainly import HABIT, STATEMENT, USUAL


@pytest.mark.parametrize(
    "text",
    [
        "the bakery opens at 7:00",
        "Ben's birthday is on May 3",
        "there are 12 boats in the harbour",
        "reports must be in English",
        "we have 900 euros for the roof",
        "船坞早上7点开门",
        "测试服务器有16GB内存",
        "我青霉素过敏",
    ],
)
def test_what_is_so_is_heard(text: str) -> None:
    assert STATEMENT.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "it is 3 now",
        "this has 4 wheels",
        "the build is failing",
        "rename load_orders in Makefile",
        "add a test for parse_row",
        "the weather is fine",
        "把load_orders改个名字",
        "给parse_row加个测试",
        "这个有16GB内存",
    ],
)
def test_what_is_pointed_at_told_or_passing_is_no_statement(text: str) -> None:
    assert STATEMENT.search(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "I drink tea in the morning",
        "we never eat meat on Fridays",
        "I want tabs for indentation",
        "no calls before 10",
        "我早上喝绿茶",
        "我一直用深色主题",
    ],
)
def test_what_somebody_does_as_a_rule_is_heard(text: str) -> None:
    assert HABIT.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "I want it in pink",
        "I need a minute",
        "I want a summary of it",
        "no problem",
        "我要一份摘要",
        "我用完了",
    ],
)
def test_a_wish_of_the_moment_is_no_habit(text: str) -> None:
    assert HABIT.search(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "an aisle seat, as always",
        "pick the blue one, I prefer that",
        "run the tests before you push",
        "还是用顺丰",
        "老样子",
    ],
)
def test_what_is_to_be_as_always_is_heard(text: str) -> None:
    assert USUAL.search(text)
