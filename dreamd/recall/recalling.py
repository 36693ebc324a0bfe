"""A goal in the agent's words in; the conclusions and records of the pool that bear on it out."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from zoneinfo import ZoneInfo

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.clock import local_date, within_reach
from dreamd.config import zone_of
from dreamd.errors import DiskFull, DreamdError, StoreError, UsageError
from dreamd.indexes.base import Index
from dreamd.memories import Memory, Status
from dreamd.parts import Parts
from dreamd.pool.language import Tongue, detect
from dreamd.pool.redaction import redact
from dreamd.pool.terms import headed, wanted
from dreamd.recall import finding
from dreamd.recall.against import Sides, sides_of
from dreamd.recall.answer import Recalled, RecalledInsight, RecalledRecord
from dreamd.recall.choosing import Asked, Chosen, chosen
from dreamd.recall.finding import Question
from dreamd.recall.following import follow, spoken
from dreamd.recall.packing import Items, packed
from dreamd.recall.rendering import Style, insight_line, record_line
from dreamd.recall.righting import Righted, righted
from dreamd.stores.base import Changes, Mark, MemoryQuery

MEANING_S = 2.0  # that a recall waits for the server of embeddings
PAGES = 4  # of the pool that a recall brings the index nearer by; the daemon does the rest
_TERMS = 48  # of a goal: the first; who says more has said it by then
_LONGEST = 8000  # characters of a goal that are looked at
_RECORD_TOKENS = 40  # what a usual record costs: not many more are read in the pool than could fit
_A_MOMENT = timedelta(microseconds=1)  # before midnight the day is not over
_MORE = 6  # than that
_LEAST = 0.1  # of the best record's figure


class _Asking(Struct, frozen=True, kw_only=True):
    """All that a recall goes by."""

    goal: str
    question: Question
    asked: Asked
    budget: int
    style: Style


async def recall(
    parts: Parts,
    goal: str,
    *,
    agents: Sequence[str] | None = None,
    budget: int | None = None,
    as_of: datetime | None = None,
    stamp: bool = True,
) -> Recalled:
    """Of the named agents, or of all enabled ones; `budget` in tokens, by default the configuration's.

    `as_of` answers as things stood then. `stamp` notes on what is given that it was recalled, which protects it from
    fading: once a day, and never as evidence. Raises UsageError (empty goal), ConfigError (unknown agent), StoreError.
    """
    if not goal.strip():
        raise UsageError("the goal is empty", hint="say what is to be done, in a sentence")
    _check(as_of)
    names = tuple(dict.fromkeys(agents)) if agents is not None else tuple(parts.config.enabled)
    for name in names:
        parts.config.agent(name)
    vector = await _vector(parts, goal)

    def answered() -> Recalled:
        asking = _asking(parts, goal, names, budget, as_of, vector)
        recalled, insights = _answer(parts, asking)
        if stamp and as_of is None:
            _stamp(parts, insights, asking)
        return recalled

    return await to_thread.run_sync(answered)


def _check(as_of: datetime | None) -> None:
    try:
        if as_of is not None:
            within_reach(as_of.date())
    except ValueError as error:
        raise UsageError(f"nothing is known of {as_of:%Y-%m-%d}", hint="say a day of your own") from error
    if as_of is not None and as_of.tzinfo is None:
        raise UsageError("a time without its zone", hint="write it as 2026-03-02T12:00:00Z")


async def _vector(parts: Parts, goal: str) -> Sequence[float] | None:
    """None too when the server is down or slow: recall goes on by words."""
    if parts.meaning is not None:
        with suppress(DreamdError), anyio.move_on_after(MEANING_S):
            return (await parts.meaning.of([goal]))[0]
    return None


def _asking(
    parts: Parts,
    goal: str,
    agents: tuple[str, ...],
    budget: int | None,
    as_of: datetime | None,
    vector: Sequence[float] | None,
) -> _Asking:
    """Blocks: zones are read from files."""
    zones = {name: zone_of(parts.config.agent(name)) for name in agents}
    now = parts.clock.now()
    said = goal[:_LONGEST]
    terms = _wanted(said, (as_of or now) - _A_MOMENT, zones.values())
    tongue: Tongue = detect((said,))
    return _Asking(
        goal=goal,
        question=Question(
            terms=tuple(f"{term}*" if headed(term) else term for term in terms), agents=agents, vector=vector
        ),
        asked=Asked(terms=frozenset(terms), now=now, decay=parts.config.decay, then=as_of),
        budget=parts.config.recall.budget if budget is None else budget,
        style=Style(tongue, zones, named=len(agents) > 1),
    )


def _wanted(goal: str, now: datetime, zones: Iterable[ZoneInfo]) -> list[str]:
    """`yesterday` is each agent's own."""
    days = dict.fromkeys(local_date(now, zone) for zone in zones) or {now.date(): None}
    return list(dict.fromkeys(chain.from_iterable(wanted(goal, day) for day in days)))[:_TERMS]


