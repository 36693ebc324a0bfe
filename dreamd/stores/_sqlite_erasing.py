"""What is forgotten or archived in, SQL and files of the archive out: steps of one transaction that the caller holds.

Law: a file of the archive is on the disk before a row names it, and is taken away only after the transaction (`sweep`).
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from dreamd.archives.base import Blocks, Place, in_blocks
from dreamd.errors import StoreCorrupt
from dreamd.memories import Memory
from dreamd.stores import _sqlite_rows as rows
from dreamd.stores._forgetting import back_again, marks_of, overwritten
from dreamd.stores._sql import listed
from dreamd.stores._tombstones import Tombstone
from dreamd.stores.base import Erased, FileVersion

PAGE = 2000  # memories that are archived at once


class Erasing:
    """`archive` gives the archive, which is loaded only where there is any."""

    def __init__(
        self, connection: sqlite3.Connection, sql: Mapping[str, str], archive: Callable[[], Blocks]
    ) -> None:
        self._connection = connection
        self._sql = sql
        self._archive = archive

    def _run(self, name: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> sqlite3.Cursor:
        return self._connection.execute(self._sql[name], parameters)

    # --- forgetting ---

    def erase(self, erased: Erased) -> None:
        self.bury(tombstones_of(erased))
        self._rewrite_files(erased.memories)
        for memory_id in erased.memories:
            self._run("erase_refs", (memory_id,))
            self._run("erase_memory", (memory_id,))
            self._run("erase_contradictions", (memory_id,))
        for line in erased.lines:
            self._run("erase_line", (line[0], line[1]))
        for held_id in erased.held:
            self._run("erase_held", (held_id,))
        for agent in erased.agents:
            self._run("erase_replies", (agent,))
        self._rewrite_versions(erased.versions)
        self._rewrite_states(erased.texts)

    def bury(self, tombstones: Iterable[Tombstone]) -> None:
        self._connection.executemany(self._sql["insert_tombstone"], tombstones)

    def admitted(self, memories: Sequence[Memory]) -> Sequence[Memory]:
        """Those that are nothing forgotten."""
        if not memories or not self._run("any_tombstone").fetchone()[0]:
            return memories
        marks = {mark for memory in memories for mark in marks_of(memory)}
        known = dict(self._run("tombstones", {"marks": listed(marks)}).fetchall())
        return [one for one in memories if not back_again(one, known, rows.micros(one.timestamp))]

    def _rewrite_versions(self, versions: Iterable[FileVersion]) -> None:
        for version in versions:
            self._run("rewrite_version", (version.content, version.sha256, version.note, version.version_id))

    def _rewrite_states(self, texts: Sequence[str]) -> None:
        for source_id, state in self._run("reader_states").fetchall() if texts else ():
            clean = overwritten(state, texts)
            if clean != state:
                self._run("rewrite_state", (clean, source_id))

    # --- the archive ---

    def restored(self, memory: Memory, block: int | None) -> Memory:
        """The memory with what it says, wherever that is."""
        if block is None or block < 0:
            return memory
        with suppress(FileNotFoundError):
            for row in self._run("block", (block,)).fetchall():
                return rows.with_text(memory, self._archive().read(Place(*row)).get(memory.memory_id))
        return rows.with_text(memory, None)

    def archive(self, after: int, before: str) -> tuple[int, int] | None:
        """Move a page of what comes behind `after` (seq): where it ended and how many, None when there was nothing."""
        found = self._run("to_archive", {"after": after, "before": before, "page": PAGE}).fetchall()
        if not found:
            return None
        blocks = in_blocks(rows.memory_of(row) for row in found)
        for block, place in zip(blocks, self._archive().write(blocks), strict=True):
            number = self._run("insert_block", place).lastrowid
            self._connection.executemany(self._sql["archive_memory"], [(number, one.seq) for one in block])
        return int(found[-1][0]), len(found)

    def sweep(self) -> None:
        """Take away the archive's files that hold nothing any more."""
        self._archive().sweep({file for (file,) in self._run("archive_files")})

    def _rewrite_files(self, ids: Sequence[str]) -> None:
        gone = set(ids)
        for (file,) in self._run("files_of", (listed(ids),)).fetchall():
            self._rewrite_file(file, gone)

    def _rewrite_file(self, file: str, gone: set[str]) -> None:
        """The same blocks in a new file, without these memories."""
        places = {number: Place(*place) for number, *place in self._run("blocks_of", (file,))}
        try:
            read = {number: self._archive().read(place) for number, place in places.items()}
        except FileNotFoundError as error:
            raise StoreCorrupt(
                f"the archive's file {file} is missing", hint="put it back from a back-up"
            ) from error
        left = {
            number: [one for one in read[number].values() if one.memory_id not in gone] for number in read
        }
        for number in [number for number, block in left.items() if not block]:
            self._run("drop_block", (number,))
            del left[number]
        if left:
            for number, place in zip(left, self._archive().write(list(left.values())), strict=True):
                self._run("move_block", (*place, number))


def tombstones_of(erased: Erased) -> list[Tombstone]:
    at = rows.micros(erased.at) or 0
    return [(mark, at) for mark in (*erased.memories, *erased.marks)]
