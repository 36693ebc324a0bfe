"""What somebody said in, and how another tells it; whether the other adds nothing out (pure, English and Chinese).

Law: who is meant may change (`I`, 我: the user, 用户), the bending of a word, and small words that carry nothing. Every
other word of what is told was said; what is affirmed was not said in a denial, and what is denied was denied in one.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain

from dreamd.pool import numerals
from dreamd.pool.remembering import remembering
from dreamd.pool.similarity import negated

_CLAUSE_ENDS = re.compile(r"[.,](?!\d)|[;:!?。，；：！？、\n]+|\bbut\b|但是?|却|而(?=不)")
_WORD = re.compile(r"[a-z0-9][a-z0-9_]*|[\u3400-\u9fff]+|[\u3041-\u30ff]+")
_PERSONS = re.compile(  # who speaks, or of whom is spoken
    r"\b(?:i|me|my|mine|myself|we|us|our|ours|ourselves|you|your|yours|he|him|his|she|her|hers|they|them|their|theirs|"
    r"users?|person|human)\b|用户|使用者|主人|本人|自己|我们|咱们|他们|她们|你们|[我咱他她你您]"
)
_SMALL_WORDS = (
    "a an the this that these those it its is are am was were be been being do does did will would shall not no of in on "
    "at for to as and please s m re d ll"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_SMALL_ZH = re.compile(r"[的地得了是在和与及也都就把着吧啊呢哦呀请不没别无勿未]")
_DENYING = re.compile(r"n't\b")
_HAVE = {"ve": "have", "has": "have", "had": "have", "having": "have"}
_ENDINGS = ("ing", "ed", "e")
_LEAST = 2  # letters of a stem


def adds_nothing(told: str, said: str) -> bool:
    """Whether all that is told was said; of nothing it is not."""
    words = [(clause, _words(clause)) for clause in _clauses(told)]
    clauses = [(negated(clause), _words(clause)) for clause in _clauses(said)]
    affirmed = frozenset(chain.from_iterable(own for denies, own in clauses if not denies))
    denied = [own for denies, own in clauses if denies]
    return any(own for _, own in words) and all(
        any(own <= one for one in denied) if negated(clause) else own <= affirmed
        for clause, own in words
        if own
    )


def _clauses(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    return [clause for clause in _CLAUSE_ENDS.split(numerals.plain(plain)) if clause.strip()]


@remembering(512)
def _words(clause: str) -> frozenset[str]:
    """What carries the clause: English words without their endings, Chinese characters."""
    plain = _PERSONS.sub(" ", _DENYING.sub(" not", clause))
    return frozenset(chain.from_iterable(map(_carrying, _WORD.findall(plain))))


def _carrying(word: str) -> Iterator[str]:
    if word[0] >= "\u3041":
        yield from _SMALL_ZH.sub("", word)
    elif word not in _SMALL:
        yield _stem(_HAVE.get(word, word))


def _stem(word: str) -> str:
    """`hates`, `hated`, `hating` and `hate` are one word."""
    if word.endswith("ies") and len(word) > len("ties"):
        return f"{word[:-3]}y"
    if word.endswith("s") and not word.endswith("ss") and len(word) > _LEAST + 1:
        word = word[:-1]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST:
            word = word.removesuffix(ending)
            break
    doubled = len(word) > _LEAST + 1 and word[-1] == word[-2] and word[-1] not in "sl"
    return word[:-1] if doubled else word
