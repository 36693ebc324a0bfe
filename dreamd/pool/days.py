"""A question and the day it is asked on in; the times it means by their distance ("last week"), and its other words, out (pure).

Weeks begin on Monday. Where people mean either of two days by one word ("last Tuesday", said on a Thursday), both are meant.
English and Chinese.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from msgspec import Struct

from dreamd.pool import numerals


class Meant(Struct, frozen=True, kw_only=True):
    """`rest` is the question without what was understood; `weeks` are given by a day of them, `months` by their first."""

    rest: str
    days: tuple[date, ...] = ()
    weeks: tuple[date, ...] = ()
    months: tuple[date, ...] = ()
    years: tuple[int, ...] = ()


_DAYS = {
    "(?:the )?day before yesterday": 2, "yesterday": 1, "last night": 1, "today": 0, "tonight": 0,
    "this (?:morning|afternoon|evening)": 0, "(?:the )?day after tomorrow": -2, "tomorrow": -1,
    "大前天": 3, "前[天晚]": 2, "昨[天日晚夜儿]": 1, "今[天日早晨晚儿]": 0, "大后天": -3, "后天": -2, "明[天日早晚]": -1,
}  # fmt: skip
_YEARS = {"前年": 2, "去年": 1, "今年": 0, "明年": -1}
_WAYS = {
    "last": 1, "past": 1, "this past": 1, "previous": 1, "this": 0, "next": -1,
    "上上": 2, "上": 1, "本": 0, "这": 0, "下": -1,
}  # fmt: skip
_COUNTS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_WEEKDAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
_ZH_WEEKDAYS = dict(zip("一二三四五六日天", (0, 1, 2, 3, 4, 5, 6, 6), strict=True))
_WEEK, _WEEKEND = 7, (5, 6)
_MONTHS = 12
_MOST_DAYS, _MOST_WEEKS = 14, 6  # of "the last ... days": more is no time that is asked for

_WAY = r"(?P<way>last|this past|past|previous|this|next)"
_ZH_WAY = r"(?P<way>上上|上|本|这|下)一?个?"
_N = rf"(?P<n>\d{{1,3}}|an?|(?:a )?couple of|{'|'.join(_COUNTS)})"
_ZH_N = r"(?P<n>\d{1,3}|[一二三四五六七八九十两]{1,3})"
_ZH_WEEK = r"(?:周|星期|礼拜)"
_ZH_DAY = r"(?P<weekday>[一二三四五六日天])(?![共直般起些下样定常气])"

Found = Mapping[str, str | None]
Of = Callable[[Found, date], Meant]


def meant(question: str, today: date) -> Meant:
    """`question` in lower case."""
    found: list[Meant] = []
    rest = question
    for pattern, of, keeps in _PHRASES:

        def take(match: re.Match[str], of: Of = of, keeps: bool = keeps) -> str:
            found.append(of(match.groupdict(), today))
            return match[0] if keeps else " "

        rest = pattern.sub(take, rest)
    return Meant(
        rest=rest,
        days=tuple(dict.fromkeys(day for one in found for day in one.days)),
        weeks=tuple(dict.fromkeys(day for one in found for day in one.weeks)),
        months=tuple(dict.fromkeys(day for one in found for day in one.months)),
        years=tuple(dict.fromkeys(year for one in found for year in one.years)),
    )


# --- what each phrase means ---


def _days(*days: date) -> Meant:
    return Meant(rest="", days=days)


def _ago(count: int) -> Of:
    return lambda _found, today: _days(today - timedelta(days=count))


def _weekday(found: Found, today: date) -> Meant:
    way, wanted = _WAYS[found["way"] or ""], _number_of(found)
    of_week = _monday(today) + timedelta(days=wanted - _WEEK * way)
    if (found["way"] or "").isascii() and way:  # the nearest on that side, or that of the other week
        nearest = _before(today, wanted) if way > 0 else _before(today, wanted) + timedelta(days=_WEEK)
        return _days(*dict.fromkeys((nearest, of_week))) if nearest != today else _days(of_week)
    return _days(of_week)


def _some_weekday(found: Found, today: date) -> Meant:
    """The last one; today, if it is one."""
    return _days(_before(today + timedelta(days=1), _number_of(found)))


def _weekend(found: Found, today: date) -> Meant:
    monday = _monday(today) - timedelta(days=_WEEK * _WAYS[found["way"] or ""])
    return _days(*(monday + timedelta(days=number) for number in _WEEKEND))


def _week(found: Found, today: date) -> Meant:
    return Meant(rest="", weeks=(today - timedelta(days=_WEEK * _WAYS[found["way"] or ""]),))


def _month(found: Found, today: date) -> Meant:
    first = _months_ago(today, _WAYS[found["way"] or ""])
    day = int(found.get("day") or 0)
    try:
        return _days(first.replace(day=day)) if day else Meant(rest="", months=(first,))
    except ValueError:  # the 31st of a shorter month
        return Meant(rest="", months=(first,))


def _year(found: Found, today: date) -> Meant:
    return Meant(rest="", years=(today.year - _WAYS[found["way"] or ""],))


def _year_ago(count: int) -> Of:
    return lambda _found, today: Meant(rest="", years=(today.year - count,))


def _some_ago(found: Found, today: date) -> Meant:
    count, unit = _count(found), found["unit"] or ""
    if unit in ("day", "天"):
        return _days(today - timedelta(days=count))
    if unit in ("month", "个月"):
        return Meant(rest="", months=(_months_ago(today, count),))
    if unit in ("year", "年"):
        return Meant(rest="", years=(today.year - count,))
    return Meant(rest="", weeks=(today - timedelta(days=_WEEK * count),))


def _lately(found: Found, today: date) -> Meant:
    """The last so many, with the one that goes on."""
    count = _count(found)
    if found["unit"] in ("day", "天"):
        return _days(*(today - timedelta(days=ago) for ago in range(min(count, _MOST_DAYS) + 1)))
    weeks = range(min(count, _MOST_WEEKS) + 1)
    return Meant(rest="", weeks=tuple(today - timedelta(days=_WEEK * ago) for ago in weeks))


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _before(day: date, weekday: int) -> date:
    return day - timedelta(days=(day.weekday() - weekday - 1) % _WEEK + 1)


def _months_ago(day: date, count: int) -> date:
    year, month = divmod(day.year * _MONTHS + day.month - 1 - count, _MONTHS)
    return date(year, month + 1, 1)


def _number_of(found: Found) -> int:
    name = found["weekday"] or ""
    return _ZH_WEEKDAYS[name] if name in _ZH_WEEKDAYS else _WEEKDAYS.index(name)


def _count(found: Found) -> int:
    word = found["n"] or ""
    if word.isdigit():
        return int(word)
    if word in _COUNTS:
        return _COUNTS.index(word) + 1
    return (2 if word.endswith("of") else 1) if word.isascii() else numerals.chinese_value(word)


# --- the phrases, what holds others first; `keeps`: its words may be meant as words, too ---


def _phrase(pattern: str, of: Of, *, keeps: bool = False) -> tuple[re.Pattern[str], Of, bool]:
    return re.compile(rf"(?<![a-z\d])(?:{pattern})(?![a-z\d])"), of, keeps


_EN_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})day"
_PHRASES = (
    _phrase(rf"(?:in |over |during )?(?:the )?(?:last|past|previous) {_N} (?P<unit>day|week)s?", _lately),
    _phrase(rf"(?:最近|过去|这|近){_ZH_N}个?(?P<unit>天|周|星期|礼拜)", _lately),
    _phrase(rf"{_N} (?P<unit>day|week|month|year)s? ago", _some_ago),
    _phrase(rf"{_ZH_N}(?P<unit>天|周|个?星期|个?礼拜|个月|年)[之以]?前", _some_ago),
    *(_phrase(words, _ago(count)) for words, count in _DAYS.items()),
    _phrase(rf"(?:on )?{_WAY} {_EN_WEEKDAY}", _weekday),
    _phrase(rf"(?P<way>上上|上|本|这|下)一?个?{_ZH_WEEK}{_ZH_DAY}", _weekday),
    _phrase(rf"{_WAY} weekend", _weekend),
    _phrase(rf"{_ZH_WAY}周末", _weekend),
    _phrase(r"(?:the )?week before last", lambda _found, today: _week({"way": "上上"}, today)),
    _phrase(rf"{_WAY} week", _week),
    _phrase(rf"{_ZH_WAY}{_ZH_WEEK}(?![期边围转])", _week),
    _phrase(rf"{_WAY} month", _month),
    _phrase(rf"{_ZH_WAY}月份?的?(?:(?P<day>\d{{1,2}})[日号])?", _month),
    _phrase(rf"{_WAY} year", _year),
    *(_phrase(words, _year_ago(count)) for words, count in _YEARS.items()),
    _phrase(rf"on {_EN_WEEKDAY}", _some_weekday, keeps=True),
    _phrase(rf"(?<!每)(?<!个){_ZH_WEEK}{_ZH_DAY}", _some_weekday, keeps=True),
)
