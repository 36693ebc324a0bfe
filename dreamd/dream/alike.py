"""How alike two statements are in what they are about, and where a word stands in one for another in the other (pure).

Likeness is no sameness: `compare` decides. Chinese is read twice, by pairs and by single characters.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise

from dreamd.dream.wording import BOUND, Wording, is_chinese, loose

ENOUGH = 2.0  # words that two statements must share to be alike though each has words of its own
_CHARACTER = 0.75  # of a word: what one Chinese character counts
_BY_CHARACTER = (
    1.02  # of the similarity: characters of clauses that each also say something else; just half is too few
)
EXACT = 1.5  # words that an exact value counts
# what is asked for, whatever it is about: stems, and Chinese characters
_HANDLES = re.compile(
    r"^(?:ask|book|order|get|giv|mak|find|look|put|set|send|writ|run|need|hav|keep|start|com|goe?|show|tell|bu|arrang|plann?|decid|agre|chos|settl|list|like|should|cost|charg|pay|price|leav|call|happen|hold|stay|remain|host|liv|stor|sav|convert|updat|chang)$"
    r"|^[订放写跑发寄走买做开给找看问叫点记留存付报价办定坐认换装养改]$"
)

Clauses = tuple[tuple[str, ...], ...]


def alike(a: Wording, b: Wording, similarity: float, leaving: frozenset[str] = frozenset()) -> bool:
    """Enough in common, and no word stands where the other has another one.

    Chinese is read twice, by pairs and by single characters: where words begin is not marked.
    """
    if _apart(a, b, leaving) or _apart(b, a, leaving):
        return False
    exact = a.values & b.values
    return any(_alike(one, other, similarity * more, exact) for one, other, more in readings(a, b, leaving))


def _apart(a: Wording, b: Wording, leaving: frozenset[str]) -> bool:
    """They share a frame, and what `a` puts into it may stand in another clause of `b`: two things.

    Each may have a clause of its own for a reason ("so nothing fancy"), if what they share is a statement.
    """
    shared = (a.words & b.words) - leaving
    within, alone = _own(a, shared, leaving)
    _, other_alone = _own(b, shared, leaving)
    if not shared or not other_alone or not (within or alone):
        return False
    points = any(_of_shared(b.clauses, b.pointing, shared))
    return points or (
        bool(alone)
        and (bool(loose(alone) & loose(other_alone)) or all(_of_shared(a.clauses, a.opening, shared)))
    )


def _of_shared(clauses: Clauses, marks: Iterable[bool], shared: frozenset[str]) -> Iterator[bool]:
    return (mark for clause, mark in zip(clauses, marks, strict=True) if shared & set(clause))


def _own(one: Wording, shared: frozenset[str], leaving: frozenset[str]) -> tuple[set[str], set[str]]:
    """Its own words in clauses that it shares, and in clauses of its own."""
    within: set[str] = set()
    alone: set[str] = set()
    for clause in one.clauses:
        (within if shared & set(clause) else alone).update(set(clause) - shared - leaving)
    return within, alone


def readings(a: Wording, b: Wording, leaving: frozenset[str]) -> Iterator[tuple[Clauses, Clauses, float]]:
    left, right = (_without(one.clauses, leaving) for one in (a, b))
    yield left, right, 1.0
    if any(is_chinese(word) for word in a.words | b.words):
        shared = (a.words & b.words) - leaving
        mixed = all(_own(one, shared, leaving)[0] for one in (a, b))
        yield _by_character(left), _by_character(right), _BY_CHARACTER if mixed else 1.0


def _without(clauses: Clauses, leaving: frozenset[str]) -> Clauses:
    return tuple(tuple(word for word in clause if word not in leaving) for clause in clauses)


@lru_cache(maxsize=2048)
def _by_character(clauses: Clauses) -> Clauses:
    return tuple(tuple(_characters(clause)) for clause in clauses)


def _characters(clause: tuple[str, ...]) -> Iterator[str]:
    """Of pairs that overlap each character once."""
    last = ""
    for word in clause:
        if is_chinese(word):
            yield from word[1:] if last and last == word[0] else word
            last = word[-1]
        else:
            yield word
            last = ""


def _alike(left: Clauses, right: Clauses, similarity: float, exact: frozenset[str]) -> bool:
    mine, others = frozenset(chain.from_iterable(left)), frozenset(chain.from_iterable(right))
    shared = mine & others
    if mine == others:
        return bool(mine)
    if _dice(mine, others, exact) < similarity or weight(shared) + EXACT * len(exact) < ENOUGH:
        return False
    mine_in, others_in = slots(left, shared), slots(right, shared)
    return not any(
        _stand_in(word, other)
        for slot in mine_in.keys() & others_in.keys()
        for word in mine_in[slot]
        for other in others_in[slot]
    )


def likeness(a: Wording, b: Wording) -> float:
    """0 to 1, as `pool.similarity.overlap`, over what they are about and their exact values."""
    return _dice(a.words, b.words, a.values & b.values)


def _dice(left: frozenset[str], right: frozenset[str], exact: frozenset[str]) -> float:
    shared, all_of = len(left & right) + len(exact), len(left) + len(right) + 2 * len(exact)
    return 2 * shared / all_of if all_of else 0.0


def weight(words: Iterable[str]) -> float:
    return sum(_CHARACTER if is_chinese(word) and not word[1:] else 1.0 for word in words)


def handles(word: str) -> bool:
    """It only says what to do with the rest."""
    return _HANDLES.search(word) is not None


def _stand_in(word: str, other: str) -> bool:
    """One for the other: unless both only say what to do with the rest."""
    return not (handles(word) and handles(other))


def slots(clauses: Clauses, shared: frozenset[str]) -> dict[tuple[str, str], set[str]]:
    """Words that the other has not by where they stand: right behind which shared word, right before which one."""
    found: dict[tuple[str, str], set[str]] = {}
    for clause in clauses:
        for before, after in pairwise((BOUND, *clause, BOUND)):
            if before in shared and after not in shared and after != BOUND:
                found.setdefault((before, BOUND), set()).add(after)
            if after in shared and before not in shared and before != BOUND:
                found.setdefault((BOUND, after), set()).add(before)
    return found


def nested(a: Wording, b: Wording) -> bool:
    """One says all the words of the other; of Chinese ones all characters."""
    left, right = loose(a.words), loose(b.words)
    return left <= right or right <= left
