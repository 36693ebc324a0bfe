"""The rule-based line of an event, for when no model answers or its line is refused (pure).

The seed's rule: the first 120 characters of the user's message and the first meaningful line of the reply. It never
invents: what it says stands in the event, but for white space and what nobody sees, and it never exceeds its bounds.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from dreamd.daily.transcript import Event
from dreamd.pool.language import Tongue
from dreamd.pool.plain import plain

ASKED_CHARACTERS = 120
REPLY_CHARACTERS = 200
_NO_REPLY: Mapping[Tongue, str] = {"en": "(no reply)", "zh": "（无回复）"}


def line(event: Event, language: Tongue) -> str:
    """`User: X -> Reply: Y` without a bullet; `Reply: Y` where the question is not known."""
    reply = _cut(meaningful(map(plain, event.answers)), REPLY_CHARACTERS)
    return joined(_cut(plain(event.asked), ASKED_CHARACTERS), reply or _NO_REPLY[language], language)


def joined(asked: str, reply: str, language: Tongue) -> str:
    """The two sides of a daily's line, labelled; the second alone when nothing was asked."""
    if language == "zh":
        return f"用户: {asked} → 回复: {reply}" if asked else f"回复: {reply}"
    return f"User: {asked} -> Reply: {reply}" if asked else f"Reply: {reply}"


def _cut(text: str, characters: int) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= characters else folded[:characters].rstrip() + "…"


def meaningful(answers: Iterable[str]) -> str:
    """The first line that says something, of the last answer that has one; else the best there is, or "".

    A turn's last text is its outcome, earlier ones tell what the assistant is about to do.
    """
    newest_first = list(answers)[::-1]
    for pick in (_telling, _prose, _any):
        found = next((text for answer in newest_first for text in pick(answer)), "")
        if found:
            return found
    return ""


_FENCE = re.compile(r"\s*(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_TAG = re.compile(r"\s*</?[a-z][^>]*>\s*", re.IGNORECASE)
_MARKER = re.compile(r"^(?:[-*+•>]\s+|\d{1,3}[.)]\s+|\d{1,3}、\s*)+")
_NOISE = re.compile(
    r"(?:sure(?: thing)?|ok(?:ay)?|of course|certainly|absolutely|great(?: question)?|good question|got it|no problem|"
    r"done|perfect|understood|alright|thanks|thank you|you'?re (?:absolutely )?(?:right|welcome)|yes|"
    r"好的?|当然(?:可以)?|没问题|收到|明白了?|可以的?|是的|谢谢|好嘞|了解|不客气|完成)[\s!.,:~…！。，：～]+",
    re.IGNORECASE,
)


def _prose(answer: str) -> Iterator[str]:
    """Lines of the answer outside fences, without headings, rules, table rules, lone tags and bullets."""
    fence = ""
    for text in answer.splitlines():
        mark = _FENCE.match(text)
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and not _HEADING.match(text) and not _TAG.fullmatch(text):
            said = _MARKER.sub("", text.strip())
            if re.search(r"[^\W_]", said):
                yield said


def _telling(answer: str) -> Iterator[str]:
    """Prose that is more than "Sure!" and its like; what follows such a word on its line keeps it: "Yes: 14 pass"."""
    return (text for text in _prose(answer) if re.search(r"[^\W_]", _beyond_noise(text)))


def _beyond_noise(text: str) -> str:
    while noise := _NOISE.match(f"{text}\n"):
        text = text[noise.end() :].lstrip()
    return text


def _any(answer: str) -> Iterator[str]:
    return (text.strip() for text in answer.splitlines() if re.search(r"[^\W_]", text))
