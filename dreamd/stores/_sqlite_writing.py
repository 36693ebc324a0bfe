"""Changes in, SQL out: the steps of the one write, inside a transaction that the caller holds."""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from dreamd.errors import StoreConflict
from dreamd.memories import Memory, Status
from dreamd.records import Amendment
from dreamd.stores import _sqlite_rows as rows
from dreamd.stores._amending import amended
from dreamd.stores._sql import listed
from dreamd.stores._sqlite_erasing import Erasing
from dreamd.stores.base import SLOTS_KEPT, Changes, Cursor, Erased, Slot, Written

T = TypeVar("T")
_MOST_NUMBERS = 1000


class Writing:
    """Remembers between writes what each source's number is; `forget` after a rollback."""

    def __init__(self, connection: sqlite3.Connection, sql: Mapping[str, str], erasing: Erasing) -> None:
        self._connection = connection
        self._sql = sql
        self._erasing = erasing
        self._sources: dict[str, int] = {}

    def forget(self) -> None:
        self._sources.clear()

    def apply(self, changes: Changes) -> Written:
        if changes.erased:
            self._erase(changes.erased)
        if changes.cursor:
            self._move(changes.cursor)
        memories, others = self._folded(changes)
        stored = self._insert(memories)
        if changes.respan:
            self._respan(changes.memories)
        unknown = len(others) - self._amend(others, _source_of(changes))
        self._renew(changes.replaced)
        self._touch(changes)
        self._mark(changes.statuses)
        self._file(changes.filed)
        self._keep(changes)
        return Written(
            stored=stored,
            duplicates=len(changes.memories) - stored,
            amended=len(changes.amendments) - unknown,
            unknown=unknown,
            taken=sum(self._hold(slot, changes.most_slots) for slot in changes.slots),
        )

    def _erase(self, erased: Erased) -> None:
        self._count(erased.memories, -1)  # forgotten ones count nothing, so there is nothing to put back
        self._erasing.erase(erased)

    def _run(self, name: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> sqlite3.Cursor:
        return self._connection.execute(self._sql[name], parameters)

    def _run_all(self, name: str, parameters: Iterable[Sequence[object] | Mapping[str, object]]) -> int:
        """How many rows were written."""
        return self._connection.executemany(self._sql[name], parameters).rowcount

    def _move(self, cursor: Cursor) -> None:
        known = self._run("cursor_version", (cursor.source_id,)).fetchone() or (0,)
        if cursor.version != known[0] + 1:
            raise StoreConflict(
                f"somebody else has read {cursor.path} further", hint="read on from the new cursor"
            )
        self._run("replace_cursor", rows.cursor_row(cursor))

    def _insert(self, memories: Sequence[Memory]) -> int:
        if not memories:
            return 0
        before = self._run("last_seq").fetchone()[0]
        memories = self._erasing.admitted(memories)
        self._number_sources(memories)
        stored = self._run_all(
            "insert_memory", (rows.memory_row(memory, self._sources) for memory in memories)
        )
        self._run("count_new", {"before": before})
        first = {memory.memory_id: memory for memory in reversed(memories) if memory.ref_ids}
        for memory in first.values():
            self._refer(memory, before)
        return stored

    def _refer(self, memory: Memory, before: int) -> None:
        refs = ({"ref_id": ref, "memory_id": memory.memory_id, "before": before} for ref in memory.ref_ids)
        self._run_all("insert_ref", refs)

    def _renew(self, memories: Sequence[Memory]) -> None:
        derived = [memory for memory in memories if memory.type != "raw"]
        self._number_sources(derived)
        for memory in derived:
            self._run("drop_refs", (memory.memory_id,))
            if self._run("replace_memory", rows.memory_row(memory, self._sources)).rowcount:
                self._refer(memory, before=0)

    def _touch(self, changes: Changes) -> None:
        """Pins and recalls."""
        self._run_all("set_pin", ({"memory_id": one, "pinned": pinned} for one, pinned in changes.pins))
        recalled = ({"memory_id": one, "at": rows.micros(at)} for one, at in changes.recalled)
        self._run_all("set_recalled", recalled)

    def _folded(self, changes: Changes) -> tuple[Sequence[Memory], Sequence[tuple[str, Amendment]]]:
        """The memories, those that are new as their amendments leave them, and the amendments of other memories.

        Most calls come with their result: two statements for each are saved.
        """
        wanted = {memory_id for memory_id, _ in changes.amendments}
        raw = {each.memory_id: each for each in reversed(changes.memories) if each.type == "raw"}
        new = self._unknown(wanted & raw.keys())
        if not new:
            return changes.memories, changes.amendments
        for memory_id, amendment in changes.amendments:
            if memory_id in new:
                raw[memory_id] = amended(raw[memory_id], amendment, _source_of(changes))
        memories = [raw[each.memory_id] if each.memory_id in new else each for each in changes.memories]
        return memories, [each for each in changes.amendments if each[0] not in new]

    def _unknown(self, ids: set[str]) -> set[str]:
        """Those that are no memory's yet."""
        known = self._run("known_ids", (listed(ids),)).fetchall() if ids else ()
        return ids - {memory_id for (memory_id,) in known}

    def _number_sources(self, memories: Iterable[Memory]) -> None:
        if len(self._sources) > _MOST_NUMBERS:
            self._sources.clear()
        named = {memory.span.source_id for memory in memories if memory.span}
        for source_id in named - self._sources.keys():
            self._run("insert_source", (source_id,))
            self._sources[source_id] = self._run("source", (source_id,)).fetchone()[0]

    def _respan(self, memories: Sequence[Memory]) -> None:
        self._number_sources(memories)
        places = (
            {
                "memory_id": memory.memory_id,
                "source": self._sources[memory.span.source_id],
                "offset": memory.span.offset,
                "length": memory.span.length,
                "sha256": memory.span.sha256,
                "table": memory.span.table,
                "row": memory.span.row,
            }
            for memory in memories
            if memory.span
        )
        self._run_all("respan_memory", places)

    def _amend(self, amendments: Sequence[tuple[str, Amendment]], source_id: str) -> int:
        """How many of the amendments found their memory."""
        counted = [memory_id for memory_id, each in amendments if each.origin or each.withdrawn is not None]
        self._count(counted, -1)
        found = sum(self._amend_one(memory_id, each, source_id) for memory_id, each in amendments)
        self._count(counted, 1)
        return found

    def _amend_one(self, memory_id: str, amendment: Amendment, source_id: str) -> bool:
        row = self._run("raw_memory", {"memory_id": memory_id}).fetchone()
        if row is None:
            return False
        known = self._erasing.restored(rows.memory_of(row), row[28])
        memory = amended(known, amendment, source_id)
        changed = {
            "memory_id": memory_id,
            "ok": memory.ok,
            "origin": memory.origin,
            "trust": int(memory.trust),
            "content": memory.content,
            "status": memory.status,
            "extra": rows.extra_of(memory),
        }
        self._run("amend_memory", changed)
        return True

    def _mark(self, statuses: Sequence[tuple[str, Status]]) -> None:
        if not statuses:
            return
        ids = [memory_id for memory_id, _ in statuses]
        self._count(ids, -1)
        self._run_all(
            "set_status", ({"memory_id": memory_id, "status": status} for memory_id, status in statuses)
        )
        self._count(ids, 1)

    def _file(self, ids: Sequence[str]) -> None:
        self._count(ids, -1)
        if ids:
            self._run("set_filed", {"ids": listed(ids)})
        self._count(ids, 1)

    def _count(self, ids: Sequence[str], sign: int) -> None:
        if ids:
            self._run("count_again", {"ids": listed(ids), "sign": sign})

    def _keep(self, changes: Changes) -> None:
        self._run_each("replace_turn", rows.turn_row, changes.turns)
        self._run_each("replace_ledger_row", rows.ledger_row, changes.ledger)
        self._run_each("replace_journal_entry", rows.journal_row, changes.journal)
        self._run_each("settle_job", lambda job: (job,), changes.settled)
        self._run_each("replace_line", rows.line_row, changes.lines)
        self._run_each("insert_version", rows.version_row, changes.versions)
        self._run_each("replace_held", rows.held_row, changes.held)
        self._run_each("insert_contradiction", rows.contradiction_row, changes.contradictions)
        self._run_each("replace_meta", tuple, changes.meta.items())

    def _hold(self, slot: Slot, most: int | None) -> int:
        """How many slots were taken: 0 or 1."""
        row = rows.slot_row(slot, most)
        if self._run("renew_slot", row).rowcount:
            return 0
        self._run("drop_old_slots", (rows.micros(slot.began_at - SLOTS_KEPT),))
        return self._run("take_slot", row).rowcount

    def _run_each(self, name: str, row: Callable[[T], Sequence[object]], things: Collection[T]) -> None:
        if things:  # mostly there are none
            self._run_all(name, map(row, things))


def _source_of(changes: Changes) -> str:
    return changes.cursor.source_id if changes.cursor else ""
