"""Does a line say more than its sources do? Facts (numbers, dates, times, names) of a line against those of texts (pure).

Law: a number of a line must be a whole number of a source (30 is not in 300), a date must agree in every part it
names, a name must stand in a source as a whole word. Wording is free; facts are not. English and Chinese.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

from dreamd.pool import numerals
from dreamd.pool.remembering import remembering

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_WIDE = r"\u3400-\u9fff"
_GAP = " \x00 "  # stands where something was taken out: joins nothing


class Date(Struct, frozen=True):
    """A calendar date, as far as it was named."""

    year: int = 0
    month: int = 0
    day: int = 0

    def __str__(self) -> str:
        if self.year:
            return "-".join((f"{self.year:04}", *(f"{part:02}" for part in (self.month, self.day) if part)))
        return (
            f"--{self.month:02}" + (f"-{self.day:02}" if self.day else "")
            if self.month
            else f"---{self.day:02}"
        )


class Facts(Struct):
    """What a text states exactly. Numbers read `30`, `30 ms`, `30%`; times `15:00`; names are case-folded."""

    numbers: set[str]
    dates: set[Date]
    times: set[str]
    names: set[str]
    rest: str  # what is left of the text


def facts(text: str) -> frozenset[str]:
    """The facts of a text, normalised: `1,000` and `一千` are `1000`, `March 2` and `3月2日` are `--03-02`."""
    found = _extract(text)
    return frozenset({*found.numbers, *map(str, found.dates), *found.times, *found.names})


def unsupported(line: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Facts of the line that stand in no source, in alphabetical order."""
    said, known = _extract(line), _known(tuple(sources))
    missing = (
        *(number for number in said.numbers if not known.number(number)),
        *(str(date) for date in said.dates if not known.date(date)),
        *(time for time in said.times if time not in known.facts.times),
        *(name for name in said.names if not known.name(name)),
    )
    return tuple(sorted(missing))


class _Known:
    """What the sources state, ready to be asked. Generous where the line's extraction is strict."""

    def __init__(self, sources: Sequence[str]) -> None:
        self.facts = Facts(set(), set(), set(), set(), "")
        for source in sources:
            found = _extract(source)
            self.facts.numbers |= found.numbers
            self.facts.dates |= found.dates
            self.facts.times |= found.times
            self.facts.names |= found.names
        self.text = " \n ".join(_normal(source).casefold() for source in sources)
        dated = _take_dates(Facts(set(), set(), set(), set(), "\n".join(map(_normal, sources))))
        self.loose = set(_LOOSE_NUMBER.findall(dated)) | set(numerals.ordinals(self.text))
        self.years = {date.year for date in self.facts.dates} | {
            int(number) for number in self.facts.numbers if _YEAR.fullmatch(number)
        }
        self.stems = {word[:5] for word in _WORD.findall(self.text)}

    def number(self, number: str) -> bool:
        if number in self.facts.numbers:
            return True
        value, unit = _split(number)
        same = {_split(known)[1] for known in self.facts.numbers if _split(known)[0] == value}
        if unit:
            return "" in same and unit != "%"
        return (
            bool(same)
            or value in self.loose
            or (_YEAR.fullmatch(value) is not None and int(value) in self.years)
        )

    def date(self, date: Date) -> bool:
        return (
            any(self._agrees(date, known) for known in self.facts.dates)
            or (not date.year and not date.month and str(date.day) in self.loose | self.facts.numbers)
            or (not date.month and date.year in self.years)
        )

    def _agrees(self, date: Date, known: Date) -> bool:
        year = date.year in (0, known.year) or (not known.year and date.year in self.years)
        return year and date.month in (0, known.month) and date.day in (0, known.day)

    def name(self, name: str) -> bool:
        if name in self.facts.names or _stands(name, self.text):
            return True
        month = _MONTHS.index(name[:3]) + 1 if name[:3] in _MONTHS else 0
        if month and re.fullmatch(_MONTH, name.title()):
            return any(date.month == month for date in self.facts.dates)
        return False

    def stem(self, word: str) -> bool:
        return word[:5] in self.stems


