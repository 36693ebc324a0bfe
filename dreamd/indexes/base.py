"""The protocol of an index: which memories hold which terms, derived from the pool and at any time made anew from it.

An index knows places (`seq`) and terms, never what is true of a memory: whoever finds one reads it in the pool. It is
shared by threads, and by processes, each of which may bring it up to date.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from dreamd.stores.base import Mark


class Entry(Struct, frozen=True, kw_only=True):
    """A memory as the index has it: a conclusion (an insight) or a record. `terms` hold no white space.

    `standing` above 0: a conclusion that comes along unasked, the greater the sooner. `speaker` are terms too: who says it,
    where the text itself tells.
    """

    seq: int
    agent: str
    terms: Sequence[str]
    session: str = ""
    conclusion: bool = False
    standing: float = 0.0
    speaker: Sequence[str] = ()


class Hit(Struct, frozen=True):
    """What holds some of the terms: how often each, in the order asked, and how many terms it has in all.

    `session` is a number of the index's own, `place` counts the records of that session from 1; 0 for conclusions. `named`:
    one of the terms names who says it.
    """

    seq: int
    session: int
    place: int
    size: int
    counts: tuple[int, ...]
    named: bool = False


class Found(Struct, frozen=True):
    """The likeliest hits in no order; of each term how many of the `documents` hold it, estimated where it is common.

    `length` is how many terms a document has on average.
    """

    hits: tuple[Hit, ...] = ()
    frequencies: tuple[float, ...] = ()
    documents: int = 0
    length: float = 1.0


def rarity(frequency: float, documents: int) -> float:
    """The inverse document frequency of BM25, never below 0 (Robertson and Zaragoza 2009, with Lucene's + 1)."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


class Vector(Struct, frozen=True):
    """Where a memory stands among meanings; of any length but 0."""

    seq: int
    agent: str
    numbers: Sequence[float]


class Index(Protocol):
    """Raises StoreError and its kinds, DiskFull. A damaged index is made anew, empty."""

    def mark(self) -> Mark:
        """How far the pool has been followed."""

    def write(self, entries: Sequence[Entry], gone: Sequence[int], *, before: Mark, after: Mark) -> bool:
        """Put entries in, in place of those of the same seq, and take `gone` out; False when the mark is not `before`."""

    def search(self, terms: Sequence[str], agents: Sequence[str], *, conclusions: bool, most: int) -> Found:
        """The `most` that hold the rarest of the terms; `红*` stands for all terms that begin so."""

    def beside(self, places: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], int]:
        """What stands at these places of sessions: seqs."""

    def said_by(self, terms: Sequence[str], places: Sequence[tuple[int, int]]) -> set[int]:
        """Those of them, seqs, of which a term names who says it."""

    def standing(self, agents: Sequence[str], most: int) -> list[int]:
        """The conclusions that come along unasked, the first to come first."""

    def unmeant(self, model: str, limit: int) -> list[int]:
        """What has no vector by that model yet, conclusions first, then the newest records."""

    def mean(self, model: str, vectors: Sequence[Vector]) -> None:
        """Keep vectors; those of another model go."""

    def closest(
        self, numbers: Sequence[float], agents: Sequence[str], *, conclusions: bool, most: int
    ) -> list[tuple[int, float]]:
        """The nearest by meaning: seq and cosine, best first."""

    def likeness(
        self, numbers: Sequence[float], agents: Sequence[str], seqs: Sequence[int]
    ) -> Mapping[int, float]:
        """The cosine of those that have a vector."""

    def clear(self) -> None:
        """Begin anew, with no byte of what was in it left."""

    def tidy(self) -> bool:
        """A step, of a fraction of a second, nearer to being quick; False when there is nothing to tidy."""

    def scrub(self) -> None:
        """No byte stays of what was taken out."""

    def close(self) -> None: ...
