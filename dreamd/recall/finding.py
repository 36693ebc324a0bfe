"""A question in terms (and perhaps as a vector) in; which conclusions and records are near, and how near, out."""

from collections.abc import Mapping, Sequence
from heapq import nlargest

from msgspec import Struct

from dreamd.indexes.base import Index
from dreamd.recall import scoring

_RECORDS, _CONCLUSIONS = 64, 30  # candidates that are looked at
_MEANT = 10  # of the nearest by meaning, how many match by it
_BY_WORDS, _BY_MEANING = 20, 30  # conclusions that are read in the pool


class Question(Struct, frozen=True, kw_only=True):
    """`terms` as the index takes them; `vector` is None where meaning is not asked for."""

    terms: tuple[str, ...]
    agents: tuple[str, ...]
    vector: Sequence[float] | None = None


class Near(Struct, frozen=True):
    """Conclusions by seq: relevance of their words, likeness of meaning as a share; and those that come unasked."""

    words: Mapping[int, float]
    meaning: Mapping[int, float]
    standing: Sequence[int]

    @property
    def seqs(self) -> tuple[int, ...]:
        return tuple({*self.words, *self.meaning, *self.standing})


def conclusions(index: Index, question: Question, unasked: int) -> Near:
    """`unasked`: how many standing ones at most."""
    found = index.search(question.terms, question.agents, conclusions=True, most=_CONCLUSIONS)
    scores = scoring.relevance(found, question.terms)
    best = nlargest(_BY_WORDS, scores, key=scores.__getitem__)
    return Near(
        {seq: scores[seq] for seq in best},
        _meaning(index, question),
        index.standing(question.agents, unasked),
    )


def _meaning(index: Index, question: Question) -> Mapping[int, float]:
    """The nearest, as a share of how far they stand out from what is near too."""
    if question.vector is None:
        return {}
    near = index.closest(question.vector, question.agents, conclusions=True, most=_BY_MEANING)
    shares = scoring.spread(dict(near))
    return {seq: shares[seq] / 2 for seq, _ in near[:_MEANT]}


def records(index: Index, question: Question) -> list[tuple[int, float]]:
    """Seqs, best first, with a figure that orders them."""
    found = index.search(question.terms, question.agents, conclusions=False, most=_RECORDS)
    scores = scoring.relevance(found, question.terms)
    own = {(hit.session, hit.place): hit.seq for hit in found.hits}
    others = [place for place in scoring.spoken_for(found.hits, scores) if place not in own]
    around = {**own, **index.beside(others)}
    whole = scoring.in_context(found.hits, scores, around)
    if named := {hit.seq for hit in found.hits if hit.named}:
        whole = scoring.by_whom(whole, named | index.said_by(question.terms, others))
    if question.vector is not None:
        whole = _with_meaning(index, question.vector, question.agents, whole, around)
    return sorted(whole.items(), key=lambda each: (-each[1], -each[0]))


def _with_meaning(
    index: Index,
    vector: Sequence[float],
    agents: Sequence[str],
    words: Mapping[int, float],
    around: Mapping[scoring.Place, int],
) -> dict[int, float]:
    near = dict(index.closest(vector, agents, conclusions=False, most=_RECORDS))
    others = [seq for seq in {*words, *around.values()} if seq not in near]
    near |= index.likeness(vector, agents, others)
    return scoring.fused(words, near, around)
