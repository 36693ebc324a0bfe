import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream.compare import DIFFERENT, SAME, Adds, Contradicts, compare

SAYINGS = st.sampled_from(
    [
        "I hate red in charts", "I like red charts", "Please avoid red in the charts, I dislike it", "No blue charts",
        "The budget is 500 euros", "The budget is 800 euros, not 500", "Our budget is limited", "Anna reports to Bob",
        "Bob reports to Anna", "我不吃香菜", "我吃香菜", "点菜别放香菜，我不吃", "周会9点开始", "周会10点开始", "", "not", "...",
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("I prefer short answers", "Please keep your answers short."),
        ("Our budget is limited, so nothing fancy.", "The budget is limited this time too, take the cheaper one."),
        ("I drink green tea in the morning.", "My morning drink is green tea."),
        ("I don't eat meat.", "No meat for me, I don't eat that."),
        ("No meetings before 10 am.", "Don't put meetings before 10 am into my calendar."),
        ("The release is planned for May 8.", "The release must go out on May 8."),
        ("Our rent is 1,450 euros a month", "The rent is 1450 euros per month"),
        ("You should indent with tabs, not mix them.", "Use tabs to indent."),
        ("I am allergic to peanuts", "I have an allergy to peanuts"),
        ("We decided to use PostgreSQL for the orders service", "We agreed on PostgreSQL for the orders service"),
        ("我喝茶不加糖", "茶我都不要加糖"),
        ("我上午11点以前不开会", "上午11点之前不要给我安排会议"),
        ("我喜欢简短的回答，长的看不完。", "你的回答要简短。"),
        ("代码缩进用制表符。", "说过了，缩进要用制表符。"),
        ("我们的预算有限", "因为预算有限，先看便宜的方案"),
        ("基金申请3月13日截止。", "基金申请的截止日期是三月十三日。"),
    ],
)  # fmt: skip
def test_other_words_for_the_same_are_the_same(left: str, right: str) -> None:
    assert compare(left, right) == compare(right, left) == SAME


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("I hate red shirts", "I hate blue shirts"),
        ("I like red", "I like red wine"),
        ("I prefer an aisle seat on flights", "For the flight take a window seat, I prefer that"),
        ("I drink coffee in the morning", "I drink coffee in the evening"),
        ("I prefer Python for scripts", "I prefer Ruby for scripts"),
        ("In the weekly report, dates are ISO", "In the weekly report, add charts"),
        ("Order green tea, that is what I drink in the morning", "I drink black coffee in the morning"),
        ("Anna's birthday is on May 3.", "Anne's birthday is on May 30."),
        ("The alpha server has 16 GB of memory", "There are 64 GB of memory in the beta server"),
        ("The flight to Oslo leaves at 6:40.", "The flight from Oslo leaves at 16:40."),
        ("Anna reports to Bob", "Bob reports to Anna"),
        ("Issue 12 is closed", "Issue 13 is closed"),
        ("The tests failed on March 2", "The tests failed on March 5"),
        ("I bought 3 apples yesterday", "I bought 5 apples yesterday"),
        ("The cause is in load_orders: it reads twice", "The cause is in parse_row: it reads twice"),
        ("换一家吧，我不吃香菜。", "换一家吧，我不吃猪肉。"),
        ("我讨厌红色的图表", "我讨厌橙色的图表"),
        ("代码注释用英文写", "代码注释用日文写"),
        ("小安的生日是5月3日", "小燕的生日是5月30日"),
        ("我早上喝绿茶", "给我点一杯豆浆，我早上都喝这个"),
        ("", "I like tea"),
    ],
)  # fmt: skip
def test_likeness_makes_nothing_the_same_and_nothing_a_contradiction(left: str, right: str) -> None:
    assert compare(left, right) == compare(right, left) == DIFFERENT


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("I eat fish.", "No fish, I don't eat fish.", "denies"),
        ("We deploy on Fridays.", "We never deploy on Fridays.", "denies"),
        ("The API allows 100 requests per minute.", "The API allows 250 requests per minute.", "250"),
        ("The warehouse opens at 7:00.", "The warehouse is open from 8:30.", "08:30"),
        ("The contract ends on June 30.", "The contract ends on September 30.", "--09-30"),
        ("The review is on Monday", "The review is on Thursday", "thursday"),
        ("Our paper supplier is Brightwell.", "Our paper supplier is Norwood.", "norwood"),
        ("I use tabs for indentation", "For indentation, not tabs but spaces", "not tabs"),
        (
            "The grant deadline is March 13",
            "No, the grant deadline is March 20, not March 13.",
            "not March 13",
        ),
        ("我吃鱼", "我不吃鱼", "denies"),
        ("我们周五上线", "我们周五不上线", "denies"),
        ("仓库早上7点开门", "仓库早上8点半开门", "08:30"),
        ("合同6月30日到期", "合同的到期日是9月30日", "--09-30"),
        ("周会9点开始", "周会的时间是10点45分，不是9点", "9点"),
    ],
)
def test_another_value_or_a_denial_of_the_same_thing_contradicts(left: str, right: str, reason: str) -> None:
    found = compare(left, right)
    assert isinstance(found, Contradicts)
    assert reason in found.reason
    assert isinstance(compare(right, left), Contradicts)


