"""Terms and a connection in; the places that hold the rarest of them out, in a bounded number of steps.

A term's places are read newest first and never more than some: from how far back the first few reach follows how common
the term is, so that no count of terms has to be kept. What is common is scored later, in the candidates that rarer terms
(or two common ones together) have found.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import chain, combinations

import msgspec
from msgspec import Struct

from dreamd.indexes.base import rarity

TABLES = ("record_terms", "conclusion_terms")
SHIFT = 40  # bits of a seq within a place
SEQ = (1 << SHIFT) - 1
SPEAKER = "\ue004"  # begins the terms of who says it, which stand before all others: no word does
_PROBE = 48  # places from which a term's frequency is estimated
_ALL, _ONE = 24, 12  # times as many places as are wanted are read in a search, and of one term
_PAIRED, _TOGETHER = 2, 200  # common terms that are looked for in pairs, and places read of a pair
_COMMON = 0.1  # of the documents: what more hold finds nothing by itself, where something rarer does

_decode = msgspec.json.Decoder(list[int]).decode


class Range(Struct, frozen=True):
    """An agent's documents: from the first place to the last, and how many."""

    first: int
    last: int
    count: int


class Term(Struct, frozen=True):
    """`places` are the newest that hold the term; all of them, when there are no more than `frequency`."""

    match: str
    frequency: float
    places: list[int]

    @property
    def whole(self) -> bool:
        return len(self.places) >= self.frequency


def looked_up(
    connection: sqlite3.Connection, table: str, terms: Sequence[str], ranges: Sequence[Range], most: int
) -> tuple[list[float], list[int]]:
    """Each term's frequency, and the likeliest `most` places."""
    documents = sum(each.count for each in ranges)
    rows = _Rows(connection, table)
    probed = [_probed(rows, term, ranges) for term in terms]
    weights = {each.match: rarity(each.frequency, documents) for each in probed}
    read = list(_read(rows, probed, ranges, documents, most))
    scores: dict[int, float] = {}
    for term in read:
        _add(scores, term.places, weights[term.match])
    for together, places in _pairs(rows, probed, read, ranges):
        weight = sum(weights[match] for match in together)
        scores |= {place: weight for place in places if scores.get(place, 0.0) < weight}
    best = nlargest(most, zip(scores.values(), scores.keys(), strict=True))
    return [each.frequency for each in probed], [place for _, place in best]


def _add(scores: dict[int, float], places: Sequence[int], weight: float) -> None:
    """Most places hold one term alone: only the others are gone through one by one."""
    both = scores.keys() & places
    sums = {place: scores[place] + weight for place in both}
    scores.update(dict.fromkeys(places, weight))
    scores.update(sums)


class _Rows:
    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection = connection
        self._sql = (
            f"SELECT json_group_array(rowid) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? "  # noqa: S608
            "AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?)"
        )

    def __call__(self, match: str, within: Range, limit: int) -> list[int]:
        """The newest places that match, in no order; as one value, for rows cost more than what is in them."""
        found = self._connection.execute(self._sql, (match, within.first, within.last, limit))
        return _decode(found.fetchone()[0])


def _probed(rows: _Rows, term: str, ranges: Sequence[Range]) -> Term:
    match = f'"{term[:-1]}"*' if term.endswith("*") else f'"{term}"'
    frequency, places = 0.0, []
    for within in ranges:
        found = rows(match, within, _PROBE)
        frequency += _estimated(found, within)
        places += found
    return Term(match, frequency, places)


def _estimated(found: Sequence[int], within: Range) -> float:
    if len(found) < _PROBE:
        return len(found)
    share = (within.last - min(found) + 1) / (within.last - within.first + 1)
    return max(float(len(found)), min(len(found) / share, within.count))


def _read(
    rows: _Rows, probed: Sequence[Term], ranges: Sequence[Range], documents: int, most: int
) -> Iterator[Term]:
    """The rarest first, each as far as there is room."""
    left = room = _ALL * most
    for term in sorted((each for each in probed if each.places), key=lambda each: each.frequency):
        if left < room and (left <= 0 or term.frequency > max(documents * _COMMON, _PROBE)):
            return
        if not term.whole:
            limit = max(min(left, _ONE * most) // len(ranges), _PROBE)
            places = list(chain.from_iterable(rows(term.match, within, limit) for within in ranges))
            term = Term(term.match, max(term.frequency, len(places)), places)  # noqa: PLW2901 - read further
        left -= len(term.places)
        yield term


def _pairs(
    rows: _Rows, probed: Sequence[Term], read: Sequence[Term], ranges: Sequence[Range]
) -> Iterator[tuple[tuple[str, str], list[int]]]:
    """Where two common terms stand together, which may be further back than either was read."""
    whole = {each.match for each in read if each.whole}
    cut = sorted(
        (each for each in probed if each.places and each.match not in whole), key=lambda each: each.frequency
    )
    for one, other in combinations(cut[:_PAIRED], 2):
        match = f"{one.match} AND {other.match}"
        limit = max(_TOGETHER // len(ranges), 1)
        yield (one.match, other.match), list(chain.from_iterable(rows(match, each, limit) for each in ranges))
