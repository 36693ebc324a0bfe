"""Number words and units of English and Chinese: rewritten to digits and to one spelling each (pure)."""

import re

_ENGLISH = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "twelfth": 12,
}  # fmt: skip
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000}

# spelling -> the one we keep; longer spellings first where one begins another
_UNITS = {
    "ms": "ms", "毫秒": "ms", "seconds": "s", "second": "s", "secs": "s", "sec": "s", "s": "s", "秒": "s",
    "minutes": "min", "minute": "min", "mins": "min", "min": "min", "分钟": "min",
    "hours": "h", "hour": "h", "hrs": "h", "hr": "h", "h": "h", "小时": "h", "个小时": "h",
    "days": "d", "day": "d", "天": "d", "weeks": "week", "week": "week", "周": "week", "星期": "week", "个星期": "week",
    "months": "month", "month": "month", "个月": "month", "years": "year", "year": "year", "年": "year",
    "percent": "%", "%": "%", "KiB": "KB", "kB": "KB", "KB": "KB", "MiB": "MB", "MB": "MB", "GiB": "GB", "GB": "GB",
    "TiB": "TB", "TB": "TB", "km": "km", "公里": "km", "kg": "kg", "公斤": "kg",
    "dollars": "$", "dollar": "$", "USD": "$", "美元": "$", "US$": "$", "$": "$", "euros": "€", "euro": "€",
    "EUR": "€", "欧元": "€", "€": "€", "£": "£", "¥": "¥", "元": "¥", "块": "¥", "yuan": "¥", "RMB": "¥", "CNY": "¥",
}  # fmt: skip
UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))


def with_unit(value: str, unit: str) -> str:
    """`30`, `30 ms`, `30%`."""
    kept = _UNITS.get(unit, "")
    return f"{value}%" if kept == "%" else f"{value} {kept}".rstrip()


_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_UNTIL_NINE = "one|two|three|four|five|six|seven|eight|nine"
_ENGLISH_NUMBER = re.compile(rf"\b(?:({_TENS})-({_UNTIL_NINE})|({'|'.join(_ENGLISH)}))\b(?!-)", re.IGNORECASE)
_MEASURED = re.compile(
    r"\s(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|percent|hundred|thousand|million)\b"
)
_ORDINAL = re.compile(
    rf"\b(?:({'|'.join(_ORDINALS)})|(\d{{1,2}})(?:st|nd|rd|th))\b(?=\s(?:floor|storey|level|terminal|platform)\b)",
    re.IGNORECASE,
)  # that tells one of many
_HUNDREDS = re.compile(r"\b(\d+|a) hundred\b", re.IGNORECASE)

_CHARS = "零〇一二三四五六七八九十百千两"
_MOST = (
    16  # characters of a number; a longer run of them is none, and looking through all of it takes for ever
)
_COUNTED = "天周年次个月人小星分秒元块条份岁台件本页行项倍成度号位名种章节点"
_CHINESE_NUMBER = re.compile(
    rf"百分之([{_CHARS}]{{1,{_MOST}}}|\d+(?:\.\d+)?)"
    rf"|([{_CHARS}]{{0,{_MOST}}}[一二三四五六七八九两][十百千][{_CHARS}]{{0,{_MOST}}}|十[一二三四五六七八九])(?![分足])"
    rf"|(?<![{_CHARS}第星期周礼拜])(?!十分(?!钟))([二三四五六七八九两十])(?=[{_COUNTED}楼层万亿])|(?<![{_CHARS}第有])(一)(?=(?:天|周|年|个月|小时|分钟|个小时|万|亿)(?!般))"
)


def plain(text: str) -> str:
    """`text` with number words as digits, where they are surely numbers: `one` and `一` only before a measure of time."""
    text = _ENGLISH_NUMBER.sub(lambda match: _english(match, text), text)
    text = _ORDINAL.sub(lambda match: match[2] or str(_ORDINALS[match[1].lower()]), text)
    text = _HUNDREDS.sub(lambda match: f"{1 if match[1].lower() == 'a' else match[1]}00", text)
    return _CHINESE_NUMBER.sub(_chinese_match, text)


def ordinals(text: str) -> list[str]:
    """The numbers that `one`, `first`, `第一` stand for in lower-case text: enough to support a number, none to state one."""
    words = re.findall(r"[a-z]+", text)
    named = (_ENGLISH.get(word) or _ORDINALS.get(word) for word in words)
    single = (_DIGITS.get(char) or _PLACES.get(char) for char in text)
    return [str(value) for value in (*named, *single) if value]


_DATE_WORDS = re.compile(
    rf"([〇零一二三四五六七八九]{{4}})(?=年)|([{_CHARS}]{{1,3}})(?=月(?:[{_CHARS}\d]|[^{_CHARS}份]|$))"
    rf"|(?<=月)([{_CHARS}]{{1,3}})(?=[日号])"
)
_HOUR_WORDS = re.compile(r"([一二三四五六七八九十两]{1,3})(?=点(?:[半钟]|[一二三四五六七八九十]+分|\d))")


def plain_dates(text: str) -> str:
    """`三月二日` as `3月2日`."""
    return _DATE_WORDS.sub(lambda match: str(chinese_value(match[1] or match[2] or match[3])), text)


def plain_hours(text: str) -> str:
    """`三点半` as `3点半`."""
    return _HOUR_WORDS.sub(lambda match: str(chinese_value(match[1])), text)


def chinese_value(word: str) -> int:
    """The value of a number written in Chinese characters: 三百二十 is 320, 二〇二六 is 2026."""
    if not set(word) & set(_PLACES):
        return int("".join(str(_DIGITS[char]) for char in word))
    total, digit = 0, 0
    for char in word:
        if char in _PLACES:
            total, digit = total + (digit or 1) * _PLACES[char], 0
        else:
            digit = _DIGITS[char]
    return total + digit


def _english(match: re.Match[str], text: str) -> str:
    if match[1]:
        return str(_ENGLISH[match[1].lower()] + _ENGLISH[match[2].lower()])
    word = match[3].lower()
    if word == "one" and not _MEASURED.match(text, match.end()):
        return match[0]
    return str(_ENGLISH[word])


def _chinese_match(match: re.Match[str]) -> str:
    if match[1]:
        return f"{match[1] if match[1][0].isdigit() else chinese_value(match[1])}%"
    return str(chinese_value(match[2] or match[3] or match[4]))
