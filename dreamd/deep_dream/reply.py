"""A reply's text in, its proposal out: `[MEMORY]`, `[DREAM]`, `[RETIRED]`, closed by `[END]` (pure).

Strict about wholeness, lenient about dress: fences, spaces, case, stars and full-width brackets do not matter, a
missing or doubled `[MEMORY]` does, or one whose end is not seen: neither `[END]` nor a `[DREAM]` behind it.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from dreamd.calls import Reply
from dreamd.errors import ReplyUnusable


class Proposed(Struct, frozen=True):
    """A line the model wants in MEMORY.md, under a heading (""), with the sources it names. `text` "" carries M as is."""

    text: str
    cites: tuple[str, ...]
    heading: str = ""


class Retired(Struct, frozen=True):
    """An old entry the model wants out, why, and the sources that the reason names."""

    source: str
    reason: str
    cites: tuple[str, ...] = ()


class Proposal(Struct, frozen=True, kw_only=True):
    lines: tuple[Proposed, ...] = ()
    retired: tuple[Retired, ...] = ()
    dream: str = ""


_SECTION = re.compile(
    r"^[ \t>*_#`]*[\[【［]\s*(?P<name>MEMORY|DREAM|RETIRED|/?END)\s*[\]】］][ \t*_:：`]*(?P<rest>.*)$",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^\s*(?:```|~~~)\w*\s*$")


def parse(reply: Reply) -> Proposal:
    """The proposal of a whole reply. Raises ReplyUnusable when it was cut off or is not complete."""
    if reply.stop != "end":
        raise ReplyUnusable(f"the reply was cut off ({reply.stop})", hint="nothing was written")
    sections = _sections(reply.text)
    return Proposal(
        lines=tuple(_proposed(sections["MEMORY"])),
        retired=tuple(_retired(sections.get("RETIRED", []))),
        dream="\n".join(sections.get("DREAM", [])).strip(),
    )


def _sections(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    current: list[str] = []  # what stands before the first section is talk
    for line in text.splitlines():
        mark = _SECTION.match(line)
        if mark:
            name = mark["name"].upper().removeprefix("/")
            if name == "MEMORY" and name in found:
                raise ReplyUnusable("the reply has two [MEMORY] sections", hint="nothing was written")
            current = found.setdefault(name, [])
            if name == "END":
                break
        rest = mark["rest"] if mark else line
        if rest.strip() and not _FENCE.match(rest):
            current.append(rest)
    if "MEMORY" not in found:
        raise ReplyUnusable("the reply has no [MEMORY]", hint="nothing was written")
    if "END" not in found and "DREAM" not in list(found)[list(found).index("MEMORY") :]:
        raise ReplyUnusable("the reply's [MEMORY] has no end", hint="nothing was written")
    return found


_HEADING = re.compile(r"^\s*#{1,6}\s+(?P<text>.*?)[\s#]*$")
_BULLET = re.compile(r"^\s*(?:[-*+•·]|\d+[.)、])\s+")
_ID = r"[MDI]\s*\d{1,4}"
_IDS = rf"{_ID}(?:\s*(?:[-–~,;、，；&+/]|and|和|与|to|至|到|\s)\s*(?:{_ID}|\d{{1,4}}(?!\w)))*"
_GROUP = rf"[(\[（【［]\s*{_IDS}\s*[)\]）】］]"
_TRAILING = re.compile(rf"\s*(?P<ids>{_GROUP})\s*(?P<stop>[.。;；]?)\s*$", re.IGNORECASE)
_LEADING = re.compile(rf"^\s*(?P<ids>{_GROUP}|{_ID}(?=\s*[:：]))\s*[:：]?\s*", re.IGNORECASE)
_ONE = re.compile(r"(?P<kind>[MDI])?\s*(?P<number>\d{1,4})", re.IGNORECASE)
_RANGE = re.compile(
    r"(?P<kind>[MDI])\s*(?P<first>\d{1,4})\s*(?:[-–~至到]|to)\s*(?:[MDI]\s*)?(?P<last>\d{1,4})",
    re.IGNORECASE,
)
_WIDEST_RANGE = 50
_NOTHING = re.compile(r"\W*(?:none|nothing|empty|n/a|无|没有|空)\W*", re.IGNORECASE)


def _proposed(lines: list[str]) -> Iterator[Proposed]:
    heading = ""
    for line in lines:
        if found := _HEADING.match(line):
            heading = found["text"]
            continue
        text, cites = cited(_BULLET.sub("", line, count=1))
        if cites or (_BULLET.match(line) and text and not _NOTHING.fullmatch(text)):
            yield Proposed(text, cites, heading)


def _retired(lines: list[str]) -> Iterator[Retired]:
    for line in lines:
        bare = _BULLET.sub("", line, count=1).strip()
        found = re.match(
            r"[(\[（【［*`]*\s*(?P<id>M\s*\d{1,4})\s*[)\]）】］*`]*\s*[:：\-–—]+\s*(?P<reason>\S.*)",
            bare,
            re.IGNORECASE,
        )
        if found:
            yield Retired(_plain(found["id"]), *cited(found["reason"]))


def cited(line: str) -> tuple[str, tuple[str, ...]]:
    """A line without the source numbers at its end or beginning, and those numbers: `x (M1, D2-D3)` names M1, D2, D3."""
    text, found = line.strip(), ""
    while match := _TRAILING.search(text):
        text, found = text[: match.start()] + match["stop"], f"{match['ids']} {found}"
    if match := _LEADING.match(text):
        text, found = text[match.end() :], f"{match['ids']} {found}"
    return text.strip(), tuple(dict.fromkeys(_ids(found)))


def _ids(text: str) -> Iterator[str]:
    def spelt_out(match: re.Match[str]) -> str:
        first, last = int(match["first"]), int(match["last"])
        if not first <= last <= first + _WIDEST_RANGE:
            return match[0]
        return ",".join(f"{match['kind']}{number}" for number in range(first, last + 1))

    kind = ""
    for match in _ONE.finditer(_RANGE.sub(spelt_out, text)):
        kind = (match["kind"] or kind).upper()
        yield f"{kind}{int(match['number'])}"


def _plain(source: str) -> str:
    return f"{source[0].upper()}{int(source[1:])}"