@pytest.mark.parametrize(
    ("old", "text"),
    [
        ("I drink coffee", "Not coffee but tea for the meeting"),
        ("I prefer tabs", "Actually I prefer coffee"),
        ("The alpha server has 16 GB of memory", "Actually the beta server has 64 GB of memory, not 16 GB"),
        ("Our office is in Berlin", "The party is in Hamburg, not Berlin"),
    ],
)
def test_a_correction_leaves_bystanders_alone(old: str, text: str) -> None:
    assert compare(old, text) == DIFFERENT


@given(SAYINGS, SAYINGS)
def test_a_comparison_does_not_depend_on_who_comes_first(left: str, right: str) -> None:
    assert compare(left, right) == compare(right, left)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_can_be_compared(left: str, right: str) -> None:
    assert compare(left, left) == SAME
    assert compare(left, right) == compare(right, left)


@given(SAYINGS, st.integers(1, 99), st.integers(1, 99))
def test_what_differs_in_a_number_is_never_the_same(text: str, one: int, other: int) -> None:
    found = compare(f"{text}: {one} euros", f"{text}: {other} euros")
    assert (found == SAME) == (one == other)


def test_half_of_the_characters_are_enough_only_where_a_whole_clause_is_shared() -> None:
    assert compare("这个方案太贵了，预算有限", "新的材料也一样，预算很有限") == SAME
    assert compare("我喝咖啡加糖", "我早上喝美式咖啡") == DIFFERENT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The spare key number 0 hangs in the cellar.", "The spare key number 1 hangs in the cellar."),
        ("I prefer option 3 for widget 3.", "I prefer option 30 for widget 30."),
        ("订单12已经寄到公司。", "订单13已经寄到公司。"),
    ],
)
def test_a_number_that_is_a_name_makes_two_matters(one: str, other: str) -> None:
    assert compare(one, other) == DIFFERENT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna pays the hotel and Bert pays the train.", "Bert pays the hotel and Anna pays the train."),
        ("The hotel costs 300 and the train 80.", "The hotel costs 80 and the train 300."),
        ("酒店300元，车票80元。", "酒店80元，车票300元。"),
        ("张伟向李娜汇报。", "李娜向张伟汇报。"),
    ],
)
def test_the_same_words_for_other_things_are_not_the_same(one: str, other: str) -> None:
    assert compare(one, other) != SAME
    assert compare(one, one) == SAME


