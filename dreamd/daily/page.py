"""The text of a daily file: dreamd's sections stand between its own marks, all other text stays byte for byte (pure).

A section's mark holds the day, the head of its input's hash (so that a run that was killed between the file and the
transaction finds what it has written) and the agent (for agents may share a workspace).
"""

import re
from collections.abc import Collection, Sequence
from datetime import date

from msgspec import Struct

from dreamd.pool.language import Tongue

_HASH = 12  # characters of the input hash in a mark
_CLOSING = "<!-- /dreamd -->"
_SECTION = re.compile(
    r"^<!-- dreamd daily (?P<day>\d{4}-\d\d-\d\d) (?P<hash>[0-9a-f]{12})(?: (?P<agent>[\w.-]+))? -->[ \t]*\r?\n"
    r"(?P<body>(?:(?!<!-- dreamd daily )[^\n]*\n)*?)"
    r"<!-- /dreamd -->[ \t]*(?:\r?\n|\Z)",
    re.MULTILINE,
)


class Section(Struct, frozen=True, kw_only=True):
    """One run's part of the file.

    `lines` are without bullets, `rules` of them come from the rule, not from a model. `hours` is when it happened,
    with the offset; `more` counts lines that found no room.
    """

    day: date
    input_hash: str
    lines: Sequence[str]
    agent: str = ""
    language: Tongue
    rules: int = 0
    hours: str = ""
    more: int = 0


class _Labels(Struct, frozen=True):
    title: str
    late: str
    all_rules: str
    some_rules: str
    more: str


_LABELS = {
    "en": _Labels(
        title="Daily summary {day}",
        late=", supplement",
        all_rules=" (rule-based summary)",
        some_rules=" (partly rule-based summary)",
        more="(and {more} more, not listed here)",
    ),
    "zh": _Labels(
        title="每日摘要 {day}",
        late="，补记",
        all_rules="（规则摘要）",
        some_rules="（部分为规则摘要）",
        more="（另有 {more} 条，未列出）",
    ),
}


def mark(day: date, input_hash: str, agent: str = "") -> str:
    return f"{_mark(day, input_hash)}{' ' if agent else ''}{agent} -->"


def _mark(day: date, input_hash: str) -> str:
    return f"<!-- dreamd daily {day.isoformat()} {input_hash[:_HASH]}"


def holds(text: str, day: date, input_hash: str) -> bool:
    """Whether the section of that very input stands in the file."""
    return re.search(f"^{re.escape(_mark(day, input_hash))} ", text, re.MULTILINE) is not None


def lines_of(text: str, day: date, input_hash: str) -> tuple[str, ...]:
    """The lines of that section, without bullets, as they stand in the file now."""
    wanted = [found["body"] for found in _of_day(text, day) if found["hash"] == input_hash[:_HASH]]
    return tuple(line[2:].rstrip() for body in wanted for line in body.splitlines() if line.startswith("- "))


def sections(text: str) -> list[tuple[int, int]]:
    """Where the bodies of dreamd's sections stand, of all days and agents: offsets of characters."""
    return [found.span("body") for found in _SECTION.finditer(text)]


_EMPTY = re.compile(
    r"^<!-- dreamd daily [^\n]* -->[ \t]*\r?\n## [^\n]*\n\s*<!-- /dreamd -->[ \t]*(?:\r?\n|\Z)", re.MULTILINE
)


def emptied(text: str) -> str:
    """The text without those of dreamd's sections in which no line is left."""
    return _EMPTY.sub("", text)


def put(text: str, section: Section, *, instead_of: Collection[str] | None = ()) -> str:
    """The file's text with the section: appended, or in the place of earlier ones of that day.

    `instead_of` are the input hashes of the agent's sections to be replaced; None means all its sections of the day.
    What is not between dreamd's marks for this agent is never touched. A section of the same input that stands and is
    not to be replaced stays as it is.
    """
    own = [found for found in _of_day(text, section.day) if found["agent"] in (None, section.agent)]
    old = [found for found in own if _replaced(found["hash"], instead_of)]
    if not old and holds(text, section.day, section.input_hash):
        return text
    rendered = _rendered(section, late=len(own) > len(old))
    if not old:
        return text + ("" if text.endswith("\n") or not text else "\n") + rendered
    for found in reversed(old[1:]):
        text = text[: found.start()] + text[found.end() :]
    return text[: old[0].start()] + rendered + text[old[0].end() :]


def _replaced(head: str, instead_of: Collection[str] | None) -> bool:
    return instead_of is None or any(whole[:_HASH] == head for whole in instead_of)


def _of_day(text: str, day: date) -> list[re.Match[str]]:
    return [found for found in _SECTION.finditer(text) if found["day"] == day.isoformat()]


def _rendered(section: Section, *, late: bool) -> str:
    labels = _LABELS[section.language]
    title = labels.title.format(day=section.day.isoformat()) + (labels.late if late else "")
    hours = f" {section.hours}" if section.hours else ""
    lines = [
        mark(section.day, section.input_hash, section.agent),
        f"## {title}{hours}{_origin(section, labels)}",
        "",
        *(f"- {line}" for line in section.lines),
        *((labels.more.format(more=section.more),) if section.more else ()),
        _CLOSING,
    ]
    return "\n".join(lines) + "\n"


def _origin(section: Section, labels: _Labels) -> str:
    """The honest label: whether a model wrote this, the rule, or both."""
    if not section.rules:
        return ""
    return labels.all_rules if section.rules == len(section.lines) else labels.some_rules
