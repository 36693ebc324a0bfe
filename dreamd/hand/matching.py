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
    own, known = plain_of(text), [plain_of(one) for one in kept]
    for source in map(plain_of, gone):
        for piece in _pieces(own):
            if piece in source and not any(piece in one for one in known):
                return True
    return False


def _pieces(text: str) -> Iterator[str]:
    for at in range(len(text)):
        length = _WIDE_RUN if _WIDE.match(text, at) else _RUN
        if at + length <= len(text):
            yield text[at : at + length]
