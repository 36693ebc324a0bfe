"""Insights that the index found in; which of them bear on the goal, in what order, and what brought each, out (pure).

Intent before likeness: an insight whose situation the goal names, or whose entity it speaks of, bears on it more than one
that shares some words; of two alike the surer, the long-term and the newer comes first. Standing and pinned ones need no
match.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import force_setattr

from dreamd.memories import Memory
from dreamd.pool.fading import confidence_now, faded
from dreamd.pool.terms import terms
from dreamd.recall.answer import Match
from dreamd.sections import Decay

_LIVE = ("candidate", "long_term")
_LEAST = 0.15  # relevance below which shared words are chance
_OF_BEST = 0.3  # of the best's relevance, what bears on the goal must reach
_SITUATION, _ENTITY = 1.6, 1.3  # times as relevant
_NAMED = 0.5  # of the words of a situation that the goal must hold
_CANDIDATE = 0.8
_HEAD = 3  # characters that a stem keeps
_HALF_AS_NEW = timedelta(days=90)
_NEWS = 0.15  # share of the figure that fades with age


class Chosen(Struct, frozen=True, kw_only=True):
    """`figure` orders; `sure` is the confidence faded until now."""

    insight: Memory
    figure: float
    sure: float
    matched: tuple[Match, ...]
    standing: bool = False


class Asked(Struct, frozen=True, kw_only=True):
    """The goal's terms and the time it is asked of; `then` is given when that is not now."""

    terms: frozenset[str]
    now: datetime
    decay: Decay
    then: datetime | None = None
    heads: frozenset[str] = frozenset()  # how the terms begin: a text without any of them names none

    def __post_init__(self) -> None:
        force_setattr(self, "heads", frozenset(term[:_HEAD] for term in self.terms))


def chosen(
    asked: Asked,
    insights: Iterable[Memory],
    nearness: Mapping[int, float],
    meaning: Mapping[int, float],
    standing: Sequence[int],
) -> list[Chosen]:
    """Best first, standing ones that nothing else matched at the end, in the order of `standing`.

    `nearness` and `meaning` (shares of the best, of words and of likeness of meaning) and `standing` are by seq.
    """
    held = [insight for insight in insights if holds(insight, asked)]
    ranked = [_weighed(insight, asked, nearness, meaning, insight.seq in standing) for insight in held]
    best = max((one.figure for one in ranked), default=0.0)
    bearing = [one for one in ranked if one.matched and one.figure >= max(best * _OF_BEST, _LEAST)]
    taken = {one.insight.seq for one in bearing}
    order = {seq: place for place, seq in enumerate(standing)}
    unasked = sorted(
        (one for one in ranked if one.standing and one.insight.seq not in taken),
        key=lambda one: order[one.insight.seq],
    )
    return [*sorted(bearing, key=lambda one: (-one.figure, one.insight.seq)), *map(_unmatched, unasked)]


def holds(insight: Memory, asked: Asked) -> bool:
    """Whether it is believed now; or, when asked of another time, whether it was then."""
    if insight.status == "candidate" and insight.kind == "behaviour" and not insight.pinned:
        return False  # what somebody did once or twice is no habit yet
    if asked.then is None:
        ended = insight.valid_until is not None and insight.valid_until <= asked.now
        return insight.status in _LIVE and not ended
    begun = insight.valid_from or insight.happened
    return begun <= asked.then and (insight.valid_until is None or asked.then < insight.valid_until)


def _weighed(
    insight: Memory, asked: Asked, nearness: Mapping[int, float], meaning: Mapping[int, float], stands: bool
) -> Chosen:
    near = nearness.get(insight.seq, 0.0)
    alike = meaning.get(insight.seq, 0.0)
    situation = _names(asked, insight.applies_when, _NAMED)
    entity = any(_names(asked, each.name, 1.0) for each in insight.entities)
    found: dict[Match, bool] = {
        "words": near >= _LEAST, "entity": entity, "situation": situation, "meaning": alike > 0,
    }  # fmt: skip
    sure = confidence_now(insight, asked.now, asked.decay)
    figure = (
        (max(near, alike) + min(near, alike) / 2)
        * (_SITUATION if situation else 1)
        * (_ENTITY if entity else 1)
    )
    return Chosen(
        insight=insight,
        figure=figure * _quality(insight, sure, asked),
        sure=round(sure, 4),
        matched=tuple(match for match, is_so in found.items() if is_so),
        standing=stands,
    )


def _names(asked: Asked, text: str, share: float) -> bool:
    if not text or not any(head in text.casefold() for head in asked.heads):
        return False
    words = set(terms(text))
    return bool(words) and len(words & asked.terms) >= share * len(words)


def _quality(insight: Memory, sure: float, asked: Asked) -> float:
    happened = insight.happened
    new = faded((asked.now - happened) / _HALF_AS_NEW)
    believed = (0.6 + 0.4 * sure) * (_CANDIDATE if insight.status == "candidate" else 1.0)
    return (1.0 if insight.pinned else believed) * (1 - _NEWS + _NEWS * new)


def _unmatched(one: Chosen) -> Chosen:
    matched: Match = "pinned" if one.insight.pinned else "standing"
    return Chosen(
        insight=one.insight, figure=one.figure, sure=one.sure, matched=(matched,), standing=one.standing
    )
