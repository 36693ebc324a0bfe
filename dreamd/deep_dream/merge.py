"""Three-way merge of a text by line: what we and somebody else made of the same base (pure)."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct


def merge(base: str, ours: str, theirs: str) -> str | None:
    """Both changes in one text, or None when both changed the same lines differently.

    Changes that only touch are both made. Lines that both only added at the same place are all kept, ours first: they
    belong to the list above. A line added among lines that the other side removed stays.
    """
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    lines = _lines(base)
    mine, others = _edits(lines, _lines(ours)), _edits(lines, _lines(theirs))
    if any(_clash(one, other) for one in mine for other in others):
        return None
    merged = list(_merged(lines, mine, others))
    open_end = _open(theirs if _open(ours) == _open(base) else ours)
    return "\n".join(merged) + ("\n" if merged and not open_end else "")


def _lines(text: str) -> list[str]:
    """Without their newlines: whether the last one has its own is no change of that line."""
    return text.removesuffix("\n").split("\n") if text else []


def _open(text: str) -> bool:
    return bool(text) and not text.endswith("\n")


class _Edit(Struct, frozen=True):
    """Lines `start` to `end` of the base give way to `lines`; none: they go; start == end: an addition before it."""

    start: int
    end: int
    lines: tuple[str, ...]


def _edits(base: Sequence[str], other: Sequence[str]) -> list[_Edit]:
    changes = SequenceMatcher(None, base, other, autojunk=False).get_opcodes()
    return [_Edit(start, end, tuple(other[a:b])) for what, start, end, a, b in changes if what != "equal"]


def _clash(one: _Edit, other: _Edit) -> bool:
    """They are at the same lines and say different things; that both remove lines is no contradiction."""
    first, second = sorted((one, other), key=lambda edit: (edit.start, edit.start == edit.end))
    if second.start >= first.end or one == other:
        return False
    if second.start == second.end:
        return second.start > first.start and bool(first.lines)
    return bool(first.lines or second.lines)


def _merged(base: Sequence[str], mine: Sequence[_Edit], others: Sequence[_Edit]) -> Iterator[str]:
    gone = {line for edit in (*mine, *others) for line in range(edit.start, edit.end)}
    for at in range(len(base) + 1):
        added = _added(mine, at)
        yield from added
        yield from (line for line in _added(others, at) if not line.strip() or line not in added)
        yield from _instead(mine, at) or _instead(others, at)
        yield from base[at : at + 1] if at not in gone else ()


def _added(edits: Sequence[_Edit], at: int) -> tuple[str, ...]:
    return next((edit.lines for edit in edits if edit.start == edit.end == at), ())


def _instead(edits: Sequence[_Edit], at: int) -> tuple[str, ...]:
    return next((edit.lines for edit in edits if edit.start == at < edit.end), ())
