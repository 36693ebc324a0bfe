"""The pool and the ledger go in, what a daily of one agent's day is made from comes out."""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar, cast
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from dreamd.config import zone_of
from dreamd.daily.transcript import MESSAGE_CHARACTERS, Event, events, held
from dreamd.memories import Memory
from dreamd.pool.language import Tongue, detect
from dreamd.sections import Agent
from dreamd.stores.base import LedgerRow, MemoryQuery, Store, row_of

_DAY_CHARACTERS = 60_000_000
_LEAST_SHARE = 250
_NO_TIME = datetime.min.replace(tzinfo=UTC)  # of what nobody asks here
T = TypeVar("T")
UNFINISHED = ("running", "failed")  # states of a run that was not committed


class Material(Struct, frozen=True, kw_only=True):
    """`events` are to be told now, `unfiled` the raw memories that they leave filed, `records` counts all of the day.

    `whole`: the day is told anew, not what is unfiled alone.
    `input_hash` is over the records the events may rest on: the unfiled ones, or (whole) all of the day.
    `hours` is the span of time of those, with the zone's offset; `offset` the latter alone.
    """

    agent_id: str
    day: date
    zone: ZoneInfo
    language: Tongue
    events: tuple[Event, ...] = ()
    unfiled: tuple[str, ...] = ()
    records: int = 0
    input_hash: str = ""
    hours: str = ""
    offset: str = ""
    prior: LedgerRow | None = None
    whole: bool = False

    @property
    def spoken(self) -> bool:
        """Whether a human waited for an answer at all."""
        return any(event.asked or event.awaited for event in self.events)


def gather(store: Store, agent: Agent, agent_id: str, day: date, *, whole: bool) -> Material:
    """What is new of the day, or (`whole`) all of it. Blocks; raises StoreError and ConfigError (zone)."""
    zone = zone_of(agent)
    prior = row_of(store, agent_id, "daily", day)
    mine = MemoryQuery(agent=agent_id, types=("raw",), window=day)
    if not whole and next(store.memories(replace(mine, filed=False, limit=1)), None) is None:
        if prior is None or prior.state not in UNFINISHED:
            return Material(agent_id=agent_id, day=day, zone=zone, language="en", prior=prior)
        whole = True  # an unfinished run that left nothing unfiled was telling the whole day anew
    # filed ones are read too: the question of a late answer is among them
    fresh = _Hash(_share(store, agent_id, day))
    memories = [fresh.slim(one, whole=whole) for one in store.memories(mine)]
    told = _with_earlier_questions(store, agent_id, day, memories)
    new = [one for one in memories if not one.filed]
    return Material(
        agent_id=agent_id,
        day=day,
        zone=zone,
        language=_language(agent, told),
        events=tuple(event for event in events(told) if event.fresh),
        unfiled=tuple(one.memory_id for one in new),
        records=len(memories),
        input_hash=fresh.hexdigest(),
        hours=_hours(new, day, zone),
        offset=_offset(new, day, zone),
        prior=prior,
        whole=whole,
    )


def _with_earlier_questions(store: Store, agent_id: str, day: date, memories: list[Memory]) -> list[Memory]:
    """Before the memories, for each session that goes on with answers, what the human asked before midnight."""
    sessions = sorted({event.session_id for event in events(memories) if event.awaited})
    query = MemoryQuery(
        agent=agent_id,
        types=("raw",),
        origins=("human",),
        since=day - timedelta(days=1),
        until=day - timedelta(days=1),
    )
    found = (_last_question(store, replace(query, session_id=session)) for session in sessions)
    return [*(replace(question, filed=True) for question in found if question), *memories]


def _last_question(store: Store, query: MemoryQuery) -> Memory | None:
    last = None
    for memory in store.memories(query):
        last = memory if memory.role == "user" else last
    return last


def _language(agent: Agent, memories: Iterable[Memory]) -> Tongue:
    if agent.language != "auto":
        return agent.language
    return detect(one.content for one in memories if one.by_a_person)


def _share(store: Store, agent_id: str, day: date) -> int:
    """Characters of each message that a day may hold in memory: all that is ever shown, less on days of 10,000 and more."""
    records = next((each.memories for each in store.windows(agent_id) if each.window == day), 0)
    return max(_LEAST_SHARE, min(MESSAGE_CHARACTERS, _DAY_CHARACTERS // max(records, 1)))


class _Hash:
    """The hash over the fresh memories as they pass, of which only what a daily can show is kept in memory."""

    def __init__(self, most: int) -> None:
        self._hash = hashlib.sha256()
        self._most = most
        self._known: dict[object, object] = {}

    def slim(self, one: Memory, *, whole: bool) -> Memory:
        filed = one.filed and not whole
        if not filed:
            facts = (one.memory_id, one.role, one.origin, one.tool, one.ok, one.content)
            self._hash.update(repr(facts).encode("utf-8", "surrogatepass"))
        same = self._same
        return Memory(
            memory_id=one.memory_id,
            type="raw",
            content="" if one.role == "tool" else held(one.content, self._most),
            agent=same(one.agent),
            window=same(one.window),
            received_at=_NO_TIME,
            session_id=same(one.session_id),
            task_id=same(one.task_id),
            timestamp=one.timestamp,
            role=same(one.role),
            origin=same(one.origin),
            trust=one.trust,
            tool=same(one.tool),
            ok=one.ok,
            filed=filed,
        )

    def _same(self, value: T) -> T:
        """An equal value met before: a row of the store brings its own copy of each."""
        return cast("T", self._known.setdefault(value, value))

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def _times(memories: Iterable[Memory], zone: ZoneInfo) -> Iterator[datetime]:
    """When the conversations were; a scheduled record at 03:00 says nothing about them."""
    for one in memories:
        if one.timestamp and one.origin in ("human", "injected"):
            yield one.timestamp.astimezone(zone)


def _ends(memories: Iterable[Memory], zone: ZoneInfo) -> tuple[datetime, ...]:
    times = sorted(_times(memories, zone))
    return (times[0], times[-1]) if times else ()


def _hours(memories: Iterable[Memory], day: date, zone: ZoneInfo) -> str:
    """`09:12-17:40 UTC+01:00`, or the offset alone when no record has a time."""
    clock = "-".join(dict.fromkeys(f"{end:%H:%M}" for end in _ends(memories, zone)))
    return f"{clock} {_offset(memories, day, zone)}".strip()


def _offset(memories: Iterable[Memory], day: date, zone: ZoneInfo) -> str:
    """`UTC+01:00`; both offsets when the clocks changed in between."""
    ends = _ends(memories, zone) or (datetime(day.year, day.month, day.day, 12, tzinfo=zone),)
    offsets = dict.fromkeys(f"{end:%z}" for end in ends)
    return "UTC" + "/".join(f"{offset[:3]}:{offset[3:5]}" for offset in offsets)
