"""What a dream looks at: an agent's raw memories that no dream has seen, what it knows, and what that rests on.

Scheduled, injected and subagents' records are never looked at. Of tools it is known how they fared, not what they said.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream.packed import Packed
from dreamd.dream.promote import telling_of
from dreamd.memories import GONE, STATUSES, Memory, Status, memory_ids
from dreamd.pool.language import Tongue, detect
from dreamd.records import Origin
from dreamd.sections import Agent
from dreamd.stores.base import Contradiction, MemoryQuery, Store

LIVED: tuple[Origin, ...] = ("human", "tool")
UNDREAMT: tuple[Status, ...] = ("fresh",)
DREAMT_OR_NOT: tuple[Status, ...] = ("fresh", "dreamt")
KNOWN: tuple[Status, ...] = ("candidate", "long_term", "superseded", "archived")
_MANY = 500  # ids in one question
_DEEPEST = 6  # insight on insight on summary on raw; a cycle ends here


class Material(Struct, frozen=True, kw_only=True):
    """`fresh` are the raw memories to dream of, in order of arrival, none behind `until` (a `Memory.seq`).

    `known` are the agent's insights, each with the raw memories under it among its `ref_ids`; `raws` are `fresh` and
    all of those (`telling_of` them where they are many), withdrawn and forgotten ones left out. `input_hash` is over `fresh`. `more`: there is more behind `until`.
    """

    agent_id: str
    fresh: tuple[Memory, ...]
    known: tuple[Memory, ...]
    raws: Mapping[str, Memory]
    contradictions: tuple[Contradiction, ...]
    until: int
    language: Tongue
    input_hash: str
    more: bool = False

    def after(self, found: Iterable[Memory], contradictions: Iterable[Contradiction]) -> "Known":
        """What is known when these insights are laid over it, as if they had been stored."""
        known = {one.memory_id: one for one in (*self.known, *found)}
        under = {ref for insight in known.values() for ref in telling_of(insight.ref_ids)}
        return Known(
            tuple(known.values()),
            Packed(memory for ref, memory in self.raws.items() if ref in under),
            (*self.contradictions, *contradictions),
        )


class Known(Struct, frozen=True):
    """The insights, the raw memories under them by id, and which contradict each other."""

    insights: tuple[Memory, ...]
    under: Packed
    contradictions: tuple[Contradiction, ...]


class Portion(Struct, frozen=True, kw_only=True):
    """Which raw memories: those behind `after`, up to `until` where a dream goes on that was interrupted, `most` at once.

    `again`: those that were dreamt of, too.
    """

    after: int = 0
    until: int | None = None
    again: bool = False
    most: int = 2000


def gather(
    store: Store, agent: Agent, agent_id: str, portion: Portion, known: Known | None = None
) -> Material:
    """What is there to dream of; `known` instead of what the store knows. Blocks; raises StoreError."""
    known = known or Known(*insights(store, agent_id), tuple(store.contradictions(agent_id)))
    fresh, more = _fresh(store, agent_id, portion)
    last = max((memory.seq for memory in fresh), default=portion.after)
    return Material(
        agent_id=agent_id,
        fresh=fresh,
        known=known.insights,
        raws=known.under.beside({memory.memory_id: memory for memory in fresh}),
        contradictions=known.contradictions,
        until=last if portion.until is None else portion.until,
        language=_language(agent, fresh),
        input_hash=_hash(fresh),
        more=more,
    )


def _fresh(store: Store, agent_id: str, portion: Portion) -> tuple[tuple[Memory, ...], bool]:
    query = MemoryQuery(
        agent=agent_id,
        types=("raw",),
        origins=LIVED,
        statuses=DREAMT_OR_NOT if portion.again else UNDREAMT,
        after_seq=portion.after,
        limit=portion.most + 1 if portion.until is None else None,
    )
    found = tuple(
        replace(memory, trace=None)
        for memory in store.memories(query)
        if portion.until is None or memory.seq <= portion.until
    )
    if portion.until is not None:
        return found, False
    return found[: portion.most], len(found) > portion.most


def _language(agent: Agent, memories: Iterable[Memory]) -> Tongue:
    if agent.language != "auto":
        return agent.language
    return detect(memory.content for memory in memories if memory.role == "user")


def _hash(memories: Iterable[Memory]) -> str:
    digest = hashlib.sha256()
    for memory in memories:
        digest.update(memory.memory_id.encode())
    return digest.hexdigest()


def insights(store: Store, agent_id: str) -> tuple[tuple[Memory, ...], Packed]:
    """All that the agent knows, each insight with the raw memories under it among its refs; and those, by id. Blocks."""
    query = MemoryQuery(agent=agent_id, types=("insight",), statuses=KNOWN)
    return with_records(store, agent_id, list(store.memories(query)))


def with_records(store: Store, agent_id: str, known: Sequence[Memory]) -> tuple[tuple[Memory, ...], Packed]:
    """These insights with the raw memories under them among their refs; and those, by id. Blocks.

    Of an insight that rests on very many the first and the last are there: memory follows what is known, not all that
    was ever said of it.
    """
    lineage = _Lineage(store, agent_id)
    raws = Packed(lineage.records({ref for insight in known for ref in telling_of(insight.ref_ids)}))
    return tuple(_with_raws(insight, lineage) for insight in known), raws


class _Lineage:
    """What stands under some ids, of any status: `derived` memories, and the ids of raw ones."""

    def __init__(self, store: Store, agent_id: str) -> None:
        self._store = store
        self._agent_id = agent_id
        self.derived: dict[str, Memory] = {}
        self.raw: set[str] = set()

    def records(self, ids: Iterable[str]) -> Iterator[Memory]:
        """The raw memories, but for those that are gone, as they are read."""
        layer = set(memory_ids(ids))
        for _ in range(_DEEPEST):
            below: set[str] = set()
            for memory in self._read(layer):
                below.update(memory.ref_ids)
                if memory.type != "raw":
                    self.derived[memory.memory_id] = memory
                    continue
                self.raw.add(memory.memory_id)
                if memory.status not in GONE:
                    yield replace(memory, trace=None) if memory.trace else memory
            layer = set(memory_ids(below)) - self.derived.keys() - self.raw

    def _read(self, ids: Iterable[str]) -> Iterator[Memory]:
        for some in _by_many(sorted(ids)):
            query = MemoryQuery(agent=self._agent_id, ids=some, statuses=STATUSES)
            yield from self._store.memories(query)


def _by_many(ids: Iterable[str]) -> Iterator[tuple[str, ...]]:
    left = iter(ids)
    while some := tuple(islice(left, _MANY)):
        yield some


def _with_raws(insight: Memory, lineage: _Lineage) -> Memory:
    """An insight that rests on daily lines alone rests on their records too: those are what is counted."""
    refs, layer = dict.fromkeys(insight.ref_ids), list(insight.ref_ids)
    for _ in range(_DEEPEST):
        derived = (lineage.derived[ref] for ref in layer if ref in lineage.derived)
        layer = [ref for memory in derived if memory.status not in GONE for ref in memory.ref_ids]
        refs |= dict.fromkeys(ref for ref in layer if ref in lineage.raw)
    return insight if len(refs) == len(insight.ref_ids) else replace(insight, ref_ids=tuple(refs))