@lru_cache(maxsize=64)
def _known(sources: tuple[str, ...]) -> _Known:
    return _Known(sources)


def _stands(name: str, text: str) -> bool:
    """`name` occurs in `text` with no letter or digit of its own kind on either side."""
    left = r"(?<![a-z0-9])" if name[:1].isascii() and name[:1].isalnum() else ""
    right = r"(?![a-z0-9])" if name[-1:].isascii() and name[-1:].isalnum() else ""
    return re.search(left + re.escape(name) + right, text) is not None


def _normal(text: str) -> str:
    """Full-width digits and letters to plain ones, one kind of quote and white space."""
    plain = unicodedata.normalize("NFKC", text.replace("\x00", " "))
    return re.sub(r"\s+", " ", plain.translate(_QUOTES))


_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "「": '"', "」": '"', "『": '"', "』": '"', "‘": "'", "’": "'"}
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[a-z][a-z0-9]+")
_LOOSE_NUMBER = re.compile(r"(?<![A-Za-z0-9.,])\d+(?:\.\d+)*(?![A-Za-z0-9]|[,，]\d{3}(?!\d))")


def _split(number: str) -> tuple[str, str]:
    if number.endswith("%"):
        return number[:-1], "%"
    value, _, unit = number.partition(" ")
    return value, unit


@remembering(2048)
def _extract(text: str) -> Facts:
    found = Facts(set(), set(), set(), set(), _normal(text))
    for take in (_take_literals, _take_dates, _take_times, _take_identifiers, _take_numbers, _take_names):
        found.rest = take(found)
    return found


def _taken(pattern: re.Pattern[str], text: str, note: Callable[[re.Match[str]], bool | None]) -> str:
    """`text` without the matches; `note` may return False to leave one in."""
    return pattern.sub(lambda match: match[0] if note(match) is False else _GAP, text)


# --- what is quoted as it stands ---

_LITERAL = re.compile(
    r"""(?P<url>[a-z][a-z0-9+]{1,9}://[^\s"'<>`(){}\u3000-\u303f\u3400-\u9fff]+)"""
    r"""|(?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"""
    r"""|`(?P<code>[^`\n]+)`"""
    r"""|"(?P<quote>[^"\n]{1,200})\""""
    r"""|(?<!\w)'(?P<single>[^'\n]{2,200})'(?!\w)"""
    r"""|《(?P<title>[^》\n]{1,80})》""",
    re.IGNORECASE,
)


def _take_literals(found: Facts) -> str:
    def note(match: re.Match[str]) -> None:
        name = next(value for value in match.groups() if value is not None)
        name = name.rstrip(".,;:!?…") if match["url"] else name.strip(" .,;:!?，。；：！？…")
        if name:
            found.names.add(name.casefold())

    return _taken(_LITERAL, found.rest, note)


# --- dates and times ---

_MONTHS_A_YEAR, _DAYS_A_MONTH = 12, 31
_ISO = re.compile(r"(?<![\d.-])(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?![\d-])(?!\.\d)")
_CHINESE = re.compile(r"(?:(\d{4})\s?年\s?)?(?<!\d)(\d{1,2})\s?月(?:\s?(\d{1,2})\s?[日号號])?")
_CHINESE_YEAR = re.compile(r"(?<!\d)(\d{4})\s?年")
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s+(\d{{4}})\b)?", re.IGNORECASE
)
_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b\.?(?:,?\s+(\d{{4}})\b)?", re.IGNORECASE
)
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\.?,?\s+(\d{{4}})\b", re.IGNORECASE)
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")


