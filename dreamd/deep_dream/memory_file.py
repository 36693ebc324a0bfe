"""MEMORY.md as blocks: headings, entries, and all other text, which is never touched (pure).

Law: `render(parse(text)) == text` for every text. An edit replaces, removes or inserts entries; every byte of every
other block stays.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ENTRY = re.compile(r"^ {0,3}(?P<bullet>[-*+]) +(?P<text>\S.*)$")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(?P<text>.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})")
_RULE = re.compile(r"^ {0,3}(?:[-*_] *){3,}$")


class Block(Struct, frozen=True):
    """Whole lines of the file. `text` of an entry is its first line without the bullet; `line` counts from 1.

    An entry takes its indented continuation lines and nested bullets with it.
    """

    kind: Literal["heading", "entry", "other"]
    raw: str
    text: str
    line: int

    @property
    def whole(self) -> str:
        """The text with its continuation lines, on one line."""
        return " ".join((self.text, *filter(None, (part.strip() for part in self.raw.split("\n")[1:]))))

    @property
    def nested(self) -> bool:
        return "\n" in self.raw.strip("\n")


class Edits(Struct, frozen=True, kw_only=True):
    """What to do to blocks, by index. `replaced`: lines instead of the entry (none: it goes). `after`: lines behind it.

    `sections`: lines for headings, in order; a heading the file does not have is added at its end ("" is the file's
    own end). All lines are without bullet.
    """

    replaced: Mapping[int, Sequence[str]]
    after: Mapping[int, Sequence[str]]
    sections: Mapping[str, Sequence[str]]


def parse(text: str) -> tuple[Block, ...]:
    """The blocks of a file, in order; together they are the file."""
    blocks: list[Block] = []
    fence, front = "", text.lstrip("\ufeff").startswith("---\n")
    for number, raw in enumerate(_LINE.findall(text), 1):
        line = raw.rstrip("\r\n").lstrip("\ufeff" if number == 1 else "")
        if front:
            front = number == 1 or line not in ("---", "...")
            kind = Block("other", raw, "", number)
        elif fence:
            fence = "" if line.strip().startswith(fence) and not line.strip(" `~") else fence
            kind = Block("other", raw, "", number)
        else:
            fence_mark = _FENCE.match(line)
            fence = fence_mark["mark"] if fence_mark else ""
            kind = _block(raw, line, number)
        _append(blocks, kind, in_fence=bool(fence))
    return tuple(blocks)


def _block(raw: str, line: str, number: int) -> Block:
    if found := _HEADING.match(line):
        return Block("heading", raw, found["text"], number)
    if (found := _ENTRY.match(line)) and not _RULE.match(line):
        return Block("entry", raw, found["text"].strip(), number)
    return Block("other", raw, "", number)


def _append(blocks: list[Block], block: Block, *, in_fence: bool) -> None:
    """Add a line's block; an indented line behind an entry belongs to it."""
    last = blocks[-1] if blocks else None
    indented = block.raw[:1] in (" ", "\t") and block.raw.strip() != ""
    own_indent = len(last.raw) - len(last.raw.lstrip(" ")) if last else 0
    deeper = indented and (block.raw[0] == "\t" or len(block.raw) - len(block.raw.lstrip(" ")) > own_indent)
    if last and last.kind == "entry" and deeper and block.kind != "heading" and not in_fence:
        blocks[-1] = Block("entry", last.raw + block.raw, last.text, last.line)
    else:
        blocks.append(block)


def render(blocks: Iterable[Block]) -> str:
    return "".join(block.raw for block in blocks)


def entries(blocks: Sequence[Block]) -> list[tuple[int, Block]]:
    """The entries with their indices among the blocks."""
    return [(index, block) for index, block in enumerate(blocks) if block.kind == "entry"]


def lines_of(text: str) -> list[str]:
    """The texts of all entries of a file."""
    return [block.text for _, block in entries(parse(text))]


def edit(blocks: Sequence[Block], edits: Edits) -> str:
    """The file with the edits made."""
    writer = _Writer(blocks)
    ends = _section_ends(blocks)
    added = {ends[heading]: lines for heading, lines in edits.sections.items() if heading in ends}
    for index, block in enumerate(blocks):
        if index in edits.replaced:
            writer.add(edits.replaced[index])
        else:
            writer.keep(block.raw)
        writer.add(edits.after.get(index, ()))
        writer.add(added.get(index, ()))
        if added.get(index) and blocks[index + 1 : index + 2] and blocks[index + 1].kind == "heading":
            writer.blank()
    for heading, lines in edits.sections.items():
        if heading not in ends and lines:
            writer.section(heading, lines)
    return writer.text()


class _Writer:
    """Collects the new file in the old one's manner: its newline and its bullet."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.parts: list[str] = []
        self.newline = "\r\n" if blocks and blocks[0].raw.endswith("\r\n") else "\n"
        first = next((block for block in blocks if block.kind == "entry"), None)
        self.bullet = first.raw.lstrip("\ufeff ")[0] if first else "-"

    def keep(self, raw: str) -> None:
        self._close()
        self.parts.append(raw)

    def add(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._close()
            self.parts.append(f"{self.bullet} {line}{self.newline}")

    def blank(self) -> None:
        self.parts.append(self.newline)

    def section(self, heading: str, lines: Iterable[str]) -> None:
        self._close()
        if self.parts and self.parts[-1].strip() and heading:
            self.parts.append(self.newline)
        if heading:
            self.parts.append(f"## {heading}{self.newline}{self.newline}")
        self.add(lines)

    def _close(self) -> None:
        """Give the last line its newline before another follows."""
        if self.parts and not self.parts[-1].endswith(("\n", "\r")):
            self.parts[-1] += self.newline

    def text(self) -> str:
        return "".join(self.parts)


def _section_ends(blocks: Sequence[Block]) -> dict[str, int]:
    """Heading -> index of the block behind which a new entry goes: the section's last entry, else its heading.

    "" is what stands before the first heading, if it has entries. Of two equal headings the first counts.
    """
    ends: dict[str, int] = {}
    current, closed = "", False
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            closed = block.text in ends
            current = block.text
            ends.setdefault(current, index)
        elif block.kind == "entry" and not closed:
            ends[current] = index
    return {heading: _behind_blank(blocks, index) for heading, index in ends.items()}


def _behind_blank(blocks: Sequence[Block], index: int) -> int:
    """A heading's blank line stays between it and its first entry."""
    following = blocks[index + 1] if index + 1 < len(blocks) else None
    if blocks[index].kind == "heading" and following is not None and not following.raw.strip():
        return index + 1
    return index
