"""Three-way merge of a text by line: what we and somebody else made of the same base (pure)."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher


def merge(base: str, ours: str, theirs: str) -> str | None:
    """Both changes in one text, or None when both changed the same lines differently.

    Lines that both only added at the same place are all kept, ours first: they belong to the list above.
    """
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    merged: list[str] = []
    for b, o, t in _chunks(_lines(base), _lines(ours), _lines(theirs)):
        chosen = _chosen(b, o, t)
        if chosen is None:
            return None
        merged.extend(chosen)
    return "".join(merged)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _chosen(base: list[str], ours: list[str], theirs: list[str]) -> list[str] | None:
    if ours in (base, theirs):
        return theirs
    if theirs == base:
        return ours
    if base:
        return None
    closed = ours if ours[-1].endswith("\n") else [*ours[:-1], ours[-1] + "\n"]
    return [*closed, *(line for line in theirs if not line.strip() or line not in closed)]


def _chunks(
    base: list[str], ours: list[str], theirs: list[str]
) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Stretches of the three texts, in order: alternately what one of them changed and what all have."""
    b = o = t = 0
    for start, in_ours, in_theirs in _common(base, ours, theirs):
        if (start, in_ours, in_theirs) != (b, o, t):
            yield base[b:start], ours[o:in_ours], theirs[t:in_theirs]
        yield [base[start]], [ours[in_ours]], [theirs[in_theirs]]
        b, o, t = start + 1, in_ours + 1, in_theirs + 1
    yield base[b:], ours[o:], theirs[t:]


def _common(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int, int]]:
    """Positions of the base's lines that stand unchanged in both others."""
    in_ours, in_theirs = _matches(base, ours), _matches(base, theirs)
    return ((at, in_ours[at], in_theirs[at]) for at in range(len(base)) if at in in_ours and at in in_theirs)


def _matches(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}