def _take_dates(found: Facts) -> str:
    def add(year: str | None, month: str | int | None, day: str | None) -> bool:
        date = Date(int(year or 0), int(month or 0), int(day or 0))
        if date == Date() or date.month > _MONTHS_A_YEAR or date.day > _DAYS_A_MONTH:
            return False
        found.dates.add(date)
        return True

    def named(word: str) -> int:
        return _MONTHS.index(word[:3].lower()) + 1

    text = numerals.plain_dates(found.rest)
    text = _taken(_ISO, text, lambda m: add(m[1], m[2], m[3]))
    text = _taken(_CHINESE, text, lambda m: add(m[1], m[2], m[3]))
    text = _taken(_CHINESE_YEAR, text, lambda m: add(m[1], None, None))
    text = _taken(_MONTH_FIRST, text, lambda m: add(m[3], named(m[1]), m[2]))
    text = _taken(_DAY_FIRST, text, lambda m: add(m[3], named(m[2]), m[1]))
    text = _taken(_MONTH_YEAR, text, lambda m: add(m[2], named(m[1]), None))
    return _taken(_ORDINAL, text, lambda m: add(None, None, m[1]))


_CLOCK = re.compile(
    r"(?:(?P<before>凌晨|早上|上午|中午|下午|傍晚|晚上)\s?)?(?<![\d:.])T?"
    r"(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2}(?:\.\d+)?)?Z?|(?P<zh>\d{1,2})\s?[点點](?:(?P<half>半)|(?P<zhmin>\d{1,2})\s?分?)?"
    r"|(?P<bare>\d{1,2})(?=\s?[ap]\.?m\b))(?:\s?(?P<after>[ap])\.?m\b\.?)?(?!\d)(?!:\d)",
    re.IGNORECASE,
)
_NOON = 12
_LAST_HOUR, _LAST_MINUTE = 24, 59
_AFTERNOON = ("下午", "傍晚", "晚上", "p")


def _take_times(found: Facts) -> str:
    def note(match: re.Match[str]) -> bool:
        hour = int(match["hour"] or match["zh"] or match["bare"])
        minute = 30 if match["half"] else int(match["minute"] or match["zhmin"] or 0)
        half_day = (match["before"] or match["after"] or "").lower()
        if half_day in _AFTERNOON and hour < _NOON:
            hour += 12
        if half_day in ("a", "凌晨") and hour == _NOON:
            hour = 0
        if hour > _LAST_HOUR or minute > _LAST_MINUTE:
            return False
        found.times.add(f"{hour:02}:{minute:02}")
        return True

    return _taken(_CLOCK, numerals.plain_hours(found.rest), note)


# --- names that look like no word ---

_IDENTIFIER = re.compile(
    r"(?P<path>(?:[A-Za-z]:\\|~?/|\.{1,2}/)[\w.@+~%/\\-]*\w/?|\b[\w.-]+(?:/[\w.@+-]+)+/?)"
    r"|(?P<flag>(?<![\w-])--[a-z][\w-]+)"
    r"|(?P<handle>(?<!\w)@[A-Za-z_][\w-]*)"
    r"|(?P<version>(?<![\w.])v?\d+\.\d+(?:\.\d+)+[\w+-]*)"
    r"|(?P<dotted>(?<![\w.])[A-Za-z_]\w*(?:\.\w+)+(?:\(\))?)"
    r"|(?P<snake>\b[A-Za-z0-9]*_\w+|\b[A-Za-z]\w*\(\))"
    r"|(?P<mixed>\b(?=[A-Za-z0-9-]*\d)(?=[A-Za-z0-9-]*[A-Za-z])(?!\d+(?:[a-zA-Z]{1,4}|-[a-z]+)\b)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\b"
    r"|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*)",
    re.ASCII,
)
_EITHER = re.compile(r"[a-z]+(?:/[a-z]+)+|\d{1,2}/\d{1,2}|24/7|[eE]\.g|[iI]\.e|[aA]\.k\.a|[vV]\d+")


def _take_identifiers(found: Facts) -> str:
    def note(match: re.Match[str]) -> bool:
        name = match[0].rstrip(".")
        if _EITHER.fullmatch(name):
            return False
        found.names.add(name.casefold().removeprefix("v") if match["version"] else name.casefold())
        return True

    return _taken(_IDENTIFIER, found.rest, note)


