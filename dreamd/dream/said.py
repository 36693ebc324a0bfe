"""A raw memory in, what it says on one line and who says it out; and whether words stand in it, verbatim (pure).

Law: a quote is the record's own text, white space folded. It never ends within a word, a number or (where that is
short) a sentence, so that 500 is not quoted as 50, nor "not red" as "red".
"""

import re
from typing import Literal

from dreamd.memories import Memory
from dreamd.pool import tokens
from dreamd.pool.plain import plain
from dreamd.pool.redaction import redacted
from dreamd.pool.speech import instruction

Speaker = Literal["human", "assistant", "agent", "tool"]
LONGEST_QUOTE = 240  # characters of a sentence that is quoted whole
_LONGEST_PIECE = 400  # characters of any quote
_A_TOKEN = 4  # characters that one token never exceeds by the estimate
_GAP = " … "


def speaker(memory: Memory) -> Speaker:
    """Who speaks, by role and origin: `agent` is a program that talks like a user, or a helper of the assistant."""
    if memory.role == "tool":
        return "tool"
    if memory.origin != "human":
        return "agent"
    return "human" if memory.role == "user" else "assistant"


def by_human(memory: Memory) -> bool:
    return memory.type == "raw" and speaker(memory) == "human"


def heard(memory: Memory) -> bool:
    """A dream may look at it: no timer asked, no harness wrote it, and it says something."""
    written = memory.origin == "injected" and memory.role == "user"
    return memory.origin != "scheduled" and not written and bool(said(memory))


def said(memory: Memory) -> str:
    """The whole of it on one line; of a tool also how it fared."""
    text = fold(memory.content)
    if memory.role != "tool":
        return text
    fared = {True: "ok", False: "failed", None: ""}[memory.ok]
    return ": ".join(part for part in (f"{memory.tool} {fared}".strip(), text) if part)


def fold(text: str) -> str:
    """On one line, without what nobody sees."""
    return " ".join(plain(text).split())


_PIECE = re.compile(r"[.!?;:](?=\s|$)|[。！？；：]")


def commands(text: str) -> bool:
    """A sentence of it, or what follows a colon, is addressed to its reader, to be carried out."""
    return any(instruction(piece.strip()) for piece in _PIECE.split(text))


def shown(memory: Memory, label: str, most: int) -> str:
    """`R1 human 2026-03-02: ...` in at most `most` tokens: of a long one the beginning and the end."""
    head = f"{label} {speaker(memory)} {memory.window.isoformat()}: "
    return tokens.cut(head + _middle_out(said(memory), most - tokens.estimate(head)), most)


def _middle_out(text: str, most: int) -> str:
    text = text if len(text) <= most * _A_TOKEN else _clipped(text, most * _A_TOKEN)
    if tokens.estimate(text) <= most:
        return text
    tail = tokens.cut(text[::-1], most // 3)[::-1].lstrip("…")
    return (
        tokens.cut(text[: len(text) - len(tail)], most - tokens.estimate(tail) - 3).rstrip("…") + _GAP + tail
    )


def _clipped(text: str, most: int) -> str:
    """Where the text is so long that even counting its tokens is work."""
    return f"{text[: most // 2]}{text[len(text) - most // 2 :]}" if most > 1 else ""


# --- quotes ---

_MARKS = str.maketrans("“”„‘’‚，。：；！？（）", "\"\"\"''',.:;!?()")
_DRESS = " \t\"'“”„‘’‚「」『』…"
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s|(?<=[。！？；…])")
_CLAUSE_END = re.compile(r"(?<=[,;:])\s|(?<=[，；：])")
_NUMERALS = "0-9零〇一二三四五六七八九十百千万亿"
_JOINED = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_]|[0-9][.,:/%-][0-9]|[{_NUMERALS}][{_NUMERALS}%％]")


def found(quote: str, memory: Memory) -> str:
    """The record's own words that the quote names, to the end of the sentence if that is short; "" when it has none.

    For finding them, spaces, capitals, the kind of quotation marks and marks around the quote do not matter.
    """
    text = said(memory)
    start, end = _place(fold(quote).strip(_DRESS), text)
    if start == end:
        return ""
    start, end = _whole_words(text, start, min(end, start + _LONGEST_PIECE))
    for ends in (_SENTENCE_END, _CLAUSE_END):
        piece = text[slice(*_between(ends, text, start, end))].strip()
        if len(piece) <= LONGEST_QUOTE and not redacted(piece):
            return piece
    return text[start:end]


def _place(wanted: str, text: str) -> tuple[int, int]:
    """Where it stands, or an empty place."""
    places = [at for at, char in enumerate(text) if not char.isspace()]
    short = _bare(wanted)
    at = _bare(text).find(short) if re.search(r"\w", wanted) else -1
    return (0, 0) if at < 0 else (places[at], places[at + len(short) - 1] + 1)


def _bare(text: str) -> str:
    """Without spaces and capitals, one character for one."""
    bare = "".join(text.translate(_MARKS).split())
    return "".join(low if len(low := char.lower()) == 1 else char for char in bare)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    while start > 0 and _cut_through(text, start):
        start -= 1
    while end < len(text) and _cut_through(text, end):
        end += 1
    return start, end


def _cut_through(text: str, at: int) -> bool:
    """A cut before `at` parts what belongs together."""
    around = (text[at - 1 : at + 1], text[at - 1 : at + 2], text[max(at - 2, 0) : at + 1])
    return any(_JOINED.fullmatch(piece) for piece in around)


def _between(ends: re.Pattern[str], text: str, start: int, end: int) -> tuple[int, int]:
    """The piece between two ends in which the words stand."""
    near = max(start - LONGEST_QUOTE, 0)
    befores = [match.end() for match in ends.finditer(text, near, start) if match.end() <= start]
    behind = ends.search(text, max(end - 1, start), min(end + LONGEST_QUOTE, len(text)))
    first = befores[-1] if befores else (0 if near == 0 else -LONGEST_QUOTE)
    last = behind.start() if behind else len(text)
    return max(first, 0), max(last, end)
