"""A store that forgets at exit: the shipped fake, for tests, demos and dry runs. Keeps to the whole contract."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from dreamd.errors import StoreConflict, StoreError
from dreamd.memories import GONE, Memory, Status
from dreamd.records import Origin
from dreamd.stores._amending import amended
from dreamd.stores._following import differs, followed
from dreamd.stores._forgetting import back_again, holds, overwritten
from dreamd.stores._forgetting import erased as erased_memory
from dreamd.stores.base import (
    SLOTS_KEPT,
    Changes,
    Contradiction,
    Cursor,
    Erased,
    FileVersion,
    Held,
    JournalEntry,
    LedgerRow,
    LineEvidence,
    Mark,
    MemoryQuery,
    News,
    Phase,
    RunState,
    Slot,
    Spent,
    Store,
    TurnState,
    WindowCount,
    Written,
)


class _Memories(dict[str, Memory]):
    """By id, in order of seq; notes what changes."""

    def __init__(self) -> None:
        super().__init__()
        self.touched: dict[int, int] = {}  # seq -> the number of its newest change, in order of that
        self.touches = 0

    def __setitem__(self, memory_id: str, memory: Memory) -> None:
        known = self.get(memory_id)
        if known is not None and differs(known, memory):
            self._touch(known.seq)
        super().__setitem__(memory_id, memory)

    def __delitem__(self, memory_id: str) -> None:
        self._touch(self[memory_id].seq)
        super().__delitem__(memory_id)

    def _touch(self, seq: int) -> None:
        self.touches += 1
        self.touched.pop(seq, None)
        self.touched[seq] = self.touches


@dataclass
class _Tables:
    memories: _Memories = field(default_factory=_Memories)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    turns: dict[tuple[str, str], TurnState] = field(default_factory=dict)
    ledger: dict[tuple[str, date, Phase], LedgerRow] = field(default_factory=dict)
    journal: dict[str, JournalEntry] = field(default_factory=dict)
    lines: dict[tuple[str, str], LineEvidence] = field(default_factory=dict)
    versions: list[FileVersion] = field(default_factory=list)
    held: dict[int, Held] = field(default_factory=dict)
    contradictions: dict[tuple[str, frozenset[str]], Contradiction] = field(default_factory=dict)
    slots: dict[str, Slot] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)
    tombstones: dict[str, int] = field(default_factory=dict)


class InMemoryStore(Store):
    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: _Tables | None = _Tables()

    @property
    def _tables(self) -> _Tables:
        if self._open is None:
            raise StoreError("the store is closed")
        return self._open

    def write(self, changes: Changes) -> Written:
        with self._lock:
            tables = self._tables
            _move(tables, changes.cursor)  # the only step that can refuse, so it comes first
            _erase(tables, changes.erased)
            stored = _insert(tables, changes)
            amended_count = _amend(tables, changes)
            _renew(tables, changes)
            _touch(tables, changes)
            _mark(tables, changes)
            _file(tables, changes)
            _keep(tables, changes)
            taken = sum(_hold(tables, slot, changes.most_slots) for slot in changes.slots)
        return Written(
            stored=stored,
            duplicates=len(changes.memories) - stored,
            amended=amended_count,
            unknown=len(changes.amendments) - amended_count,
            taken=taken,
        )

    def cursors(self, agent: str | None = None, source_id: str | None = None) -> list[Cursor]:
        with self._lock:
            found = [
                one
                for one in self._tables.cursors.values()
                if agent in (None, one.agent) and source_id in (None, one.source_id)
            ]
        return sorted(found, key=lambda one: (one.agent, one.path, one.source_id))

    def memories(self, query: MemoryQuery) -> Iterator[Memory]:
        with self._lock:
            rows = list(self._tables.memories.values())
        return islice((row for row in rows if _wanted(query, row)), query.limit)

    def news(self, after: Mark, limit: int) -> News:
        with self._lock:
            tables = self._tables.memories
            by_seq = {memory.seq: memory for memory in tables.values()}
            newest = tables.touches
            touched = [(n, seq) for seq, n in tables.touched.items() if n > after.touch][:limit]
        last = by_seq.get(after.seq)
        if newest < after.touch or (after.seq and (last is None or last.memory_id != after.memory_id)):
            return News(mark=Mark(), restart=True, more=True)
        fresh = [memory for seq, memory in by_seq.items() if seq > after.seq][:limit]
        return followed(after, fresh, touched, [by_seq[seq] for _, seq in touched if seq in by_seq], limit)

    def windows(self, agent: str, origins: tuple[Origin, ...] = ()) -> list[WindowCount]:
        counts: dict[date, WindowCount] = {}
        for memory in self.memories(MemoryQuery(agent=agent, types=("raw",), origins=origins)):
            count = counts.get(memory.window, WindowCount(agent, memory.window, 0, 0))
            counts[memory.window] = replace(
                count, memories=count.memories + 1, unfiled=count.unfiled + (not memory.filed)
            )
        return [counts[window] for window in sorted(counts)]

    def ledger(
        self,
        agent: str | None = None,
        phase: Phase | None = None,
        since: date | None = None,
        state: RunState | None = None,
    ) -> list[LedgerRow]:
        with self._lock:
            rows = list(self._tables.ledger.values())
        found = (
            row
            for row in rows
            if agent in (None, row.agent)
            and phase in (None, row.phase)
            and (since is None or row.day >= since)
            and state in (None, row.state)
        )
        return sorted(found, key=lambda row: (-row.day.toordinal(), row.agent, row.phase))

    def journalled(self, key: str) -> JournalEntry | None:
        return self._tables.journal.get(key)

    def evidence(self, agent: str) -> dict[str, LineEvidence]:
        with self._lock:
            return {line: row for (owner, line), row in self._tables.lines.items() if owner == agent}

    def versions(self, agent: str, limit: int | None = None) -> list[FileVersion]:
        with self._lock:
            newest_first = [row for row in reversed(self._tables.versions) if row.agent == agent]
        return newest_first[:limit]

    def held(self, agent: str | None = None) -> list[Held]:
        with self._lock:
            found = [row for row in self._tables.held.values() if agent in (None, row.agent)]
        return sorted(found, key=lambda row: -row.held_id)

    def turns(self, agent: str | None = None) -> list[TurnState]:
        with self._lock:
            found = [turn for turn in self._tables.turns.values() if agent in (None, turn.agent)]
        return sorted(found, key=lambda turn: (turn.agent, turn.session_id))

    def contradictions(self, agent: str) -> list[Contradiction]:
        with self._lock:
            found = [pair for pair in self._tables.contradictions.values() if pair.agent == agent]
        return sorted(found, key=lambda pair: pair.at)

    def slots(self) -> list[Slot]:
        with self._lock:
            found = [slot for slot in self._tables.slots.values() if slot.held_until]
        return sorted(found, key=lambda slot: (slot.began_at, slot.slot_id))

    def spent(self, since: datetime) -> list[Spent]:
        with self._lock:
            counted = [slot for slot in self._tables.slots.values() if slot.began_at >= since]
        agents = sorted({slot.agent for slot in counted})
        return [_summed(agent, [slot for slot in counted if slot.agent == agent]) for agent in agents]

    def meta(self, key: str) -> str | None:
        return self._tables.meta.get(key)

    def archive(self, before: date) -> int:  # noqa: ARG002 - it has no files to move anything to
        return 0

    def check_room(self) -> None:
        return

    def purge(self) -> None:
        return

    def close(self) -> None:
        self._open = None


def _move(tables: _Tables, cursor: Cursor | None) -> None:
    if cursor is None:
        return
    known = tables.cursors.get(cursor.source_id)
    if cursor.version != (known.version if known else 0) + 1:
        raise StoreConflict(
            f"somebody else has read {cursor.path} further", hint="read on from the new cursor"
        )
    tables.cursors[cursor.source_id] = cursor


def _erase(tables: _Tables, erased: Erased | None) -> None:
    if erased is None:
        return
    ids = set(erased.memories)
    for mark in (*erased.memories, *erased.marks):
        tables.tombstones[mark] = max(tables.tombstones.get(mark, 0), _micros(erased.at))
    for known in [tables.memories[one] for one in ids if one in tables.memories]:
        tables.memories[known.memory_id] = erased_memory(known)
    for sides, pair in list(tables.contradictions.items()):
        if ids & {pair.left_id, pair.right_id}:
            del tables.contradictions[sides]
    for line in erased.lines:
        tables.lines.pop(line, None)
    for held_id in erased.held:
        tables.held.pop(held_id, None)
    _rewrite(tables, erased)


def _rewrite(tables: _Tables, erased: Erased) -> None:
    for name, entry in list(tables.journal.items()):
        if entry.job.split(":")[1:2] in [[agent] for agent in erased.agents]:
            del tables.journal[name]
    versions = {version.version_id: version for version in erased.versions}
    tables.versions = [
        replace(one, content=new.content, sha256=new.sha256, note=new.note)
        if (new := versions.get(one.version_id))
        else one
        for one in tables.versions
    ]
    for source_id, cursor in tables.cursors.items():
        clean = overwritten(cursor.state, erased.texts)
        if clean != cursor.state:
            tables.cursors[source_id] = replace(cursor, state=clean, version=cursor.version + 1)


def _micros(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _insert(tables: _Tables, changes: Changes) -> int:
    stored = 0
    for memory in changes.memories:
        if back_again(memory, tables.tombstones, _micros(memory.timestamp) if memory.timestamp else None):
            continue
        known = tables.memories.get(memory.memory_id)
        if known is None:
            stored += 1
            tables.memories[memory.memory_id] = replace(memory, seq=len(tables.memories) + 1)
        elif changes.respan and known.type == "raw" and memory.span:
            tables.memories[memory.memory_id] = replace(known, span=memory.span)
    return stored


def _amend(tables: _Tables, changes: Changes) -> int:
    count = 0
    source_id = changes.cursor.source_id if changes.cursor else ""
    for memory_id, amendment in changes.amendments:
        known = tables.memories.get(memory_id)
        if known is not None and known.type == "raw":
            tables.memories[memory_id] = amended(known, amendment, source_id)
            count += 1
    return count


def _renew(tables: _Tables, changes: Changes) -> None:
    for memory in changes.replaced:
        known = tables.memories.get(memory.memory_id)
        if known is not None and "raw" not in (known.type, memory.type) and known.status != "forgotten":
            tables.memories[memory.memory_id] = _renewed(known, memory)
    for pair in changes.contradictions:
        tables.contradictions.setdefault((pair.agent, frozenset((pair.left_id, pair.right_id))), pair)


def _renewed(known: Memory, memory: Memory) -> Memory:
    return replace(
        memory,
        seq=known.seq,
        pinned=known.pinned,
        status=known.status if known.pinned and not memory.pinned else memory.status,
        last_recalled_at=max(filter(None, (known.last_recalled_at, memory.last_recalled_at)), default=None),
    )


def _touch(tables: _Tables, changes: Changes) -> None:
    """Pins and recalls."""
    for memory_id, pinned in changes.pins:
        known = tables.memories.get(memory_id)
        stands = known is not None and known.type == "insight" and known.status != "forgotten"
        if known is not None and stands and not (pinned and known.status in _PAST):
            tables.memories[memory_id] = replace(known, pinned=pinned)
    for memory_id, at in changes.recalled:
        known = tables.memories.get(memory_id)
        if known is not None and known.status != "forgotten":
            tables.memories[memory_id] = replace(
                known, last_recalled_at=max(known.last_recalled_at or at, at)
            )


_PAST = ("superseded", "withdrawn")


def _may_become(known: Memory, status: Status) -> bool:
    if status == "dreamt":
        return known.status == "fresh"
    return status != "long_term" or known.status not in _PAST


def _mark(tables: _Tables, changes: Changes) -> None:
    for memory_id, status in changes.statuses:
        known = tables.memories.get(memory_id)
        if known is not None and _may_become(known, status):
            tables.memories[memory_id] = replace(known, status=status)
    for memory_id in changes.filed:
        if memory_id in tables.memories:
            tables.memories[memory_id] = replace(tables.memories[memory_id], filed=True)


def _file(tables: _Tables, changes: Changes) -> None:
    """Write what the night keeps: ledger, journal, evidence, versions, held rewrites."""
    tables.ledger.update({(row.agent, row.day, row.phase): row for row in changes.ledger})
    tables.journal.update({entry.key: entry for entry in changes.journal})
    for key in [key for key, entry in tables.journal.items() if entry.job in changes.settled]:
        del tables.journal[key]
    tables.lines.update({(row.agent, row.line): row for row in changes.lines})
    for version in changes.versions:
        tables.versions.append(replace(version, version_id=len(tables.versions) + 1))
    for held in changes.held:
        held_id = held.held_id or max(tables.held, default=0) + 1
        tables.held[held_id] = replace(held, held_id=held_id)


def _keep(tables: _Tables, changes: Changes) -> None:
    for agent, turn in changes.turns:
        tables.turns[agent, turn.session_id] = TurnState(agent, turn.session_id, turn.busy, turn.at)
    tables.meta.update(changes.meta)


def _hold(tables: _Tables, slot: Slot, most: int | None) -> int:
    known = tables.slots.get(slot.slot_id)
    if known is not None:
        tables.slots[slot.slot_id] = replace(
            known,
            held_until=slot.held_until,
            input_tokens=slot.input_tokens,
            output_tokens=slot.output_tokens,
            told=slot.told,
        )
        return 0
    kept = {key: one for key, one in tables.slots.items() if one.began_at >= slot.began_at - SLOTS_KEPT}
    held = sum(one.lane == slot.lane and one.is_held(slot.began_at) for one in kept.values())
    tables.slots = kept if most is not None and held >= most else kept | {slot.slot_id: slot}
    return slot.slot_id in tables.slots


def _summed(agent: str, slots: list[Slot]) -> Spent:
    return Spent(
        agent=agent,
        calls=len(slots),
        input_tokens=sum(slot.input_tokens for slot in slots),
        output_tokens=sum(slot.output_tokens for slot in slots),
        estimated=sum(not slot.told for slot in slots),
        first_at=min(slot.began_at for slot in slots),
    )


def _wanted(query: MemoryQuery, memory: Memory) -> bool:
    """Whether the memory is among those the query asks for, its limit aside."""
    same = (
        query.agent in (None, memory.agent)
        and query.window in (None, memory.window)
        and query.session_id in (None, memory.session_id)
        and query.filed in (None, memory.filed)
        and (query.ids is None or memory.memory_id in query.ids)
        and (query.seqs is None or memory.seq in query.seqs)
        and memory.memory_id.startswith(query.id_prefix or "")
        and (query.rests_on is None or not set(query.rests_on).isdisjoint(memory.ref_ids))
        and (query.holding is None or holds(repr(memory), None, json.dumps(query.holding)))
    )
    return same and _among(query, memory) and _between(query, memory)


def _among(query: MemoryQuery, memory: Memory) -> bool:
    return (
        (not query.types or memory.type in query.types)
        and (not query.origins or memory.origin in query.origins)
        and (memory.status in query.statuses if query.statuses else memory.status not in GONE)
    )


def _between(query: MemoryQuery, memory: Memory) -> bool:
    return (
        memory.seq > query.after_seq
        and (query.since is None or memory.window >= query.since)
        and (query.until is None or memory.window <= query.until)
    )


def open_store(state: Path) -> Store:  # noqa: ARG001 - what every store is opened with
    return InMemoryStore()


OPEN: Callable[[Path], Store] = open_store
