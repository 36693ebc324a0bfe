"""The tailer against whatever may happen to logs: every complete record that was on disk at a sync is in the pool once."""

import hashlib
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import zstandard
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from dreamd.clock import StillClock
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail.steps import How
from dreamd.tail.sync import tailers
from tests.tail.house import line, parts_on, raw

files = st.integers(0, 3)


class Logs(RuleBasedStateMachine):
    """Each log holds numbered lines; a fork's numbers are those of its original until it goes its own way."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dreamd-model-"))
        (self.folder / "logs").mkdir()
        self.store = InMemoryStore()
        self.parts = parts_on(
            self.folder, StillClock(datetime(2026, 3, 2, tzinfo=UTC)), self.folder / "logs", store=self.store
        )
        self.tail = tailers(self.parts)["a"]
        self.number = 0
        self.seen: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.sync()
            shutil.rmtree(self.folder)

    def _paths(self) -> list[Path]:
        return sorted((self.folder / "logs").iterdir())

    def _path(self, which: int, *, plain: bool = True) -> Path | None:
        paths = [path for path in self._paths() if not plain or path.suffix != ".zst"]
        return paths[which % len(paths)] if paths else None

    def _line(self) -> bytes:
        self.number += 1
        return line(self.number)

    @rule(which=files)
    def create(self, which: int) -> None:
        (self.folder / "logs" / f"{which}-{self.number}.jsonl").write_bytes(self._line())

    @rule(which=files, count=st.integers(1, 3))
    def append(self, which: int, count: int) -> None:
        if path := self._path(which):
            with path.open("ab") as file:
                file.write(b"".join(self._line() for _ in range(count)))

    @rule(which=files, share=st.floats(0.1, 0.9))
    def write_a_part(self, which: int, share: float) -> None:
        if path := self._path(which):
            data = self._line()
            with path.open("ab") as file:
                file.write(data[: int(len(data) * share)])

    @rule(which=files)
    def write_without_newline(self, which: int) -> None:
        if path := self._path(which):
            with path.open("ab") as file:
                file.write(self._line()[:-1])

    @rule(which=files)
    def end_the_line(self, which: int) -> None:
        if path := self._path(which):
            with path.open("ab") as file:
                file.write(b"\n")

    @rule(which=files)
    def rename(self, which: int) -> None:
        if path := self._path(which, plain=False):
            self.number += 1
            suffix = ".jsonl.zst" if path.suffix == ".zst" else ".jsonl"
            path.rename(path.with_name(f"renamed-{self.number}{suffix}"))

    @rule(which=files)
    def rotate(self, which: int) -> None:
        if path := self._path(which):
            self.number += 1
            path.rename(path.with_name(f"rotated-{self.number}.jsonl"))
            path.write_bytes(self._line())

    @rule(which=files)
    def replace_by_a_copy(self, which: int) -> None:
        if path := self._path(which, plain=False):
            copy = self.folder / "copy"
            shutil.copyfile(path, copy)
            copy.rename(path)

    @rule(which=files)
    def cut_the_last_line(self, which: int) -> None:
        if path := self._path(which):
            data = path.read_bytes()
            with path.open("r+b") as file:
                file.truncate(data.rstrip(b"\n").rfind(b"\n") + 1)

    @rule(which=files)
    def rewrite_in_place(self, which: int) -> None:
        if path := self._path(which):
            path.write_bytes(self._line() + path.read_bytes())

    @rule(which=files)
    def delete(self, which: int) -> None:
        if path := self._path(which, plain=False):
            path.unlink()

    @rule(which=files, keep=st.booleans())
    def compress(self, which: int, keep: bool) -> None:
        if path := self._path(which):
            path.with_name(path.name + ".zst").write_bytes(zstandard.compress(path.read_bytes()))
            if not keep:
                path.unlink()

    @rule(which=files)
    def uncompress(self, which: int) -> None:
        paths = [path for path in self._paths() if path.suffix == ".zst"]
        if paths:
            path = paths[which % len(paths)]
            path.with_suffix("").write_bytes(zstandard.decompress(path.read_bytes(), max_output_size=1 << 20))
            path.unlink()

    @rule(which=files)
    def fork(self, which: int) -> None:
        if path := self._path(which):
            self.number += 1
            shutil.copyfile(path, path.with_name(f"fork-{self.number}.jsonl"))

    @rule()
    def restart(self) -> None:
        self.tail = tailers(self.parts)["a"]

    @rule()
    def look_without_settling(self) -> None:
        self.tail.advance(self.tail.find(), How())

    @rule()
    def sync(self) -> None:
        """All that is whole on disk must be in the pool; nothing is there twice; nothing was made up."""
        self.tail.advance(self.tail.find(), How(settle=True))
        self.seen |= self._on_disk()
        pool = [memory.content.split()[1] for memory in raw(self.store)]
        assert len(pool) == len(set(pool))
        assert self.seen <= set(pool)
        assert {int(number) for number in pool} <= set(range(1, self.number + 1))

        self._spans_resolve()

    def _spans_resolve(self) -> None:
        """A record that still stands in its source's file stands where its span says."""
        paths = {cursor.source_id: Path(cursor.path) for cursor in self.store.cursors("a")}
        for memory in raw(self.store):
            path, span = paths[memory.span.source_id], memory.span
            data = _content(path) if path.exists() else b""
            if self._whole(int(memory.content.split()[1]), data):
                there = data[span.offset : span.offset + span.length]
                assert hashlib.sha256(there).digest() == span.sha256

    def _on_disk(self) -> set[str]:
        found: set[str] = set()
        for path in self._paths():
            if path.suffix == ".zst" and path.with_suffix("").exists():
                continue
            data = _content(path)
            found |= {str(number) for number in range(1, self.number + 1) if self._whole(number, data)}
        return found

    def _whole(self, number: int, data: bytes) -> bool:
        return any(part == line(number)[:-1] for part in data.split(b"\n"))


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return zstandard.decompress(data, max_output_size=1 << 20) if path.suffix == ".zst" else data


TestLogs = Logs.TestCase
TestLogs.settings = settings(
    max_examples=60, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
