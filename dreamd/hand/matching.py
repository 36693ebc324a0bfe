"""Texts that are to be forgotten in; whether another text holds them, or tells what only they tell, out (pure).

Law: in doubt it does. What is said to do so is shown before it goes; what is not found stays for ever.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from dreamd.memories import Memory
from dreamd.pool.similarity import covered
from dreamd.pool.support import unsupported
from dreamd.stores._forgetting import folded, probe_of, readings, telling, words_of

_NEWS = 0.25  # of a text's words that stand only in what goes: then it tells of that
_RUN = 20  # characters in a row that two texts have in common by no chance; of Chinese ones _WIDE_RUN
_WIDE_RUN = 7
_SEED, _WIDE_SEED = (_RUN + 1) // 2, (_WIDE_RUN + 1) // 2
_WIDE = re.compile(r"[\u2e80-\U0003ffff]")


def plain_of(text: str) -> str:
    """Without capitals, what nobody sees, and more white space than parts words."""
    return " ".join(folded(text).split())


class Needle(Struct, frozen=True):
    """What is looked for: a text that a person named, and the whole words of memories that go."""

    named: str = ""
    words: tuple[str, ...] = ()
    shortest: int = 0  # characters of the shortest of those words
    probes: tuple[str, ...] = ()  # whoever holds any of it holds one of these

    def found_in(self, text: str) -> bool:
        """As it stands there or as it is escaped there."""
        return any(self._names(reading) or self._copied(reading) for reading in readings(text))

    def copied_in(self, text: str) -> bool:
        """It holds all the words of something that goes."""
        return bool(self.words) and any(map(self._copied, readings(text)))

    def _names(self, text: str) -> bool:
        if not self.named or (text.isascii() and not self.named.isascii()):
            return False
        return self.named in plain_of(text)

    def _copied(self, text: str) -> bool:
        if not self.words or (text.isascii() and len(text) < self.shortest):
            return False
        own = words_of(text)
        return any(words in own for words in self.words)


def needle(named: str, texts: Iterable[str] = ()) -> Needle:
    copied = {words: text for text in texts if telling(words := words_of(text))}
    probes = dict.fromkeys(map(probe_of, filter(None, (named, *copied.values()))))
    return Needle(plain_of(named), tuple(copied), min(map(len, copied), default=0), tuple(probes))


def texts_of(memory: Memory) -> Iterator[str]:
    """All that a memory says."""
    yield memory.content
    yield memory.applies_when
    yield from (entity.name for entity in memory.entities)
    if memory.trace:
        trace = memory.trace
        yield from (trace.goal, trace.subgoal, trace.arguments, trace.result, trace.error, trace.summary)


def tells_of(text: str, gone: Sequence[str], kept: Sequence[str]) -> bool:
    """Whether the text says anything that stands in what goes and in nothing that is kept: a fact, words, a phrase."""
    both = (*kept, *gone)
    if set(unsupported(text, kept)) - set(unsupported(text, both)):
        return True
    news = covered(text, " \n ".join(both)) - (covered(text, " \n ".join(kept)) if kept else 0.0)
    return news >= _NEWS or echoes(text, gone, kept)


def echoes(text: str, gone: Sequence[str], kept: Sequence[str]) -> bool:
    """A piece of what goes stands in it word for word, and in nothing that is kept."""
    return Sound(gone).echoes_in(text, kept)


class Sound:
    """What goes, made ready to be looked for in many texts.

    Any run of so many characters that two texts share holds a shorter one that begins, in one of them, at a multiple of
    the shorter length. Of those it is known where they stand, and only there the whole run is compared.
    """

    def __init__(self, gone: Iterable[str]) -> None:
        texts = [plain_of(text) for text in gone if text]
        self._whole = "\n".join(texts)  # no run goes over a line break: a text folded so holds none
        self._seeds: dict[str, list[int]] = {}
        start = 0
        for text in texts:
            for length in (_SEED, _WIDE_SEED)[: 2 if _WIDE.search(text) else 1]:
                for at in range(0, len(text) - length + 1, length):
                    self._seeds.setdefault(text[at : at + length], []).append(start + at)
            start += len(text) + 1

    def echoes_in(self, text: str, kept: Sequence[str] = ()) -> bool:
        """A piece of it stands in the text word for word, and in nothing that is kept."""
        shared = set(self._shared(plain_of(text)))
        known = [plain_of(one) for one in kept] if shared else []
        return any(not any(piece in one for one in known) for piece in shared)

    def _shared(self, own: str) -> Iterator[str]:
        for length in (_SEED, _WIDE_SEED):
            for at in range(len(own) - length + 1):
                for place in self._seeds.get(own[at : at + length], ()):
                    yield from self._around(own, at, place)

    def _around(self, own: str, at: int, place: int) -> Iterator[str]:
        """The runs that stand there in both."""
        for back in range(min(at, place, _RUN - _SEED) + 1):
            piece = _piece(own, at - back)
            if piece and self._whole.startswith(piece, place - back):
                yield piece


def _piece(text: str, at: int) -> str:
    length = _WIDE_RUN if _WIDE.match(text, at) else _RUN
    return text[at : at + length] if at + length <= len(text) else ""
