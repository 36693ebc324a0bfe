"""What forgetting makes of a memory, of its words and of what a reader of logs keeps: the same in every store (pure).

Law: nothing of what a memory said is left in it; by what is left it is known again when its log is read anew.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from dreamd.memories import Memory

_LEAST = 24  # letters, a Chinese character counting for three: less than that others say as well
_PROBE = 4  # characters
_DEEPEST = 3  # times that a text may be escaped: JSON within JSON, as the arguments of calls are
_CODES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")  # of terminals
_UNSEEN = re.compile(  # control characters, and what Unicode lets nobody see (Default_Ignorable_Code_Point)
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_UNSEEN_IN_ASCII = {code: None for code in range(128) if _UNSEEN.match(chr(code))}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "r": "\n", "t": "\t", "b": "", "f": "\n"}
_NO_WORD = {code: None for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}


@cache
def _wide() -> re.Pattern[str]:
    """Made when it is first needed: so wide a range takes milliseconds to compile, too long for a glance."""
    return re.compile(r"[\u2e80-\U0003ffff]")


@cache
def _between() -> re.Pattern[str]:
    return re.compile(r"(?<=[\u2e80-\U0003ffff])\s+|\s+(?=[\u2e80-\U0003ffff])")


def words_of(text: str) -> str:
    """The words of a text whatever its case, punctuation and white space."""
    if text.isascii():
        return text.translate(_NO_WORD).lower()  # the same, thirty times as fast
    return "".join(re.findall(r"\w", _caseless(text)))


def folded(text: str) -> str:
    """Without capitals and what nobody sees, each character in its plainest form, no white space beside Chinese."""
    text = _CODES.sub("", text) if "\x1b" in text else text
    if text.isascii():
        return text.translate(_UNSEEN_IN_ASCII).lower()
    plain = _caseless(_UNSEEN.sub("", text))
    return _between().sub("", plain) if plain.split(None, 1)[1:] else plain  # mostly there is none


def _caseless(text: str) -> str:
    """Alike for what Unicode calls a canonical caseless match; a Turkish İ is an i."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i")
    return unicodedata.normalize("NFKC", plain)


def readings(text: str) -> Iterator[str]:
    """The text as it stands and, where it may be escaped as in JSON, as it was meant; not folded."""
    yield text
    for _ in range(_DEEPEST):
        if "\\" not in text:
            return
        text = _ESCAPE.sub(_meant, text)
        if _PAIR.search(text):
            text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
        yield text


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def _meant(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _SHORT.get(escape[3], escape[3])


def probe_of(text: str) -> str:
    """The longest word of a text (of Chinese, a few characters), folded: who holds the text holds this."""
    runs = re.findall(r"\w+", folded(text))
    longest = max(runs, key=len, default="")
    return longest[: _PROBE if _wide().search(longest) else None]


@lru_cache(maxsize=8)
def _decoded(words: str) -> tuple[str, ...]:
    return tuple(json.loads(words))


def holds(content: str, extra: str | None, words: str) -> bool:
    """Whether a text may hold any of these folded words (a JSON list). For SQLite, row by row."""
    probes = _decoded(words)
    return any(_stands_in(each, probes) for each in (content, extra) if each)


def _stands_in(text: str, probes: Sequence[str]) -> bool:
    return any(probe in reading for reading in map(folded, readings(text)) for probe in probes)


def telling(words: str) -> bool:
    """Long enough that the same words are a copy, and no chance."""
    return len(words) + 2 * len(_wide().findall(words)) >= _LEAST


def mark_of(text: str, agent: str = "") -> str:
    """The tombstone of a text, of an agent's alone when one is named; "" for one that is too short to have its own."""
    words = words_of(text)
    if not telling(words):
        return ""
    whole = f"{agent}\0{words}" if agent else words
    return f"words:{hashlib.sha256(whole.encode()).hexdigest()}"


def marks_of(memory: Memory) -> tuple[str, ...]:
    """By which of them it would be known again."""
    said = memory.content if memory.type == "raw" else ""
    return (memory.memory_id, *filter(None, (mark_of(said), mark_of(said, memory.agent))))


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
    own, *words = marks_of(memory)
    return own in tombstones or any(
        mark in tombstones and (at is None or at <= tombstones[mark]) for mark in words
    )


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
