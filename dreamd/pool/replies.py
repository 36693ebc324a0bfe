"""What a model really said: its text without wrapping, and the JSON value in it, however it was dressed up (pure).

Models wrap whole replies in code fences, talk before and after, think aloud in tags, and leave trailing commas. That is
undone here and nothing is guessed: a value that was cut off is no value.
"""

import json
import re

import msgspec

from dreamd.calls import without_thinking

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^`~\n]*$", re.MULTILINE)
_MARKER = re.compile(r"^[ \t]*\[[A-Z]+\]", re.MULTILINE)
# a string, to be left alone, or a comma before a closing bracket
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*+[}\]])', re.DOTALL)
_BRACKET = re.compile(r"[{\[]")
_PUNCTUATION = re.compile(r'[{}\[\]":,]')
_LONGEST_WORD = len("false")
_decoder = json.JSONDecoder()
_MOST_STARTS = 64  # in prose: brackets that are tried as the beginning of a value


def json_of(text: str) -> object | None:
    """The JSON value of a reply, or None when there is none (or it is null).

    The whole text may be any value. Else it is an object or array in a fenced block or within prose: of several the
    longest counts. What does not parse is tried once more without trailing commas.
    """
    said = unfenced(text)
    mended = _STRING_OR_COMMA.sub(lambda found: found[1] or "", said)
    for candidate in (said, mended, max(_values(mended), key=len, default="")):
        value = _parsed(candidate)
        if value is not None:
            return value
    return None


def unfenced(text: str) -> str:
    """The reply without thinking, without what stands before its first marker, and without a code fence around it all.

    A marker is a line that begins with a word in capitals and brackets, such as [MEMORY]. Fences within the reply are
    content and stay.
    """
    said = without_thinking(text).strip()
    marker = _MARKER.search(said)
    start = marker.start() if marker else 0
    opened = _open_fence(said[:start]) if marker else _FENCE.match(said)
    if marker is None and opened is not None:
        start = opened.end()
    return (_without_close(said[start:], opened[1]) if opened else said[start:]).strip()


def _open_fence(text: str) -> re.Match[str] | None:
    """The last fence of a text, if it opens a block that the text does not close."""
    fences = list(_FENCE.finditer(text))
    return fences[-1] if len(fences) % 2 else None


def _without_close(text: str, fence: str) -> str:
    """The text up to the last bare fence of that kind; what follows is talk."""
    closing = [found for found in _FENCE.finditer(text) if found[0].strip() == fence]
    return text[: closing[-1].start()] if closing else text


def _parsed(text: str) -> object | None:
    try:
        value: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return value


def _values(text: str) -> list[str]:
    """The objects and arrays that stand in a text, outermost ones, in order; none when the last one is cut off.

    For then what parses may be a piece of it.
    """
    found: list[str] = []
    at = 0
    for _ in range(_MOST_STARTS):
        start = _BRACKET.search(text, at)
        if start is None:
            break
        try:
            _, at = _decoder.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            if _cut_off(error):
                return []
            at = start.end()
        except (ValueError, RecursionError):  # a number or a depth beyond measure
            return []
        else:
            found.append(text[start.start() : at])
    return found


def _cut_off(error: json.JSONDecodeError) -> bool:
    """The text ended before the value did: within a string, or within its last word."""
    rest = error.doc[error.pos :].rstrip()
    in_a_word = len(rest) <= _LONGEST_WORD and not _PUNCTUATION.search(rest)
    return in_a_word or error.msg.startswith("Unterminated string")
