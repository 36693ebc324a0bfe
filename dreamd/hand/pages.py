"""The text of a file in; the pieces of which it is made, each known to be dreamd's or not, and the text without some, out.

Pure. A piece is a whole entry of MEMORY.md, a line of a daily, a bullet or a sentence of a diary. Every byte of every
other piece stays.
"""

from collections.abc import Collection, Iterator
from typing import Literal

from msgspec import Struct

from dreamd.daily import page as daily
from dreamd.deep_dream import diary, memory_file

Page = Literal["memory", "daily", "diary"]


class Piece(Struct, frozen=True):
    """`raw` is what stands in the file, `text` what it says; `line` counts from 1.

    `own`: it stands where dreamd alone writes. Of MEMORY.md, where people write too, that is for history to tell.
    """

    raw: str
    text: str
    line: int
    own: bool


def pieces(text: str, page: Page) -> list[Piece]:
    """In order; together they are the text."""
    if page == "diary":
        return list(_of_diary(text))
    own = daily.sections(text) if page == "daily" else ()
    blocks = memory_file.parse(text)
    ends = _offsets(block.raw for block in blocks)
    return [
        Piece(
            block.raw,
            block.text if block.kind == "entry" else block.raw.strip(),
            block.line,
            any(start <= end - len(block.raw) and end <= stop for start, stop in own),
        )
        for block, end in zip(blocks, ends, strict=True)
    ]


def _offsets(raws: Iterator[str]) -> Iterator[int]:
    at = 0
    for raw in raws:
        at += len(raw)
        yield at


_BULLET = "- "


def _of_diary(text: str) -> Iterator[Piece]:
    begins, at, number = diary.begins(text), 0, 1
    for line in text.splitlines(keepends=True):
        parts = (
            [line] if line.startswith((_BULLET, "#", "<!--")) or not line.strip() else diary.sentences(line)
        )
        for part in parts:
            yield Piece(part, part.removeprefix(_BULLET).strip(), number, at >= begins)
        at, number = at + len(line), number + 1


def without(text: str, page: Page, gone: Collection[str]) -> str:
    """The text without the pieces that read so (`raw`), and without a heading that has nothing under it any more.

    In a daily or a diary only dreamd's own pieces go.
    """
    parts = pieces(text, page)
    left = [part.raw for part in parts if part.raw not in gone or not (part.own or page == "memory")]
    if len(left) == len(parts):
        return text
    return _emptied("".join(left), page)


def _emptied(text: str, page: Page) -> str:
    if page == "daily":
        return daily.emptied(text)
    return diary.emptied(text) if page == "diary" else text


def renumbered(text: str, gone: Collection[str]) -> dict[int, int]:
    """Line numbers of entries that stay, and where they stand without the pieces that go."""
    places: dict[int, int] = {}
    less = 0
    for part in pieces(text, "memory"):
        if part.raw in gone:
            less += part.raw.count("\n")
        else:
            places |= {part.line + at: part.line + at - less for at in range(max(1, part.raw.count("\n")))}
    return places
