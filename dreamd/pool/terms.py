"""A text in, the terms by which it is found out: word stems, pairs of Chinese characters, dates (pure).

Law: question and text go the same way, so what is written alike is found alike. Each Chinese, Japanese or Korean run gives
all its pairs and its last character: every word of two characters is a term, every single character begins one
(`headed`). A date in any spelling, of either language, gives the same terms. Terms hold no white space.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from functools import lru_cache
from itertools import pairwise

from dreamd.pool import numerals
from dreamd.pool.days import Meant, meant

_WIDE = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_WIDE}]+|(?:(?![{_WIDE}])[^\W_])+")
_POSSESSIVE = re.compile(r"['’]s\b")
_COMMON_WORDS = (
    "a an the and or but if so as at by for from in into of on to with about over under than then is are was were be been "
    "being am do does did done have has had having will would can could should may might must it its this that these those "
    "he she they we you i me my mine our your his her their him them us who what when where which how there here not no "
    "said says told also very just only more most some any all each s t m re ve ll d"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_FUNCTION = frozenset(
    "的了是在和与及或也都就被把让给对从到我你他她它们这那个吗呢吧啊么什怎哪谁有曾经过还会能要请问"
)


def terms(text: str) -> list[str]:
    """All of a text, in order, repeated as they stand there; dates last."""
    plain = _plain(text)
    words = [term for run in _RUN.findall(plain) for term in _of_run(run)]
    return [*words, *_of_dates(plain), *_weeks(plain)]


def wanted(goal: str, today: date) -> list[str]:
    """The terms of a question, each once; `yesterday` and its like are dates, seen from `today`.

    Chinese is cut at particles, for those join words that the answer need not join. Single characters and pairs that are
    grammar alone are left out, unless there is nothing else.
    """
    when = meant(_plain(goal), today)
    runs = _RUN.findall(when.rest)
    words = [term for run in runs for piece in _pieces(run) for term in _asked(piece) if not _empty(term)]
    dates = [*_of_meant(when), *_asked_dates(when.rest)]
    return list(dict.fromkeys((*dates, *words))) or list(
        dict.fromkeys(term for run in runs for term in _asked(run))
    )


def told(text: str, day: date) -> list[str]:
    """The terms of a text that was said on that day: its own, of the days it tells of ("yesterday"), of the day."""
    return [*terms(text), *_told_of(_plain(text[:_TOLD]), day), *dated(day)]


def _told_of(plain: str, day: date) -> list[str]:
    if not _MAY_TELL.search(plain):
        return []
    days = meant(plain, day).days
    return [term for each in days if each != day for term in dated(each)[-1:]]


_TOLD = 2000  # characters of a text in which days are looked for
_MAY_TELL = re.compile(
    "yesterday|tomorrow|last (?:night|[mtwfs])|days? ago|昨|[前明后]天|天[之以]?前|周|星期|礼拜"
)  # a glance saves the search


def dated(day: date) -> tuple[str, ...]:
    """The terms by which what happened on that day is found: its week, its year, its month, the day last."""
    return (_of_week(day), *_of_date(day.year, day.month, day.day))


def of_a_time(term: str) -> bool:
    """A day, or more than one, as a date or the distance from another day gives it."""
    return term.startswith((_WEEK, _WHOLE))


def headed(term: str) -> bool:
    """A single wide character: it is found as the beginning of terms."""
    return len(term) == 1 and _wide(term)


_FIRST_WIDE = 0x2E80


def _plain(text: str) -> str:
    return _POSSESSIVE.sub("", unicodedata.normalize("NFKC", text).casefold())


def _wide(run: str) -> bool:
    return bool(run) and ord(run[0]) >= _FIRST_WIDE and not "\ue000" <= run[0] <= "\ue004"


def _of_run(run: str) -> list[str]:
    if _wide(run):
        return [*map("".join, pairwise(run)), run[-1]]
    return [] if run in _COMMON else [stem(run)]


_PARTICLE = re.compile(
    r"(目的|了解|酒吧|网吧|的士|的确|标的|其他|吉他|[^的了吗呢吧啊么嘛呀我你您他她它们这那什怎哪谁]+)"
)  # words that hold one of them; and what stands between them
_LIGHT = frozenset("说讲谈聊提做干弄有去来想看问叫用")


def _pieces(run: str) -> list[str]:
    return _PARTICLE.findall(run) if _wide(run) else [run]


def _asked(piece: str) -> list[str]:
    """The last character of more is in a pair already."""
    return _of_run(piece)[: -1 if _wide(piece[1:]) else None]


def _empty(term: str) -> bool:
    """Grammar, or of one character that says next to nothing."""
    return _wide(term) and set(term) <= (_FUNCTION | _LIGHT if headed(term) else _FUNCTION)


# --- stems: near to Porter's, without his exceptions; what matters is that question and text are cut alike ---

_VOWEL = re.compile("[aeiouy]")
_SUFFIX = re.compile(
    r"(?:ational|ization|ations?|ments?|ness|fully?|ously|ively|ities|ity|ables?|ibles?|ers?|ors?|ly|ion|ive|ous|al|ist|ism)$"
)
_SHORT, _LEAST = 3, 4  # letters of a word that stays whole, and of what a suffix leaves


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """An English word without its ending; others, and what holds a digit, stay as they are."""
    if len(word) <= _SHORT or not (word.isascii() and word.isalpha()):
        return word
    word = _without_e(_without_tense(_singular(word)))
    suffix = _SUFFIX.search(word)
    word = word[: suffix.start()] if suffix and suffix.start() >= _LEAST else word
    return word[:-1] + "i" if len(word) > _SHORT and word.endswith("y") else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _LEAST:
        return word[:-3] + "y"
    if word.endswith("es") and word[-3] in "sxzh":
        return word[:-2]
    return word[:-1] if word.endswith("s") and word[-2] not in "sui" else word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ed"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= _SHORT and _VOWEL.search(left):
            doubled = len(left) > _SHORT and left[-1] == left[-2] and left[-1] not in "lsz"
            return left[:-1] if doubled else left
    return word


def _without_e(word: str) -> str:
    return word[:-1] if len(word) > _SHORT and word.endswith("e") else word


# --- dates: terms that no text can hold by chance, for they begin with a private character ---

_YEAR, _MONTH, _DAY = "\ue000", "\ue001", "\ue002"  # 2023; 05 and 202305; 0502
_WHOLE, _WEEK = "\ue003", "\ue004"  # 20230502; 202318
_SPELLINGS = (
    "jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
    "sep sept september", "oct october", "nov november", "dec december",
)  # fmt: skip
_NAMES = {name: month for month, names in enumerate(_SPELLINGS, 1) for name in names.split()}
_NAMED = "|".join(sorted(_NAMES, key=len, reverse=True))
_SPELT = re.compile(
    r"(?<![\d.-])(?P<y>\d{4})[-/.](?P<m>\d{1,2})(?:[-/.](?P<d>\d{1,2}))?(?![\d-])(?!\.\d)"
    r"|(?:(?P<y2>\d{4})\s?年\s?)?(?<!\d)(?P<m2>\d{1,2})\s?月(?:份|(?:\s?(?P<d2>\d{1,2})\s?[日号號]?)?)"
    rf"|\b(?P<n3>{_NAMED})\.?\s+(?:the\s+)?(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(?P<y3>\d{{4}})\b)?"
    rf"|\b(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<n4>{_NAMED})\b\.?(?:,?\s+(?P<y4>\d{{4}})\b)?"
    rf"|\b(?:in|of|since|until|by|last|next|this)\s+(?P<n5>{_NAMED})\b\.?(?:,?\s+(?P<y5>\d{{4}})\b)?"
    rf"|\b(?P<n6>{_NAMED})\.?,?\s+(?P<y6>\d{{4}})\b"
    r"|(?<![\d.])(?P<y7>(?:19|20)\d\d)(?:\s?年(?!\s?\d)|(?![\d.年-]))"
)
_MONTHS, _DAYS = 12, 31

_MAY_DATE = re.compile(
    rf"\d|月|\b(?:in|of|since|until|by|last|next|this)\s+(?:{_NAMED})\b"
)  # a glance saves the search


def _of_dates(plain: str) -> Iterator[str]:
    if not _MAY_DATE.search(plain):
        return
    for month, day, year in _dates(plain):
        yield from _of_date(year, month, day)


def _asked_dates(plain: str) -> Iterator[str]:
    """Whoever asks for a day does not ask for all of its month."""
    if _MAY_DATE.search(plain):
        for month, day, year in _dates(plain):
            every = _of_date(year, month, day)
            yield from every[-1 - bool(year) :] if day else every


def _dates(plain: str) -> Iterator[tuple[int, int, int]]:
    """Month, day, year; 0 where it is not said."""
    for match in _SPELT.finditer(numerals.plain_dates(plain)):
        parts = {name[0]: value for name, value in match.groupdict().items() if value is not None}
        month = _NAMES[parts["n"]] if "n" in parts else int(parts.get("m", 0))
        day = int(parts.get("d", 0))
        if month <= _MONTHS and day <= _DAYS:
            yield month, day, int(parts.get("y", 0))


def _of_date(year: int, month: int, day: int) -> list[str]:
    spelt = (
        (year, f"{_YEAR}{year}"),
        (month, f"{_MONTH}{month:02}"),
        (year and month, f"{_MONTH}{year}{month:02}"),
        (month and day, f"{_DAY}{month:02}{day:02}"),
        (year and month and day, f"{_WHOLE}{year}{month:02}{day:02}"),
    )
    return [term for said, term in spelt if said]


def _weeks(plain: str) -> Iterator[str]:
    """Of the days that a text names: whoever asks for a week means those too."""
    if _MAY_DATE.search(plain):
        for month, day, year in _dates(plain):
            with suppress(ValueError):
                yield _of_week(date(year, month, day))


def _of_week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{_WEEK}{year}{week:02}"


def _of_meant(when: Meant) -> Iterator[str]:
    for day in when.days:
        yield _of_date(day.year, day.month, day.day)[-1]
    for day in when.weeks:
        yield _of_week(day)
    for first in when.months:
        yield f"{_MONTH}{first.year}{first.month:02}"
    for year in when.years:
        yield f"{_YEAR}{year}"
