"""What says the same as a text in other words; and which contradictions a dream links when there are many (pure)."""

from collections import Counter
from collections.abc import Iterable, Sequence

from dreamd.dream.compare import SAME, compare

Pair = tuple[str, str]  # ids of insights
OF_ONE = 5  # contradictions of one insight that a dream links


def linked(content: str, said: Iterable[str], similarity: float) -> tuple[str, ...]:
    """What was said that is the same as the content, or as what is."""
    found, left = [content], list(dict.fromkeys(said))
    for text in found:  # grows while it is gone through
        found += [other for other in left if other not in found and compare(text, other, similarity) == SAME]
    return tuple(found)


def within(pairs: Sequence[Pair], most: int) -> frozenset[Pair]:
    """The first of them: `most` in all, `OF_ONE` of one insight. So n that all contradict each other cost n, not n squared."""
    counts: Counter[str] = Counter()
    chosen: set[Pair] = set()
    for pair in pairs:
        if len(chosen) < most and all(counts[side] < OF_ONE for side in pair):
            chosen.add(pair)
            counts.update(pair)
    return frozenset(chosen)
