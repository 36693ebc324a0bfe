import pytest

from dreamd.pool.numerals import chinese_value, ordinals, plain, plain_dates, plain_hours, with_unit


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("三", 3),
        ("十", 10),
        ("十五", 15),
        ("二十", 20),
        ("三百二十", 320),
        ("一千零五", 1005),
        ("二〇二六", 2026),
    ],
)
def test_chinese_numbers_have_their_value(word: str, value: int) -> None:
    assert chinese_value(word) == value


def test_number_words_become_digits_where_they_are_surely_numbers() -> None:
    assert plain("two of them in one week, one by one") == "2 of them in 1 week, one by one"
    assert plain("三个人，一些事，星期三") == "3个人，一些事，星期三"
    assert plain("a hundred and two hundred") == "100 and 200"


def test_dates_and_hours_in_characters_become_digits() -> None:
    assert plain_dates("二〇二六年三月二日") == "2026年3月2日"
    assert plain_hours("三点半") == "3点半"


def test_small_words_support_their_number() -> None:
    assert {"1", "3"} <= set(ordinals("the first of three"))
    assert "2" in ordinals("第二")


def test_a_unit_has_one_spelling() -> None:
    assert with_unit("30", "seconds") == with_unit("30", "秒") == "30 s"
    assert with_unit("30", "percent") == "30%"
    assert with_unit("30", "") == "30"


@pytest.mark.parametrize("run", ["一", "一十", "十", "百分之一", "两千"])
def test_a_run_of_digits_that_is_no_number_is_gone_through_once(run: str) -> None:
    head = "百分之" + run * 5000
    assert plain(f"{head}，三十二天").endswith("，32天")
    assert len(plain(run * 60_000)) <= len(run) * 120_000
