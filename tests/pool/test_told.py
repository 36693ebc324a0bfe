import pytest

from dreamd.pool.acts import acts
from dreamd.pool.told import asks, fragment, talks, tells

TELLS = [
    "The small tent sleeps 2",
    "Logs are kept for 30 days",
    "Tom works in Madrid",
    "On Mondays the gym is closed",
    "Our dog is called Biscuit",
    "Whenever there are night trains, I take those",
    "Recipes should have metric units",
    "日志保留30天",
    "豆包是我们家的狗",
    "健身房周一关门",
    "小汤的办公室在马德里",
    "我出门喜欢坐高铁",
]
OF_THE_MOMENT = [
    "Rename load_orders in Makefile",
    "Leave the second one out",
    "I think the export should return earlier",
    "The export fails since this morning",
    "I want a summary of the report",
    "We are waiting for Priya",
    "It is raining again",
    "The printer is broken",
    "I'll be back after lunch",
    "We moved it to Friday",
    "Thanks, that looks good",
    "把第二个按钮往左移一点",
    "我要一份会议纪要的摘要",
    "给我们订3张票",
    "今天的会在3点",
    "服务器坏了",
    "我觉得第2个好",
    "我们5点到了",
]


@pytest.mark.parametrize("text", TELLS)
def test_how_things_are_is_heard_whatever_the_words(text: str) -> None:
    assert tells(text)


@pytest.mark.parametrize("text", OF_THE_MOMENT)
def test_orders_passing_states_events_and_guesses_tell_nothing_lasting(text: str) -> None:
    assert not tells(text)


@pytest.mark.parametrize("text", TELLS)
def test_what_is_only_told_is_never_on_purpose_for_later(text: str) -> None:
    assert not any(act.explicit for act in acts(f"{text}."))


@pytest.mark.parametrize(
    "clause",
    ["make me a list", "I want to buy an air fryer", "帮我列清单", "想买一台空气炸锅", "我们打算去爬山"],
)
def test_what_orders_or_wants_something_of_the_moment_asks(clause: str) -> None:
    assert asks(clause)


@pytest.mark.parametrize("clause", ["our budget is limited", "I hate red", "预算有限", "我不要香菜"])
def test_what_states_does_not_ask(clause: str) -> None:
    assert not asks(clause)


@pytest.mark.parametrize(
    "text",
    [
        "I have another question, though", "Talking to you has become a habit for me every day", "Your suggestions are always helpful",
        "希望我们下次聊天时会有新话题", "非常有趣，看来我们都有自己喜欢的事情", "最近我在学习英语", "我有时候会感到力不从心",
    ],
)  # fmt: skip
def test_talk_about_the_talk_and_how_one_feels_in_it_is_nothing_to_keep(text: str) -> None:
    assert talks(text)
    assert acts(f"{text}.") == ()


@pytest.mark.parametrize("text", ["locations where those modules should go", "the people who work there"])
def test_the_name_of_something_is_no_statement(text: str) -> None:
    assert fragment(text)
    assert acts(text) == ()


def test_a_statement_that_begins_like_a_name_is_one() -> None:
    assert not fragment("The office where we meet, room 4, is in Bonn")
