"""What forgetting makes of a memory, of its words and of what a reader of logs keeps: the same in every store (pure).

Law: nothing of what a memory said is left in it; by what is left it is known again when its log is read anew.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from dreamd.memories import Memory

_LEAST = 24  # letters, a Chinese character counting for three: less than that others say as well
_PROBE = 4  # characters
_WIDE = re.compile(r"[\u2e80-\U0003ffff]")


_NO_WORD = {code: None for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}


def words_of(text: str) -> str:
    """The words of a text whatever its case, punctuation and white space."""
    if text.isascii():
        return text.translate(_NO_WORD).lower()  # the same, thirty times as fast
    return "".join(re.findall(r"\w", unicodedata.normalize("NFKC", text).casefold()))


def folded(text: str) -> str:
    """Without capitals, each character in its plainest form."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def probe_of(text: str) -> str:
    """The longest word of a text (of Chinese, a few characters), folded: who holds the text holds this."""
    runs = re.findall(r"\w+", folded(text))
    longest = max(runs, key=len, default="")
    return longest[: _PROBE if _WIDE.search(longest) else None]


@lru_cache(maxsize=8)
def _decoded(words: str) -> tuple[str, ...]:
    return tuple(json.loads(words))


def holds(content: str, extra: str | None, words: str) -> bool:
    """Whether a text may hold any of these folded words (a JSON list). For SQLite, row by row."""
    text = folded(content)
    more = folded(extra) if extra else ""
    return any(word in text or word in more for word in _decoded(words))


def telling(words: str) -> bool:
    """Long enough that the same words are a copy, and no chance."""
    return len(words) + 2 * len(_WIDE.findall(words)) >= _LEAST


def mark_of(text: str) -> str:
    """The tombstone of a text, "" for one that is too short to have its own."""
    words = words_of(text)
    return f"words:{hashlib.sha256(words.encode()).hexdigest()}" if telling(words) else ""


def erased(memory: Memory) -> Memory:
    """What is left of a forgotten memory: its id, its place, and when it came."""
    return Memory(
        memory_id=memory.memory_id,
        type=memory.type,
        content="",
        agent=memory.agent,
        window=memory.window,
        received_at=memory.received_at,
        timestamp=memory.timestamp,
        confidence=0.0,
        role=memory.role,
        origin=memory.origin,
        trust=memory.trust,
        span=memory.span,
        status="forgotten",
        filed=True,
        seq=memory.seq,
    )


def back_again(memory: Memory, tombstones: dict[str, int], at: int | None) -> bool:
    """Whether this is something that was forgotten: the id, or the words said no later than they were forgotten.

    `tombstones` are marks with the time of forgetting; `at` is when the memory happened, in the same unit.
    """
    if memory.memory_id in tombstones:
        return True
    mark = mark_of(memory.content) if memory.type == "raw" else ""
    return mark in tombstones and (at is None or at <= tombstones[mark])


def overwritten(state: bytes, texts: Iterable[str]) -> bytes:
    """A reader's dump with the texts made unreadable, byte for byte, so that it still decodes."""
    for piece in _written(texts):
        state = state.replace(piece, b"x" * len(piece))
    return state


def _written(texts: Iterable[str]) -> Iterator[bytes]:
    """How a text may stand in a dump: as it is, or within JSON; the longest first."""
    forms = {form for text in texts if text for form in (text, _json(text), _json(text, ascii_only=True))}
    return (form.encode("utf-8", "surrogatepass") for form in sorted(forms, key=len, reverse=True))


def _json(text: str, *, ascii_only: bool = False) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]
