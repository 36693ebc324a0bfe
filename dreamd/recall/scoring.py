"""What the index found in; how near each is to the question out, 0 to 1 (pure).

The figure is BM25 (Robertson and Zaragoza 2009; k1 and b as Lucene's users find best for short texts) as a share of what a
text that holds every term of the question could reach. A record is read in its place: what is said around it speaks for it
too, and so does a conversation that is about the matter, since an answer seldom repeats the words of its question.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest

from dreamd.indexes.base import Found, Hit, rarity
from dreamd.pool.terms import of_a_time

_K1, _B = 0.9, 0.4
_WHEN = 1.5  # words that a time counts
AROUND = {-2: 0.12, -1: 0.25, 1: 0.5, 2: 0.25}  # by how many places a record comes after what speaks for it
_SESSION, _SESSION_HITS = 0.5, 3  # the mean of a conversation's best hits speaks for all of them
_NAMED = 0.3  # of the best figure, for what is said by whom the question names
SPEAKING = 40  # best hits that speak for their neighbours

Place = tuple[int, int]


def relevance(found: Found, terms: Sequence[str]) -> dict[int, float]:
    """By seq. `terms` are the question's, in the order in which they were looked for.

    Of several times that a question names ("last weekend") one is enough; and whoever names a time means it.
    """
    rarities = [rarity(frequency, found.documents) for frequency in found.frequencies]
    times = [of_a_time(term) for term in terms]
    weights = [weight * (_WHEN if time else 1) for weight, time in zip(rarities, times, strict=True)]
    said = list(zip(weights, times, found.frequencies, strict=True))
    alone = [weight for weight, time, frequency in said if frequency and not time]
    at = [weight for weight, time, frequency in said if frequency and time]
    most = (sum(alone) + max(at, default=0.0)) * (
        _K1 + 1
    ) or 1.0  # what nothing holds tells them apart no better
    return {hit.seq: _bm25(hit, weights, found.length) / most for hit in found.hits}


def _bm25(hit: Hit, weights: Sequence[float], length: float) -> float:
    norm = _K1 * (1 - _B + _B * hit.size / length)
    counted = zip(weights, hit.counts, strict=True)
    return sum(weight * count * (_K1 + 1) / (count + norm) for weight, count in counted if count)


def spoken_for(hits: Sequence[Hit], scores: Mapping[int, float]) -> list[Place]:
    """The places around the best hits, and their own."""
    best = nlargest(SPEAKING, hits, key=lambda hit: scores[hit.seq])
    return list({(hit.session, hit.place + by): None for hit in best for by in (0, *AROUND)})


def in_context(
    hits: Sequence[Hit], scores: Mapping[int, float], standing: Mapping[Place, int]
) -> dict[int, float]:
    """The scores with what the neighbours and the conversation add; neighbours that hold no term of the question too.

    `standing` are the seqs at the places of `spoken_for`.
    """
    whole: defaultdict[int, float] = defaultdict(float)
    sessions: defaultdict[int, list[float]] = defaultdict(list)
    session_of: dict[int, int] = {seq: session for (session, _), seq in standing.items()}
    for hit in hits:
        whole[hit.seq] += scores[hit.seq]
        sessions[hit.session].append(scores[hit.seq])
        session_of[hit.seq] = hit.session
        for by, share in AROUND.items():
            neighbour = standing.get((hit.session, hit.place + by))
            if neighbour is not None:
                whole[neighbour] += share * scores[hit.seq]
    about = {
        session: sum(nlargest(_SESSION_HITS, found)) / _SESSION_HITS for session, found in sessions.items()
    }
    return {seq: score + _SESSION * about.get(session_of[seq], 0.0) for seq, score in whole.items()}


def by_whom(scores: Mapping[int, float], named: AbstractSet[int]) -> dict[int, float]:
    """A question that names somebody is about what that person says, sooner than about what others say to them."""
    more = _NAMED * max(scores.values(), default=0.0)
    return {seq: score + more if seq in named else score for seq, score in scores.items()}


_NO_LIKENESS = 0.2  # a cosine that says nothing
_ALONE, _AROUND = (
    0.3,
    0.4,
)  # what likeness of meaning counts, against words: its own, and with its neighbours'


def spread(figures: Mapping[int, float]) -> dict[int, float]:
    """From 0 for the least to 1 for the greatest."""
    least, most = min(figures.values(), default=0.0), max(figures.values(), default=0.0)
    return {seq: (figure - least) / (most - least or 1.0) for seq, figure in figures.items()}


def fused(
    words: Mapping[int, float], near: Mapping[int, float], standing: Mapping[Place, int]
) -> dict[int, float]:
    """Words and meaning together, by share of the best: equal ranks would let a weak embedding spoil what words found."""
    top = max(words.values(), default=1.0) or 1.0
    alone, around = spread(near), spread(_read_in_place(near, standing))
    return {
        seq: words.get(seq, 0.0) / top + _ALONE * alone.get(seq, 0.0) + _AROUND * around.get(seq, 0.0)
        for seq in {*words, *near}
    }


def _read_in_place(near: Mapping[int, float], standing: Mapping[Place, int]) -> dict[int, float]:
    over = {seq: max(figure - _NO_LIKENESS, 0.0) for seq, figure in near.items()}
    whole = dict(over)
    for (session, place), seq in standing.items():
        for by, share in AROUND.items():
            neighbour = standing.get((session, place + by))
            if neighbour is not None:
                whole[neighbour] = whole.get(neighbour, 0.0) + share * over.get(seq, 0.0)
    return whole
