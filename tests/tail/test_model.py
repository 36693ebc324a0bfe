"""The tailer against whatever may happen to logs: every complete record that was on disk at a sync is in the pool once.

`DREAMD_MODEL_EXAMPLES` sets how many histories are tried.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import zstandard
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from dreamd.clock import StillClock
from dreamd.errors import StoreBusy
from dreamd.stores.base import Changes, Written
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail.sources import Found
from dreamd.tail.steps import How
from dreamd.tail.sync import tailers
from tests.tail.house import line, parts_on, raw

EXAMPLES = int(os.environ.get("DREAMD_MODEL_EXAMPLES", "200"))
_FIRST = 1000  # all numbers have as many digits, so all lines are equally long
_HEADER = b'{"type":"summary","summary":"' + b"x" * 1200 + b'"}\n'  # fills what is hashed of a head
_SAME_END = b', "todos": "' + b"." * 80 + b'"}\n'  # more than 64 bytes

files = st.integers(0, 3)


class FailingStore(InMemoryStore):
    """Fails at a write to come, before it is done or after."""

    def __init__(self) -> None:
        super().__init__()
        self.fail_in = 0
        self.done = False

    def write(self, changes: Changes) -> Written:
        self.fail_in -= 1
        if self.fail_in:
            return super().write(changes)
        if self.done:
            super().write(changes)
        raise StoreBusy("as the test wants it")


class Logs(RuleBasedStateMachine):
    """Each log holds numbered lines; a fork's numbers are those of its original until it goes its own way."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dreamd-model-"))
        self.logs, self.aside = self.folder / "logs", self.folder / "aside"
        self.logs.mkdir()
        self.aside.mkdir()
        self.store = FailingStore()
        self.clock = StillClock(datetime.now(UTC))
        self.parts = parts_on(self.folder, self.clock, self.logs, store=self.store)
        self.tail = tailers(self.parts)["a"]
        self.number = _FIRST
        self.names = count()
        self.seen: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            try:
                self.sync()
            finally:
                shutil.rmtree(self.folder)

    # --- what there is -----------------------------------------------------------------------------------------

    def _paths(self) -> list[Path]:
        return sorted(path for path in self.logs.iterdir() if path.exists())

    def _path(self, which: int, *, plain: bool = True) -> Path | None:
        paths = [path for path in self._paths() if not plain or path.suffix != ".zst"]
        return paths[which % len(paths)] if paths else None

    def _new_path(self, name: str, suffix: str = "") -> Path:
        return self.logs / f"{name}-{next(self.names)}.jsonl{suffix}"

    def _lines(self, how_many: int = 1) -> bytes:
        first, self.number = self.number + 1, self.number + how_many
        return b"".join(_line(number) for number in range(first, self.number + 1))

    # --- writing -----------------------------------------------------------------------------------------------

    @rule(which=files, header=st.booleans(), lines=st.integers(1, 3))
    def create(self, which: int, header: bool, lines: int) -> None:
        path = self._new_path(str(which))
        path.write_bytes(_HEADER * header + self._lines(lines))

    @rule(which=files, lines=st.integers(1, 3))
    def append(self, which: int, lines: int) -> None:
        if path := self._path(which):
            _append(path, self._lines(lines))

    @rule(which=files, share=st.floats(0.1, 0.9))
    def write_a_part(self, which: int, share: float) -> None:
        if path := self._path(which):
            data = self._lines()
            _append(path, data[: int(len(data) * share)])

    @rule(which=files)
    def write_without_newline(self, which: int) -> None:
        if path := self._path(which):
            _append(path, self._lines()[:-1])

    @rule(which=files)
    def end_the_line(self, which: int) -> None:
        if path := self._path(which):
            _append(path, b"\n")

    # --- other names -------------------------------------------------------------------------------------------

    @rule(which=files)
    def rename(self, which: int) -> None:
        if path := self._path(which, plain=False):
            path.rename(self._new_path("renamed", path.suffix.replace(".jsonl", "")))

    @rule(which=files, onto=files)
    def rename_over_another(self, which: int, onto: int) -> None:
        path, other = self._path(which), self._path(onto)
        if path and other:
            path.rename(other)

    @rule(which=files)
    def rotate(self, which: int) -> None:
        if path := self._path(which):
            path.rename(self._new_path("rotated"))
            path.write_bytes(self._lines())

    @rule(which=files, begun_anew=st.booleans())
    def copy_and_truncate(self, which: int, begun_anew: bool) -> None:
        if path := self._path(which):
            shutil.copyfile(path, self._new_path("copied"))
            path.write_bytes(self._lines() if begun_anew else b"")

    @rule(which=files, times=st.booleans())
    def replace_by_a_copy(self, which: int, times: bool) -> None:
        if path := self._path(which, plain=False):
            copy = self.folder / "copy"
            (shutil.copy2 if times else shutil.copyfile)(path, copy)
            copy.rename(path)

    @rule(which=files, hard=st.booleans())
    def link(self, which: int, hard: bool) -> None:
        if path := self._path(which):
            link = self._new_path("link")
            if hard:
                link.hardlink_to(path)
            else:
                link.symlink_to(path.resolve())

    @rule(which=files)
    def fork(self, which: int) -> None:
        if path := self._path(which):
            shutil.copyfile(path, self._new_path("fork"))

    # --- gone, and back ----------------------------------------------------------------------------------------

    @rule(which=files)
    def delete(self, which: int) -> None:
        if path := self._path(which, plain=False):
            path.unlink()

    @rule(which=files)
    def put_aside(self, which: int) -> None:
        if path := self._path(which, plain=False):
            shutil.copyfile(path, self.aside / path.name)
            path.unlink()

    @rule(which=files, same_name=st.booleans())
    def put_back(self, which: int, same_name: bool) -> None:
        if kept := sorted(self.aside.iterdir()):
            path = kept[which % len(kept)]
            suffix = path.suffix.replace(".jsonl", "")
            path.rename(self.logs / path.name if same_name else self._new_path("back", suffix))

    @rule(which=files, same_name=st.booleans(), lines=st.integers(1, 3), header=st.booleans())
    def reuse_an_inode(self, which: int, same_name: bool, lines: int, header: bool) -> None:
        """As when a log is deleted and another made; some file systems hand out the same number at once."""
        if path := self._path(which):
            path.write_bytes(_HEADER * header + self._lines(lines))
            if not same_name:
                path.rename(self._new_path("reused"))

    # --- rewriting ---------------------------------------------------------------------------------------------

    @rule(which=files)
    def cut_the_last_line(self, which: int) -> None:
        if path := self._path(which):
            data = path.read_bytes()
            os.truncate(path, data.rstrip(b"\n").rfind(b"\n") + 1)

    @rule(which=files)
    def insert_before(self, which: int) -> None:
        if path := self._path(which):
            path.write_bytes(self._lines() + path.read_bytes())

    @rule(which=files, in_place=st.booleans(), times=st.booleans(), last=st.booleans())
    def rewrite_at_the_same_size(self, which: int, in_place: bool, times: bool, last: bool) -> None:
        """The last line or all lines are others; maybe the times of the file are put back as they were."""
        if path := self._path(which):
            status, lines = path.stat(), path.read_bytes().splitlines(keepends=True)
            whole = [at for at, one in enumerate(lines) if len(one) == len(_line(_FIRST))]
            for at in whole[-1:] if last else whole:
                lines[at] = self._lines()
            target = path if in_place else self.folder / "new"
            target.write_bytes(b"".join(lines))
            if times:
                os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
            target.rename(path)

    # --- compressing -------------------------------------------------------------------------------------------

    @rule(which=files, keep=st.booleans(), begun_anew=st.booleans())
    def compress(self, which: int, keep: bool, begun_anew: bool) -> None:
        if path := self._path(which):
            path.with_name(path.name + ".zst").write_bytes(zstandard.compress(path.read_bytes()))
            if not keep:
                path.unlink()
                if begun_anew:
                    path.write_bytes(self._lines())

    @rule(which=files, keep=st.booleans())
    def uncompress(self, which: int, keep: bool) -> None:
        if paths := [path for path in self._paths() if path.suffix == ".zst"]:
            path = paths[which % len(paths)]
            path.with_suffix("").write_bytes(_content(path))
            if not keep:
                path.unlink()

    # --- the tailer --------------------------------------------------------------------------------------------

    def _advance(self, found: Sequence[Found], how: How) -> None:
        self.clock.at += timedelta(milliseconds=1)
        self.tail.advance(found, how)

    @rule()
    def restart(self) -> None:
        self.tail = tailers(self.parts)["a"]

    @rule(settle=st.booleans())
    def look(self, settle: bool) -> None:
        self._advance(self.tail.find(), How(settle=settle))

    @rule(which=files)
    def look_at_one(self, which: int) -> None:
        """As the watcher has it."""
        if path := self._path(which, plain=False):
            self._advance(self.tail.near([str(path)]), How())

    @rule()
    def settle_the_quiet(self) -> None:
        self._advance(self.tail.quiet_for(0), How(settle=True))

    @rule(after=st.integers(0, 3))
    def stop_early(self, after: int) -> None:
        asked = count()
        self._advance(self.tail.find(), How(stopping=lambda: next(asked) >= after))

    @rule(at=st.integers(1, 4), done=st.booleans(), settle=st.booleans(), dead=st.booleans())
    def fail_in_a_look(self, at: int, done: bool, settle: bool, dead: bool) -> None:
        """The disk, or the process if `dead`, fails at some write."""
        self.store.fail_in, self.store.done = at, done
        try:
            self._advance(self.tail.find(), How(settle=settle))
        except StoreBusy:
            if dead:
                self.restart()
        self.store.fail_in = 0

    @rule()
    def sync(self) -> None:
        """All that is whole on disk must be in the pool; nothing is there twice; nothing was made up."""
        self._advance(self.tail.find(), How(settle=True))
        self.seen |= self._on_disk()
        pool = [memory.content.split()[1] for memory in raw(self.store)]
        assert len(pool) == len(set(pool))
        assert self.seen <= set(pool)
        assert {int(number) for number in pool} <= set(range(_FIRST + 1, self.number + 1))
        self._spans_resolve()

    # --- what must be so ---------------------------------------------------------------------------------------

    def _spans_resolve(self) -> None:
        """A record that still stands in its source's file stands where its span says."""
        cursors = sorted(self.store.cursors("a"), key=lambda cursor: cursor.read_at)
        there_now = {
            cursor.path: cursor.source_id for cursor in cursors
        }  # another may have been renamed over it
        contents = {one: _content(Path(path)) for path, one in there_now.items() if Path(path).exists()}
        for memory in raw(self.store):
            span = memory.span
            data = contents.get(span.source_id, b"")
            if memory.content.split()[1] in _whole(data):
                there = data[span.offset : span.offset + span.length]
                assert hashlib.sha256(there).digest() == span.sha256

    def _on_disk(self) -> set[str]:
        return {number for path in self._paths() if not _is_copy(path) for number in _whole(_content(path))}


def _line(number: int) -> bytes:
    return line(number).removesuffix(b"}\n") + _SAME_END


def _whole(data: bytes) -> set[str]:
    """The numbers of the lines that are whole."""
    found = (part.partition(b'"content": "text ')[2][:4].decode() for part in data.split(b"\n"))
    return {number for number in found if number and _line(int(number))[:-1] in data.split(b"\n")}


def _is_copy(path: Path) -> bool:
    """A compressed log beside a plain one that begins with it: the plain one counts."""
    plain = path.with_suffix("")
    return path.suffix == ".zst" and plain.exists() and _content(plain).startswith(_content(path))


def _append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return zstandard.decompress(data, max_output_size=1 << 20) if path.suffix == ".zst" else data


TestLogs = Logs.TestCase
TestLogs.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