def _answer(parts: Parts, asking: _Asking) -> tuple[Recalled, list[Memory]]:
    """The answer, and the insights in it."""
    index = _index(parts)
    _bring_nearer(parts, index)
    found = _insights(parts, index, asking)
    insights = _told(parts, found, asking)
    records = _records(parts, index, asking, besides={ref for one in found for ref in one.insight.ref_ids})
    bearing = [one for one in insights if not _unasked(one)]
    standing = [one for one in insights if _unasked(one)]
    fits = packed(
        Items(bearing, partial(insight_line, style=asking.style)),
        Items(standing, partial(insight_line, style=asking.style)),
        Items(records, partial(record_line, style=asking.style)),
        budget=asking.budget,
        share=parts.config.recall.standing_share,
        tongue=asking.style.tongue,
    )
    given = [*(bearing[place] for place in fits.bearing), *(standing[place] for place in fits.standing)]
    ids = {one.memory_id for one in given}
    return (
        Recalled(
            goal=asking.goal,
            insights=tuple(given),
            records=tuple(_clean(records[place]) for place in fits.records),
            text=fits.text,
            tokens=fits.tokens,
            left_out=len(insights) - len(given) + len(records) - len(fits.records),
        ),
        [one.insight for one in found if one.insight.memory_id in ids],
    )


def _bring_nearer(parts: Parts, index: Index) -> None:
    """What is known already can be recalled all the same. Where that is nothing, saying so would be untrue."""
    try:
        follow(parts.store, index, pages=PAGES)
    except (DiskFull, StoreError):
        if index.mark() == Mark():
            raise


def _index(parts: Parts) -> Index:
    if parts.index is None:
        raise StoreError("recall has no index", hint="open the parts with one")
    return parts.index


def _unasked(one: RecalledInsight) -> bool:
    return one.matched in (("standing",), ("pinned",))


def _insights(parts: Parts, index: Index, asking: _Asking) -> list[Chosen]:
    unasked = int(asking.budget * parts.config.recall.standing_share) // _RECORD_TOKENS + _MORE
    near = finding.conclusions(index, asking.question, unasked)
    known = [
        one for one in _of_these(parts, near.seqs, asking) if one.type == "insight" and one.status in _TOLD
    ]
    return chosen(asking.asked, known, near.words, near.meaning, near.standing)


def _of_these(parts: Parts, seqs: Sequence[int], asking: _Asking) -> Iterator[Memory]:
    """Of the agents that were asked, whatever an index says that is of another pool."""
    known = parts.store.memories(MemoryQuery(seqs=tuple(seqs))) if seqs else ()
    return (one for one in known if one.agent in asking.question.agents)


_TOLD: tuple[Status, ...] = ("candidate", "long_term", "superseded", "archived")


def _told(parts: Parts, found: Sequence[Chosen], asking: _Asking) -> list[RecalledInsight]:
    sides = sides_of(parts.store, [one.insight for one in found], asking.asked)
    return [_recalled_insight(one, sides.get(one.insight.memory_id, Sides())) for one in found]


def _recalled_insight(one: Chosen, sides: Sides) -> RecalledInsight:
    insight = one.insight
    return RecalledInsight(
        memory_id=insight.memory_id,
        agent=insight.agent,
        statement=insight.content,
        status=insight.status,
        confidence=one.sure,
        kind=insight.kind,
        at=insight.happened,
        valid_from=insight.valid_from,
        valid_until=insight.valid_until,
        pinned=insight.pinned,
        standing=one.standing,
        matched=one.matched,
        against=sides.against,
        superseded_by=sides.superseded_by,
        applies_when=insight.applies_when,
        entities=insight.entities,
    )


def _records(parts: Parts, index: Index, asking: _Asking, besides: set[str]) -> list[RecalledRecord]:
    """Those that no recalled insight rests on: what they say is said already."""
    ranked = finding.records(index, asking.question)
    least = ranked[0][1] * _LEAST if ranked else 0.0
    likely = {
        seq: figure for seq, figure in ranked[: asking.budget // _RECORD_TOKENS + _MORE] if figure > least
    }
    if not likely:
        return []
    known = (one for one in _of_these(parts, tuple(likely), asking) if one.type == "raw")
    then = asking.asked.then
    records = [
        record
        for record in known
        if record.memory_id not in besides and (then is None or record.happened <= then)
    ]
    records.sort(key=lambda record: -likely[record.seq])
    right = righted(parts.store, records, asking.asked)
    return [_recalled_record(one, likely[one.seq], right.get(one.memory_id)) for one in records]


def _recalled_record(record: Memory, figure: float, right: Righted | None) -> RecalledRecord:
    instead = right.instead if right else None
    return RecalledRecord(
        memory_id=record.memory_id,
        agent=record.agent,
        role=record.role,
        text=spoken(record),
        at=record.happened,
        session_id=record.session_id,
        score=round(figure, 4),
        put_right=right is not None,
        superseded_by=instead.memory_id if instead else "",
        instead=instead.content if instead else "",
    )


def _clean(record: RecalledRecord) -> RecalledRecord:
    """Of secrets that were no known kind of secret when it was read."""
    return replace(record, text=redact(record.text))


def _stamp(parts: Parts, insights: Sequence[Memory], asking: _Asking) -> None:
    """Once a day each; what cannot be noted now is noted another time."""
    now = asking.asked.now
    fresh = [one for one in insights if not _stamped(one, now, asking.style.zones[one.agent])]
    if fresh:
        with suppress(DreamdError):
            parts.store.write(Changes(recalled=[(one.memory_id, now) for one in fresh]))


def _stamped(insight: Memory, now: datetime, zone: ZoneInfo) -> bool:
    """On this day already."""
    last = insight.last_recalled_at
    return last is not None and local_date(last, zone) >= local_date(now, zone)
