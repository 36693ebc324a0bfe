"""A model's reply goes in, its lines come out with the events each one cites. Lenient in form, never in substance (pure)."""

import re
from collections.abc import Iterator

from msgspec import Struct

from dreamd.calls import Stop


class Line(Struct, frozen=True):
    """What the model says, without bullet and numbers, and the event numbers it names, in its order."""

    text: str
    cited: tuple[int, ...]


class Parsed(Struct, frozen=True):
    """`nothing`: the model says that nothing is worth keeping. `uncited`: bulleted lines that name no event."""

    lines: tuple[Line, ...] = ()
    uncited: int = 0
    nothing: bool = False


_BULLET = re.compile(r"^\s*(?:[-*+•·–—](?![->])|\d{1,3}[.)](?=\s)|\d{1,3}、|[（(]\d{1,3}[）)])\s*")
_CONTINUED = re.compile(r"^\s*(?:->|→|=>|reply\s*[:：]|回复\s*[:：])", re.IGNORECASE)
_CITATION = re.compile(r"\s*[\[【（(［]\s*(E\s*\d[\dE\s,，、;；&~～–—至到andto-]*)[\]】）)］]", re.IGNORECASE)
_COMPLETE = re.compile(_CITATION.pattern + r"[\s.。;；]*$", re.IGNORECASE)
_LEADING = re.compile(r"^\s*\**E\s?(\d{1,6})\b\**(?:\s+\d{1,2}:\d\d)?\s*[:：.)、-]?\s*", re.IGNORECASE)
_RANGE = re.compile(r"E?\s*(\d{1,6})(?:\s*(?:[-–—~～至到]|to)\s*E?\s*(\d{1,6}))?", re.IGNORECASE)
_NOTHING = re.compile(
    r"[\s\-*•(（\[]*(?:none|nothing|n/a|null|empty|无|没有|暂无|无内容)[\s.。!)）\]]*", re.IGNORECASE
)
_LONGEST_RANGE = 50


def parse(text: str, stop: Stop) -> Parsed:
    """The lines of a reply. Of one that was cut off, the last line counts only if it is complete: it ends in its numbers."""
    written = list(_joined(text))
    if stop != "end" and written and not _COMPLETE.search(written[-1]):
        written.pop()
    lines, uncited = [], 0
    for one in written:
        line = _line(one)
        if line.cited and line.text and not _NOTHING.fullmatch(line.text):
            lines.append(line)
        elif _BULLET.match(one) and not _NOTHING.fullmatch(one):
            uncited += 1
    nothing = bool(written) and all(_NOTHING.fullmatch(one) for one in written)
    return Parsed(tuple(dict.fromkeys(lines)), uncited, nothing)


def _joined(text: str) -> Iterator[str]:
    """Lines without fences; one that goes on where the last one stopped ("-> Reply: ...") is joined to it."""
    held = ""
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith(("```", "~~~")):
            continue
        if held and _CONTINUED.match(line) and not _CITATION.search(held):
            held = f"{held.rstrip()} {line.strip()}"
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


def _line(written: str) -> Line:
    said = _BULLET.sub("", written, count=1)
    cited = [int(number) for number in _LEADING.findall(said)]
    for match in _CITATION.finditer(said):
        cited.extend(_numbers(match[1]))
    text = _CITATION.sub("", _LEADING.sub("", said, count=1))
    return Line(" ".join(text.split()), tuple(dict.fromkeys(cited)))


def _numbers(cited: str) -> Iterator[int]:
    for match in _RANGE.finditer(cited):
        first, last = int(match[1]), int(match[2] or match[1])
        yield from range(first, min(last, first + _LONGEST_RANGE) + 1)
