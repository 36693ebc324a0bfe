"""All logs of one agent: found, recognised, and what changed in them read on into the pool.

Blocking; one thread at a time. The file system may change under it at any moment: whatever it meets is put right by
the next pass.
"""

import os
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dreamd.errors import LogUnreadable, StoreConflict
from dreamd.events import (
    SOURCE_FOUND,
    SOURCE_MOVED,
    SOURCE_NOT_UNDERSTOOD,
    SOURCE_READABLE,
    SOURCE_UNREADABLE,
)
from dreamd.formats.base import Format
from dreamd.records import LEFT_OUT
from dreamd.stores.base import Cursor
from dreamd.tail import rows
from dreamd.tail.catalogue import Catalogue
from dreamd.tail.condition import Condition
from dreamd.tail.ingest import OWN, remembered
from dreamd.tail.logfile import COMPRESSED, Stamp, cut_off, stamp
from dreamd.tail.opening import Claim, FileLook, claim, open_source
from dreamd.tail.sources import Found, Own, Part, Place, scan
from dreamd.tail.steps import How, OpenSource, Step, Tools

_OPEN_SOURCES = 64
_TRIES = 50  # against another process reading the same log; each lost try is progress made by the other
_WAL = re.compile(r"-(?:wal|shm|journal)$")
_CLOCK_GRAIN_S = 1.0
_PUZZLING_LINES = 50  # so many in a row without anything understood
_LEFT_OUT = LEFT_OUT | {OWN}


class Tally(Struct):
    """What a pass over an agent's logs did. `skipped` by kind; `unreadable` path -> reason."""

    files: int = 0
    read: int = 0
    lines: int = 0
    records: int = 0
    duplicates: int = 0
    amended: int = 0
    unknown: int = 0
    truncated: int = 0
    skipped: dict[str, int] = {}
    unreadable: dict[str, str] = {}
    not_understood: list[str] = []

    def add(self, step: Step) -> None:
        self.read += step.read
        self.lines += step.lines
        self.records += step.written.stored
        self.duplicates += step.written.duplicates
        self.amended += step.written.amended
        self.unknown += step.written.unknown
        self.truncated += step.truncated
        self.skipped = dict(Counter(self.skipped) + Counter(step.skipped))

    @property
    def condition(self) -> Condition:
        return Condition(self.unreadable, self.not_understood)


def _ignore(_path: str, _reason: str) -> None:
    """The full scan tells of what cannot be read."""


def _nobody(_step: Step) -> None:
    pass


