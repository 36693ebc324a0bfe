"""The language of a person, from what the person wrote: texts in, "en" or "zh" out (pure)."""

import re
from collections.abc import Iterable
from typing import Literal

Tongue = Literal["en", "zh"]

_LOOKED_AT = 2000  # characters of one text: enough to tell, and a pasted log costs nothing
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\S*[/\\_=]\S*|https?://\S+", re.DOTALL)
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORD = re.compile(r"[^\W\d_\u2e80-\U0003ffff]{2,}")


def detect(texts: Iterable[str]) -> Tongue:
    """The language most of the texts are written in; "en" when they do not tell.

    Each text has one vote, so that a pasted English log does not outweigh ten Chinese questions. Code, paths and
    addresses do not count. Chinese sentences are full of English terms, so they win from half as many characters
    as there are foreign words on.
    """
    votes = [vote for vote in map(_vote, texts) if vote]
    return "zh" if votes.count("zh") > len(votes) / 2 else "en"


def _vote(text: str) -> Tongue | None:
    prose = _CODE.sub(" ", text[:_LOOKED_AT])
    han, words = len(_HAN.findall(prose)), len(_WORD.findall(prose))
    if not han and not words:
        return None
    return "zh" if han * 2 > words and not _KANA.search(prose) else "en"