@pytest.mark.parametrize(
    ("core", "fuller"),
    [
        ("The budget is limited", "Our budget is limited, at most 800 euros a month"),
        ("预算还是有限", "预算有限，每月不超过 800 元"),
        ("I take the night train to Vienna", "I take the night train to Vienna, seat 42"),
        ("例会在周四", "例会在周四，302会议室"),
    ],
)
def test_who_says_it_with_a_detail_more_says_it_too(core: str, fuller: str) -> None:
    assert compare(core, fuller) == compare(fuller, core) == Adds(core, fuller)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("We deploy every day", "We deploy every day, but not on March 13"),
        ("I eat meat", "I eat meat, only 2 times a month"),
        ("我们每天发布", "我们每天发布，除了3月13日"),
        ("The budget is 500 euros", "The budget is limited, at most 800 euros"),
        ("In the weekly report, dates are ISO", "In the weekly report, 3 charts"),
    ],
)
def test_what_limits_the_rest_or_says_another_number_is_no_detail(left: str, right: str) -> None:
    assert not isinstance(compare(left, right), Adds)
    assert compare(left, right) != SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We release version 1.4 on March 13", "The release of 1.4 moves from March 13 to March 20, the translations are late"),
        ("The rent is 900 euros", "The rent goes up from 900 to 950 euros"),
        ("发布定在3月13日", "发布从3月13日推迟到3月20日"),
        ("房租是900元", "房租从900元涨到950元"),
    ],
)  # fmt: skip
def test_what_moves_from_one_value_to_another_contradicts_the_first(old: str, new: str) -> None:
    assert isinstance(compare(old, new), Contradicts)
    assert isinstance(compare(new, old), Contradicts)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The gym is closed on Mondays", "The gym is open on Mondays"),
        ("On Mondays the gym is closed", "Mondays the gym stays open"),
        ("The door is to be opened from below", "The door is to be closed from below"),
        ("健身房周一关门", "周一健身房开着"),
    ],
)
def test_a_word_and_its_opposite_in_the_same_place_contradict(left: str, right: str) -> None:
    assert isinstance(compare(left, right), Contradicts)
    assert isinstance(compare(right, left), Contradicts)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The gym is closed on Mondays", "The pool is open on Mondays"),
        ("The gym is closed on Mondays", "The gym is open on Fridays"),
        ("健身房周一休息，不开门", "周一健身房开着"),
        ("I like swimming in the park", "I like running in the park"),
    ],
)
def test_opposite_words_of_other_things_and_what_is_denied_beside_do_not_make_one(
    left: str, right: str
) -> None:
    assert compare(left, right) == DIFFERENT


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The caterer asks 650 euros", "The caterer costs 650 euros"),
        ("The train leaves from platform 4", "Our train goes from platform 4"),
        ("I'd rather take night trains than fly", "My trips should use night trains where possible"),
        ("Our dog is called Biscuit", "The dog's name is Biscuit"),
        ("日志保留30天", "我们的日志保存30天"),
        ("找我最好用微信", "随时可以用微信找我"),
    ],
)
def test_words_that_only_say_how_much_or_what_to_do_make_no_other_matter(left: str, right: str) -> None:
    assert compare(left, right) == SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我经常吃鱼", "我不吃鱼"),
        ("鱼可以，我经常吃鱼", "别点鱼，我不吃鱼"),
        ("我是吃鱼的，寿司没问题", "我从来不吃鱼"),
        ("I often eat fish, sushi is fine", "Fish? No, I don't eat fish"),
        ("We deploy with Helm, it works", "We don't deploy with Helm"),
    ],
)
def test_what_somebody_says_of_himself_and_denies_contradicts_whatever_stands_beside(
    one: str, other: str
) -> None:
    assert isinstance(compare(one, other), Contradicts)
    assert isinstance(compare(other, one), Contradicts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("蓝色的服务器，我每天重启", "红色的服务器，我不重启"),
        ("At home I use vim", "At work I don't use vim"),
        ("I use vim, at home", "I don't use vim, at work"),
        ("我常吃鱼", "我弟弟不吃鱼"),
        ("I drink coffee in the morning", "I don't drink coffee in the evening"),
        ("我吃鱼，但是不吃虾", "我不吃鱼，但是吃虾"),
        ("I work at night, the server does not", "I don't work at night, the server does"),
        ("我喝茶，他不喝咖啡", "我不喝茶，他喝咖啡"),
    ],
)
def test_a_denial_of_another_matter_or_on_another_occasion_is_two_matters(one: str, other: str) -> None:
    assert compare(one, other) == compare(other, one) == DIFFERENT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The lab is on the second floor", "The lab is on the fifth floor"),
        ("You find the lab on the 2nd floor", "The lab is on the fifth floor"),
        ("Our archive is in room 12", "Our archive is in room 15"),
        ("我们的实验室在2楼", "实验室在五楼"),
        ("实验室在二层", "实验室在5层"),
    ],
)
def test_a_thing_is_in_one_place_whose_number_is_a_value(one: str, other: str) -> None:
    assert isinstance(compare(one, other), Contradicts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The printer is on the second floor", "The lab is on the fifth floor"),
        ("The fire was on the second floor", "The fire was on the fifth floor"),
        ("Stop at the second level", "Stop at the fifth level"),
        ("The bug is in line 12", "The bug is in line 15"),
        ("一号会议室在2楼", "二号会议室在5楼"),
        ("第二层用红色", "第五层用蓝色"),
    ],
)
def test_numbers_of_other_things_and_events_make_no_place(one: str, other: str) -> None:
    assert compare(one, other) == DIFFERENT
