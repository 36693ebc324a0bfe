"""How alike two texts are, by their words and their Chinese character pairs; and whether a text denies (pure)."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain, pairwise

from dreamd.pool import numerals
from dreamd.pool.remembering import remembering

_WORD = re.compile(r"[a-z0-9][a-z0-9'_-]*|[\u3400-\u9fff]+|[\u30a1-\u30fa\u30fc]{2,}")  # katakana: one word
_COMMON_WORDS = (
    "a an the and or but if so as at by for from in into of on to with about over under than then is are was were be been "
    "being am do does did done have has had having will would can could should may might must it its this that these those "
    "he she they we you i me my mine our your his her their him them us who what when where which how there here not no "
    "user users assistant agent asked answered reply said says told also very just only more most some any all each"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_FUNCTION = re.compile(r"[的了是在和与及或也都就被把让给对从到我你他她它们这那个用户助手回复]")


@remembering(2048)
def keywords(text: str) -> frozenset[str]:
    """The words that carry the text: English ones cut to their stem, Chinese as pairs of neighbouring characters.

    Numbers are left to `pool.support`, which compares them exactly.
    """
    return frozenset(chain.from_iterable(map(_pairs, _runs(text)))) | _stems(text)


@remembering(2048)
def _characters(text: str) -> frozenset[str]:
    """As `keywords`, but Chinese by single characters: a paraphrase keeps those, its pairs it does not."""
    return frozenset(_FUNCTION.sub("", "".join(_runs(text)))) | _stems(text)


@remembering(2048)
def _tokens(text: str) -> tuple[str, ...]:
    plain = numerals.plain(unicodedata.normalize("NFKC", text).casefold())
    return tuple(_WORD.findall(plain))


def _runs(text: str) -> list[str]:
    return [token for token in _tokens(text) if token[0] >= "\u3400"]


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for token in _tokens(text) if token[0] < "\u3400" for stem in _stem(token))


def _pairs(run: str) -> list[str]:
    parts = [part for part in _FUNCTION.split(run) if part]
    return [piece for part in parts for piece in (map("".join, pairwise(part)) if part[1:] else (part,))]


_SHORT = 4  # letters: words up to this lose no more than a plural s
_ENDING = re.compile(r"(?:'s|ations?|ments?|ings?|ied|ies|ed|ers?|es|s|ly|e|y)$")


def _stem(word: str) -> list[str]:
    if word in _COMMON:
        return []
    pieces = [
        piece
        for piece in re.split(r"[-_']", word)
        if piece[1:] and piece not in _COMMON and not piece.isdigit()
    ]
    return [
        _ENDING.sub("", piece) if len(piece) > _SHORT else piece.removesuffix("s") or piece
        for piece in pieces
    ]


def overlap(a: str, b: str) -> float:
    """0 for nothing in common to 1 for the same words, whatever their order (Dice)."""
    left, right = keywords(a), keywords(b)
    if not left or not right:
        return float(a.strip() == b.strip())
    return 2 * len(left & right) / (len(left) + len(right))


def covered(text: str, sources: str) -> float:
    """The share of the text's words (and Chinese characters) that occur in the sources; 1 when it has none."""
    words = _characters(text)
    return len(words & _characters(sources)) / len(words) if words else 1.0


_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|neither|nor|cannot|without|avoid(?:s|ed)?|refus(?:e|es|ed)|stop(?:s|ped)?|"
    r"dislikes?|hates?|rejected|against)\b|n't\b"
    r"|不(?!仅|但|过|断|同|错|只|少|客气|好意思|得不)|别(?!的|人|名|是|墅|处|致)|没(?!问题|关系|事[,，。！!]|事$)|未(?!来|必)|无(?!论|线|锡|疑)|勿|拒绝|避免|禁止|讨厌|停止",
    re.IGNORECASE,
)


_REMINDER = re.compile(r"\b(?:do not|don't|never)(?: ever)? forget\b|(?:别|不要|勿|可别)忘", re.IGNORECASE)


def negated(text: str) -> bool:
    """The text denies, forbids or rejects something: not, never, no longer, 不, 别, 没, 不再... A reminder does not."""
    said = _REMINDER.sub(" ", unicodedata.normalize("NFKC", text).replace("’", "'"))
    return _NEGATION.search(said) is not None


_CLAUSE = re.compile(r"[,.;:!?，。；：！？\n]+|->|→|\bbut\b|但是?")


def contrary(text: str, sources: Sequence[str]) -> bool:
    """The line denies and no source does; or it affirms what its sources only deny."""
    if negated(text):
        return not any(negated(source) for source in sources)
    words = keywords(text)
    near = [clause for source in sources for clause in _CLAUSE.split(source) if words & keywords(clause)]
    return bool(near) and all(negated(clause) for clause in near)