# --- numbers ---

_NUMBER = re.compile(
    r"(?P<money>US\$|[$€£¥])?\s?(?<![\d.])(?P<value>\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s?(?P<times>[万亿千百]|[kKM](?![A-Za-z0-9]))|\s(?P<word>thousand|million|billion)\b)?"
    rf"(?:\s?(?P<unit>{numerals.UNIT})(?![A-Za-z]))?"
)
_SCALE = {
    "万": 10**4, "亿": 10**8, "千": 1000, "百": 100, "k": 1000, "K": 1000, "M": 10**6,
    "thousand": 1000, "million": 10**6, "billion": 10**9,
}  # fmt: skip


def _take_numbers(found: Facts) -> str:
    def note(match: re.Match[str]) -> None:
        value = _value(
            match["value"].replace(",", "").replace("_", ""), match["times"] or match["word"] or ""
        )
        found.numbers.add(numerals.with_unit(value, match["unit"] or match["money"] or ""))

    return _taken(_NUMBER, numerals.plain(found.rest), note)


def _value(digits: str, scale: str) -> str:
    whole, _, part = digits.partition(".")
    if scale:
        zeros = len(str(_SCALE[scale])) - 1
        whole, part = whole + part[:zeros].ljust(zeros, "0"), part[zeros:]
    whole, part = whole.lstrip("0") or "0", "" if not part.strip("0") else part
    return f"{whole}.{part}" if part else whole


# --- names that look like words ---

_LATIN = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Z]", re.ASCII)
_START = re.compile(r"(?:^|[.!?:;。！？：；\n\x00]|->|→|[(\[*#>\-•—–])\s*[\"'(\[*_]*$")
_ORDINARY_WORDS = (
    "i i'm i'll i'd i've ok okay todo user users assistant agent human reply am pm ai llm none the a an it he she they "
    "this that these those we you his her their its my our your who what when where why how there here everyone nobody "
    "someone everything nothing all each both some any no yes if but and or not so as at by for from in on of to with "
    "please note mr mrs ms dr project team client customer company server service system code build deployment database "
    "backend frontend app application api website report meeting budget plan goal task work release test tests everyone's"
)
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
_SUBJECT = re.compile(
    r"\s+(?:(?:always|never|usually|often|really|mostly|also|still|only|now)\s+)?(?:is|was|are|were|has|had|likes?|prefers?|works?|lives?|uses?|wants?|said|says|will|asked|does|did|loves?|hates?|"
    r"needs?|owns?|joined|moved|plays?|told|lost|bought|knows|thinks|leads|manages|reviews|and)\b|'s\b"
)
_CALLED = re.compile(rf"(?:名叫|叫做|名字是|名字叫|姓名是|称呼为|叫)([{_WIDE}]{{2,3}})(?![{_WIDE}])")
_TITLED = re.compile(rf"([{_WIDE}]{{1,2}})(?:先生|女士|老师|经理|医生|教授|快递|大学|集团|银行|医院)")
_LINKS = frozenset("的在这那我他她你们新某个家本该用是去到和与给从对让叫请由为有了不")


def _take_names(found: Facts) -> str:
    text = found.rest
    chinese = re.search(rf"[{_WIDE}]", text) is not None
    found.names |= {name.casefold() for name in _latin_names(text, every=chinese)}
    found.names |= set(_CALLED.findall(text))
    found.names |= {name for name in _TITLED.findall(text) if not set(name) & _LINKS}
    return ""


def _latin_names(text: str, *, every: bool) -> Iterable[str]:
    """Capitalised words that are not capital just because a sentence begins; in Chinese text, every Latin word."""
    for match in _LATIN.finditer(text):
        word = re.sub(r"'s?$", "", match[0])
        if word.casefold() in _ORDINARY or not word[1:]:
            continue
        if every or word.isupper():
            yield word
        elif word[0].isupper():
            opening = _START.search(text[: match.start()]) is not None
            if not opening or _SUBJECT.match(text[match.start() + len(word) :]):
                yield word
