"""What a dream looks at: an agent's raw memories that no dream has seen, what it knows, and what that rests on.

Scheduled, injected and subagents' records are never looked at. Of tools it is known how they fared, not what they said.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from dreamd.memories import Memory, Status
from dreamd.pool.language import Tongue, detect
from dreamd.records import Origin
from dreamd.sections import Agent
from dreamd.stores.base import Contradiction, MemoryQuery, Store

LIVED: tuple[Origin, ...] = ("human", "tool")
UNDREAMT: tuple[Status, ...] = ("fresh",)
DREAMT_OR_NOT: tuple[Status, ...] = ("fresh", "dreamt")
KNOWN: tuple[Status, ...] = ("candidate", "long_term", "superseded", "archived")
GONE: tuple[Status, ...] = ("withdrawn", "forgotten")
_MANY = 500  # ids in one question
_DEEPEST = 6  # insight on insight on summary on raw; a cycle ends here


class Material(Struct, frozen=True, kw_only=True):
    """`fresh` are the raw memories to dream of, in order of arrival, none behind `until` (a `Memory.seq`).

    `known` are the agent's insights, each with the raw memories under it among its `ref_ids`; `raws` are `fresh` and
    all of those, withdrawn and forgotten ones left out. `input_hash` is over `fresh`.
    """

    agent_id: str
    fresh: tuple[Memory, ...]
    known: tuple[Memory, ...]
    raws: Mapping[str, Memory]
    contradictions: tuple[Contradiction, ...]
    until: int
    language: Tongue
    input_hash: str


def gather(
    store: Store, agent: Agent, agent_id: str, *, again: bool, until: int | None, after: int
) -> Material:
    """What is there to dream of behind `after`, or (`again`) all there ever was. Blocks; raises StoreError.

    `until` is given when a dream goes on that was interrupted: it sees nothing that came since.
    """
    query = MemoryQuery(
        agent=agent_id,
        types=("raw",),
        origins=LIVED,
        statuses=DREAMT_OR_NOT if again else UNDREAMT,
        after_seq=0 if again else after,
    )
    found = (memory for memory in store.memories(query) if until is None or memory.seq <= until)
    fresh = tuple(replace(memory, trace=None) for memory in found)
    known, under = insights(store, agent_id)
    return Material(
        agent_id=agent_id,
        fresh=fresh,
        known=known,
        raws={**under, **{memory.memory_id: memory for memory in fresh}},
        contradictions=tuple(store.contradictions(agent_id)),
        until=until if until is not None else max((memory.seq for memory in fresh), default=after),
        language=_language(agent, fresh),
        input_hash=_hash(fresh),
    )


def fresh_count(store: Store, agent_id: str, most: int) -> int:
    """How many raw memories wait for a dream; it stops counting at `most`."""
    query = MemoryQuery(agent=agent_id, types=("raw",), origins=LIVED, statuses=UNDREAMT, limit=most)
    return sum(1 for _ in store.memories(query))


def _language(agent: Agent, memories: Iterable[Memory]) -> Tongue:
    if agent.language != "auto":
        return agent.language
    return detect(memory.content for memory in memories if memory.role == "user")


def _hash(memories: Iterable[Memory]) -> str:
    digest = hashlib.sha256()
    for memory in memories:
        digest.update(memory.memory_id.encode())
    return digest.hexdigest()


def insights(store: Store, agent_id: str) -> tuple[tuple[Memory, ...], dict[str, Memory]]:
    """All that the agent knows, each insight with the raw memories under it among its refs; and those, by id. Blocks."""
    query = MemoryQuery(agent=agent_id, types=("insight",), statuses=KNOWN)
    return with_records(store, agent_id, list(store.memories(query)))


def with_records(
    store: Store, agent_id: str, known: Sequence[Memory]
) -> tuple[tuple[Memory, ...], dict[str, Memory]]:
    """These insights with the raw memories under them among their refs; and those, by id. Blocks."""
    below = _lineage(store, agent_id, {ref for insight in known for ref in insight.ref_ids})
    raws = {
        memory.memory_id: memory
        for memory in below.values()
        if memory.type == "raw" and memory.status not in GONE
    }
    return tuple(_with_raws(insight, below) for insight in known), raws


def _lineage(store: Store, agent_id: str, ids: Iterable[str]) -> dict[str, Memory]:
    """All memories under these ids, of any status."""
    found: dict[str, Memory] = {}
    layer = {ref for ref in ids if ":" not in ref}
    for _ in range(_DEEPEST):
        for some in _by_many(sorted(layer)):
            query = MemoryQuery(agent=agent_id, ids=some, statuses=get_args(Status))
            found |= {memory.memory_id: memory for memory in store.memories(query)}
        below = {ref for one in layer if one in found for ref in found[one].ref_ids}
        layer = {ref for ref in below if ref not in found and ":" not in ref}
        if not layer:
            break
    return found


def _by_many(ids: Iterable[str]) -> Iterator[tuple[str, ...]]:
    left = iter(ids)
    while some := tuple(islice(left, _MANY)):
        yield some


def _with_raws(insight: Memory, below: Mapping[str, Memory]) -> Memory:
    """An insight that rests on daily lines alone rests on their records too: those are what is counted."""
    refs, layer = dict.fromkeys(insight.ref_ids), list(insight.ref_ids)
    for _ in range(_DEEPEST):
        derived = (below[ref] for ref in layer if ref in below and below[ref].type != "raw")
        layer = [ref for memory in derived if memory.status not in GONE for ref in memory.ref_ids]
        refs |= dict.fromkeys(ref for ref in layer if ref in below and below[ref].type == "raw")
    return insight if len(refs) == len(insight.ref_ids) else replace(insight, ref_ids=tuple(refs))
