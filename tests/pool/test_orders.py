import pytest

from dreamd.pool.acts import acts
from dreamd.pool.orders import stands

STANDING = [
    "Give me metric units in recipes",
    "Update the changelog with every release",
    "Look for night trains first when you plan a trip for me",
    "Please stick to British spelling on our website",
    "Put the action items into bullet points",
    "Posts without emojis please",
    "Give me the commands in Fedora",
    "菜谱里用公制单位",
    "发帖子别加表情符号",
    "发版前先改更新日志",
    "网站上请坚持用繁体字",
]
ONCE = [
    "Rename load_orders in Makefile",
    "Draft a reply to Priya about the move",
    "Find three suppliers for standing desks and compare them",
    "Make a table of lamps by price",
    "Write two sentences about the refund for Lucia",
    "Let me know when Kofi writes about badges",
    "Fix the typos in the headings",
    "Open the price page",
    "把按钮往左移一点",
    "帮我总结一下会议纪要",
    "首页就用第二个方案吧",
    "下次和小刘通话时提一下搬家",
    "今晚之前要反馈的数字",
]


@pytest.mark.parametrize("text", STANDING)
def test_an_order_that_speaks_of_a_kind_of_thing_stands(text: str) -> None:
    assert stands(text)


@pytest.mark.parametrize("text", ONCE)
def test_an_order_that_speaks_of_one_thing_does_not(text: str) -> None:
    assert not stands(text)


@pytest.mark.parametrize("text", STANDING)
def test_it_is_never_on_purpose_for_good_by_its_shape_alone(text: str) -> None:
    assert not any(act.explicit for act in acts(f"{text}."))
