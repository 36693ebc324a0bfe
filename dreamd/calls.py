"""An LLM call as data: what is asked and what came back."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Purpose = Literal["daily-summary", "deep-dream", "score", "distil", "merge", "reconcile"]
Stop = Literal["end", "length", "filter"]


class Prompt(Struct, frozen=True, kw_only=True):
    """One call in its own conversation: a system text, one user text, no tools, no history.

    `schema` (JSON schema) asks for JSON where the provider can enforce it. `max_tokens` bounds the output.
    """

    purpose: Purpose
    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, object] | None = None


class Reply(Struct, frozen=True, kw_only=True):
    """What came back, whole. `text` has think tags removed and is not empty. Token counts are 0 when not told."""

    text: str
    stop: Stop
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    journalled: bool = False  # answered from the journal: not paid for this time


# an opening tag counts at the start of a line, a closing one anywhere but in code quotes: replies may speak of tags
_WORD = r"(?:think|thinking|thought|reasoning)>"
_TAGS = re.compile(rf"^[ \t]*(?P<open><{_WORD})|(?<!`)</{_WORD}|</{_WORD}(?!`)", re.MULTILINE)


def without_thinking(text: str) -> str:
    """A model's text without what it thought aloud in tags; "" when it began with a thought that never ended.

    Some chat templates put the opening tag into the prompt: a closing tag without one ends a thought that began with
    the reply. An opening tag further on that is never closed is no thought, but text.
    """
    said: list[str] = []
    thought_from: int | None = None
    at, headless = 0, True
    for tag in _TAGS.finditer(text):
        if tag["open"] and thought_from is None:
            said.append(text[at : tag.start()])
            thought_from, headless = tag.start(), False
        elif not tag["open"] and (headless or thought_from is not None):
            at, thought_from, headless = tag.end(), None, False
    if thought_from is not None:
        return "".join(said) + (text[thought_from:] if "".join(said).strip() else "")
    return "".join(said) + text[at:]
