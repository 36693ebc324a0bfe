"""Two rules in, each of which says what is done before what; whether they say the same out (pure, both languages).

"Run the tests before you push" and "never push before the tests have passed" share no order and no denial, and are one rule.
"""

import re
import unicodedata

from dreamd.dream.wording import Wording, loose, wording
from dreamd.pool.similarity import negated

_EN = (
    r"(?:please |you )?(?:never|do not|don't|must not|mustn't)\s+(?P<then>.+?)\s+(?:before|until|unless|without)\s+(?P<first>.+)",
    r"(?:always )?before\s+(?P<then>[^,]+),\s*(?P<first>.+)",
    r"(?P<first>.+?)\s+before\s+(?P<then>.+)",
)
_ZH = (
    r"(?P<first>.+?)(?:之前|以前|前)[,，]?(?:绝对?|千万)?(?:不要|不许|不能|不得|不准|不可以?|别|不)(?P<then>.+)",
    r"(?P<first>.+?)没有?(?:通过|跑完?|做完?|完成|成功|好)(?:之前|以前|前|的话|时)?[,，]?就?(?:不要|不许|不能|不得|不准|不可以?|别|不)(?P<then>.+)",
    r"没有?(?:通过|跑完?|做完?|完成)?(?P<first>.+?)就(?:不要|不许|不能|不得|不准|不可以?|别|不)(?P<then>.+)",
    r"(?P<then>.+?)(?:之前|以前|前)[,，]?(?:都|一定)?(?:要先|必须先|得先|先|必须|要|得|请)(?P<first>.+)",
    r"(?:请|要|必须|一定要)?先(?P<first>.+?)[,，]?(?:再|才能?|然后)(?P<then>.+)",
)
_RULE = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*_EN, *_ZH))
_ENDS = re.compile(r"[.!?;。！？；](?!\w)")
_DONE = re.compile(
    r"\b(?:runs?|ran|running|pass(?:es|ed)?|green|done|finish(?:es|ed)?|succe(?:ed|eds|eded|ss|ssful)|complet(?:e|es|ed)|works?|each|every|any)\b"
    r"|运行|执行|跑|通过|完成|成功|结束|变绿|做完|[完过好]",
    re.IGNORECASE,
)  # that it is done, however it is said


def same_turn(a: Wording, b: Wording) -> bool:
    """The same comes before the same. In doubt it does not."""
    if a.values != b.values or set(a.names) != set(b.names):
        return False
    left, right = _turn(a.said), _turn(b.said)
    return left is not None and left == right


def _turn(said: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """What comes first and what then, in words."""
    text = unicodedata.normalize("NFKC", said).strip().rstrip(".!。！")
    if _ENDS.search(text):
        return None
    for rule in _RULE:
        found = rule.fullmatch(text)
        if found:
            first, then = found["first"], found["then"]
            turn = (_about(first), _about(then))
            if all(turn) and not negated(first) and not negated(then):
                return turn
    return None


def _about(part: str) -> frozenset[str]:
    return loose(wording(_DONE.sub(" ", part)).words)
