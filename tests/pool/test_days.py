from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.days import Meant, meant

FRIDAY = date(2026, 3, 20)


def day(number: int, month: int = 3) -> date:
    return date(2026, month, number)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what did i do yesterday?", [day(19)]),
        ("昨天我做了什么", [day(19)]),
        ("昨晚说了什么", [day(19)]),
        ("the day before yesterday", [day(18)]),
        ("前天", [day(18)]),
        ("大前天", [day(17)]),
        ("last night's build", [day(19)]),
        ("3 days ago", [day(17)]),
        ("a couple of days ago", [day(18)]),
        ("三天前", [day(17)]),
        ("十二天之前", [day(8)]),
        ("last tuesday", [day(17), day(10)]),
        ("last friday", [day(13)]),
        ("last saturday", [day(14)]),
        ("上周二", [day(10)]),
        ("上个星期天的事", [day(15)]),
        ("上上周五", [day(6)]),
        ("本周一", [day(16)]),
        ("周三讨论了什么", [day(18)]),
        ("on wednesday", [day(18)]),
        ("on friday", [day(20)]),
        ("next monday", [day(23)]),
        ("下周一", [day(23)]),
        ("last weekend", [day(14), day(15)]),
        ("上周末", [day(14), day(15)]),
        ("上个月5号", [day(5, 2)]),
        ("最近两天", [day(20), day(19), day(18)]),
        ("in the last two days", [day(20), day(19), day(18)]),
        ("tomorrow", [day(21)]),
        ("今天", [day(20)]),
    ],
)
def test_days_by_their_distance(question: str, days: list[date]) -> None:
    assert list(meant(question, FRIDAY).days) == days


@pytest.mark.parametrize("question", ["last week", "上周", "上个星期", "上礼拜", "a week ago", "一周前", "7天前的那个星期 last week"])  # fmt: skip
def test_a_week(question: str) -> None:
    assert {day.isocalendar().week for day in meant(question, FRIDAY).weeks} == {11}


@pytest.mark.parametrize(
    "question", ["上上周", "the week before last", "two weeks ago", "两周前", "两个星期前"]
)
def test_the_week_before(question: str) -> None:
    assert {day.isocalendar().week for day in meant(question, FRIDAY).weeks} == {10}


@pytest.mark.parametrize(("question", "month"), [("last month", 2), ("上个月", 2), ("上月", 2), ("这个月", 3), ("two months ago", 1),
                                                ("两个月前", 1), ("上个月31号", 2)])  # fmt: skip
def test_a_month(question: str, month: int) -> None:
    assert meant(question, FRIDAY).months == (day(1, month),)


@pytest.mark.parametrize(("question", "year"), [("last year", 2025), ("去年", 2025), ("前年", 2024), ("3年前", 2023)])  # fmt: skip
def test_a_year(question: str, year: int) -> None:
    assert meant(question, FRIDAY).years == (year,)


@pytest.mark.parametrize("question", ["上周期的参数", "以上都对", "每周三开会", "on tuesdays", "the past tense", "lasting weeks", "三月前",
                                      "one thing", "blast week"])  # fmt: skip
def test_what_only_looks_like_a_time_is_none(question: str) -> None:
    assert meant(question, FRIDAY) == Meant(rest=question)


def test_what_was_understood_is_no_word_any_more_but_a_bare_weekday_may_be_one() -> None:
    assert meant("上周二说了什么", FRIDAY).rest.strip() == "说了什么"
    assert meant("the plan of last tuesday", FRIDAY).rest.strip() == "the plan of"
    assert meant("周三开会", FRIDAY).rest == "周三开会"
    assert meant("上周一共花了多少", FRIDAY).rest.strip() == "一共花了多少"


@given(st.dates(date(1970, 1, 1), date(9000, 1, 1)), st.integers(0, 999), st.sampled_from(["days", "weeks", "months", "years"]))  # fmt: skip
def test_no_distance_leaves_the_calendar(today: date, count: int, unit: str) -> None:
    found = meant(f"{count} {unit} ago, or last {count} days, last month", today)
    assert found.months[0] < today
    assert all(day <= today + timedelta(days=0) for day in (*found.days, *found.weeks))