class Tailer:
    def __init__(self, tools: Tools, where: Sequence[Place], own: Own) -> None:
        self._tools = tools
        self._where = where
        self._own = own
        self._known = Catalogue(tools.store.cursors(tools.agent.agent_id))
        self._formats: dict[str, Format] = {one.name: one for place in where for one in place.formats}
        self._with_rows = {name for name, one in self._formats.items() if one.family == "rows"}
        self._seen: dict[str, int] = {}  # the marks of each file when it was last read to its end
        self._unclaimed: dict[str, Stamp] = {}
        self._open: OrderedDict[str, OpenSource] = OrderedDict()
        self._bad_folders: dict[str, str] = {}
        self._bad_files: dict[str, str] = {}
        self._puzzling: set[str] = set()
        self._found: dict[str, Found] = {}  # path -> one that was found in the same way: small for thousands
        self._ways: dict[tuple[str, tuple[Format, ...], bool], Found] = {}
        self._unsettled: dict[str, tuple[Found, float]] = {}  # read at, monotonic

    @property
    def agent_id(self) -> str:
        return self._tools.agent.agent_id

    @property
    def places(self) -> Sequence[Place]:
        return self._where

    @property
    def unsettled(self) -> bool:
        return bool(self._unsettled)

    def find(self) -> list[Found]:
        """Every log there is now."""
        bad: dict[str, str] = {}
        found = list(scan(self._where, self._own, bad.__setitem__))
        self._found = {one.path: self._like(one) for one in found}
        self._bad_files = {path: why for path, why in self._bad_files.items() if path in self._found}
        self._tell_of_folders(bad)
        return found

    def near(self, paths: Iterable[str]) -> list[Found]:
        """The logs among paths that changed, and those in the folders of the other ones."""
        found: dict[str, Found] = {}
        parts: set[Part] = set()
        for path in paths:
            name = _WAL.sub("", path)
            like, cursor, now = self._found.get(name), self._known.at(name), stamp(name)
            if like and cursor and now and now.inode == cursor.fingerprint.inode:
                found[name] = like._replace(path=name, stamp=now)
            elif os.path.isdir(path):  # noqa: PTH112
                parts.add(Part(path, deep=True))
            else:
                parts.add(Part(os.path.dirname(path), deep=False))  # noqa: PTH120
        for part in parts:
            found |= {one.path: one for one in scan(self._where, self._own, _ignore, part)}
        self._found |= {path: self._like(one) for path, one in found.items()}
        return list(found.values())

    def near_known(self, paths: Iterable[str]) -> list[Found]:
        """Of `near`, the logs that are being followed already: those nobody else may have to be read before."""
        known = [path for path in paths if self._follows(_WAL.sub("", path))]
        return [one for one in self.near(known) if self._follows(one.path)]

    def _follows(self, path: str) -> bool:
        return path in self._found and self._known.at(path) is not None

    def _like(self, one: Found) -> Found:
        return self._ways.setdefault((one.root, one.formats, one.forced), one)

    def quiet_for(self, seconds: float) -> list[Found]:
        """Logs that were read, not settled yet, and have not grown for a while; what has taken their place is not quiet."""
        before = self._tools.clock.monotonic() - seconds
        due = [(one, stamp(one.path)) for one, at in self._unsettled.values() if at <= before]
        for one, now in due:
            if now is None or now.inode != one.stamp.inode:
                del self._unsettled[one.path]
        return [one._replace(stamp=now) for one, now in due if now and one.path in self._unsettled]

    def backlog(self) -> int:
        """Bytes not read yet; compressed ones count as they lie there."""
        cursors = ((found.stamp.size, self._known.at(found.path)) for found in self.find())
        return sum(max(0, size - (cursor.offset if cursor else 0)) for size, cursor in cursors)

    def advance(self, found: Sequence[Found], how: How, told: Callable[[Step], None] = _nobody) -> Tally:
        """Read on in those of the logs found that changed; every finished step is told."""
        tally = Tally(files=len(found))
        for one, cursor in self._changed(found, how):
            if how.stopping():
                break
            how.between(one.path)
            self._read(one, cursor, how, (tally.add, told))
        tally.unreadable = self._bad_folders | self._bad_files
        tally.not_understood = sorted(self._puzzling)
        return tally

    # --- which of them ----------------------------------------------------------------------------------------

    def _changed(self, found: Sequence[Found], how: How) -> list[tuple[Found, Cursor]]:
        """Those to be read, with their cursors: known logs first, new ones in the order of who owns what (J21)."""
        inodes = {(one.stamp.device, one.stamp.inode): one.path for one in found}
        known: list[tuple[Found, Cursor]] = []
        new: list[Found] = []
        for one in found:
            if self._is_as_before(one) and not (how.settle and one.path in self._unsettled):
                continue
            cursor = self._heir(FileLook(one, inodes, self._known), one)
            if cursor is None:
                new.append(one)
            elif cursor != "ignored" and not self._is_at_rest(one, cursor, how):
                known.append((one, self._claimed_again(one, cursor)))
                continue
            if how.settle:
                self._unsettled.pop(one.path, None)
        return known + self._ordered(new)

    def _is_as_before(self, one: Found) -> bool:
        return (
            not one.stamp.size
            or self._unclaimed.get(one.path) == one.stamp
            or self._seen.get(one.path) == self._marks(one)
        )

    def _marks(self, one: Found) -> int:
        """What changes when the source changes, hashed: of a SQLite store the write-ahead log counts too.

        And of a compressed log that is no source the plain one, which may cease to hold the same.
        """
        cursor = self._known.at(one.path)
        if cursor is None and one.path.endswith(COMPRESSED):
            return hash((one.stamp, stamp(one.path.removesuffix(COMPRESSED))))
        has_rows = cursor and cursor.format in self._with_rows
        return hash(rows.stamps(one.path) if has_rows else one.stamp)

    def _heir(self, look: FileLook, one: Found) -> Cursor | Literal["ignored"] | None:
        marks = self._marks(one)
        try:
            cursor = self._known.heir(one, look)
        except LogUnreadable as error:
            self._failed(one.path, error)
            return "ignored"
        if cursor == "ignored" and one.path.endswith(COMPRESSED):
            self._seen[one.path] = marks  # not compared again with the plain one
        if isinstance(cursor, Cursor):
            if (before := self._known.path_of(cursor)) != one.path:
                self._tools.emit(SOURCE_MOVED, agent=cursor.agent, path=one.path, before=before)
            self._known.put(cursor, one.path)
        return cursor

    def _is_at_rest(self, one: Found, cursor: Cursor, how: How) -> bool:
        """Nothing can have happened since the cursor was stored: saves opening thousands of files at start."""
        known, now = cursor.fingerprint, one.stamp
        unchanged = (
            cursor.path == one.path
            and (known.device, known.inode, cursor.offset) == (now.device, now.inode, now.size)
            and cursor.read_at is not None
            and now.touched_ns < (cursor.read_at.timestamp() - _CLOCK_GRAIN_S) * 1e9
            and (not how.settle or remembered(self._whole(cursor).state).settled == cursor.offset)
        )
        if unchanged:
            self._seen[one.path] = self._marks(one)
        return unchanged

    def _ordered(self, new: Sequence[Found]) -> list[tuple[Found, Cursor]]:
        claims = sorted(found for one in new if (found := self._claim(one)))
        return [(one.found, self._new_cursor(one)) for one in claims]

    def _claim(self, one: Found) -> Claim | None:
        try:
            claimed = claim(one)
        except LogUnreadable as error:
            self._failed(one.path, error)
            return None
        if claimed is None:
            self._unclaimed[one.path] = one.stamp
            self._came_through(one.path)
        return claimed

    def _claimed_again(self, one: Found, cursor: Cursor) -> Cursor:
        """A log of which nothing was understood may have shown too little of itself when it was claimed."""
        if cursor.records or cursor.format in self._with_rows:
            return cursor
        claimed = self._claim(one)
        if claimed is None or claimed.format_name == cursor.format:
            return cursor
        self._open.pop(cursor.source_id, None)
        return replace(
            cursor,
            format=claimed.format_name,
            offset=0,
            tail_length=0,
            tail_sha256=b"",
            state=b"",
            state_offset=0,
        )

    def _new_cursor(self, one: Claim) -> Cursor:
        agent = self.agent_id
        source_id = self._known.new_id(agent, one.path)
        cursor = Cursor(source_id=source_id, agent=agent, path=one.path, format=one.format_name, version=0)
        self._known.put(cursor, one.path)
        self._tools.emit(SOURCE_FOUND, agent=agent, path=one.path, format=one.format_name)
        return cursor

    # --- reading one ------------------------------------------------------------------------------------------

    def _read(self, one: Found, cursor: Cursor, how: How, told: Sequence[Callable[[Step], object]]) -> None:
        before, lines, items, skipped = self._marks(one), 0, 0, set[str]()
        age_s = self._tools.clock.now().timestamp() - one.stamp.touched_ns / 1e9
        how = how._replace(settle=how.settle or age_s > how.rest_s)
        try:
            for step in self._steps(one, cursor, how):
                lines, items = lines + step.lines, items + step.items
                skipped.update(step.skipped)
                for tell in told:
                    tell(step)
        except LogUnreadable as error:
            self._unsettled.pop(one.path, None)
            self._failed(one.path, error)
            return
        self._came_through(one.path)
        if items:
            self._puzzling.discard(one.path)
        elif one.path not in self._puzzling and _is_puzzling(cursor, lines, skipped, at_rest=how.settle):
            self._wonder(one.path, lines)
        if how.stopping():
            return
        self._seen[one.path] = before
        if how.settle:
            self._unsettled.pop(one.path, None)
        else:
            self._unsettled[one.path] = (one, self._tools.clock.monotonic())

    def _steps(self, one: Found, cursor: Cursor, how: How) -> Iterator[Step]:
        for _ in range(_TRIES):
            source = self._opened(one, cursor)
            try:
                for step in source.read(one.path, how):
                    self._known.put(source.cursor, one.path)
                    yield step
            except StoreConflict:
                cursor = self._reloaded(cursor)
            else:
                self._keep_open(source)
                return

    def _opened(self, one: Found, cursor: Cursor) -> OpenSource:
        """Taken out of the open ones: it goes back only when all went well."""
        source = self._open.pop(cursor.source_id, None)
        if source is not None:
            return source
        cursor = self._whole(cursor)
        if cursor.format not in self._formats:
            raise LogUnreadable(f"it was read as {cursor.format!r}, which is not configured now")
        return open_source(self._tools, cursor, self._formats[cursor.format], one, self._known.paths)

    def _keep_open(self, source: OpenSource) -> None:
        self._open[source.cursor.source_id] = source
        if len(self._open) > _OPEN_SOURCES:
            self._open.popitem(last=False)

    def _whole(self, cursor: Cursor) -> Cursor:
        return self._reloaded(cursor) if self._known.is_light(cursor) else cursor

    def _reloaded(self, cursor: Cursor) -> Cursor:
        """As it is in the store: another process was faster, or its state was left there."""
        stored = self._tools.store.cursors(self.agent_id, cursor.source_id)
        return stored[0] if stored else replace(cursor, version=0, offset=0, state=b"", state_offset=0)

    # --- what to tell -----------------------------------------------------------------------------------------

    def _failed(self, path: str, error: LogUnreadable) -> None:
        reason = error.what.removeprefix(f"{path}: ")
        if self._bad_files.get(path) != reason:
            self._tools.emit(SOURCE_UNREADABLE, agent=self.agent_id, path=path, reason=reason)
        self._bad_files[path] = reason

    def _came_through(self, path: str) -> None:
        """It could be read to its end, wherever that is."""
        if cut_off(path):
            self._failed(path, LogUnreadable(f"{path}: cut off; what comes before the cut is read"))
        elif self._bad_files.pop(path, None):
            self._tools.emit(SOURCE_READABLE, agent=self.agent_id, path=path)

    def _tell_of_folders(self, bad: dict[str, str]) -> None:
        agent = self.agent_id
        for path in bad.keys() - self._bad_folders.keys():
            self._tools.emit(SOURCE_UNREADABLE, agent=agent, path=path, reason=bad[path])
        for path in self._bad_folders.keys() - bad.keys():
            self._tools.emit(SOURCE_READABLE, agent=agent, path=path)
        self._bad_folders = bad

    def _wonder(self, path: str, lines: int) -> None:
        self._puzzling.add(path)
        self._tools.emit(SOURCE_NOT_UNDERSTOOD, agent=self.agent_id, path=path, lines=lines)


def _is_puzzling(before: Cursor, lines: int, skipped: set[str], *, at_rest: bool) -> bool:
    """It grew and nothing came of it: not for many lines now, or in a new log of any that is not known to say nothing.

    A log begins with lines of its writer's own: before it is at rest a few of them are no reason to wonder. A format that
    changed may look like much that says nothing (FIELD-NOTES 1.1 no. 16).
    """
    if before.records:
        return lines >= _PUZZLING_LINES
    so_far, kinds = lines + sum(before.skipped.values()), skipped.union(before.skipped)
    return so_far >= _PUZZLING_LINES or (at_rest and so_far > 0 and not kinds <= _LEFT_OUT)
