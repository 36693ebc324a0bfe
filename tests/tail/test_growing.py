"""Every JSONL sample, growing under the tailer in steps of 1, 7 and 4096 bytes, ends as its expected file says."""

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import zstandard

from dreamd.clock import StillClock
from dreamd.commands.read import item
from dreamd.stores.inmemory import InMemoryStore
from dreamd.tail import linelog, logfile
from dreamd.tail.reading import in_order, read_path
from dreamd.tail.steps import How
from dreamd.tail.sync import tailers
from tests.tail.house import parts_on, raw

SAMPLES = [
    "claude_code/01_main",
    "claude_code/02_compact_schedule",
    "codex/01_both_logs",
    "codex/03_old_bare",
    "openclaw/01_main",
    "generic/01_openai_messages",
]
FOLDERS = [
    "claude_code/03_fork_subagents",
    "codex/02_fork_replay",
    "openclaw/03_sqlite",
    "cowagent/01_current",
]


class Growing:
    """A log that grows from a sample, and a tailer over it that is begun anew now and then."""

    def __init__(self, sample: Path, folder: Path, clock: StillClock) -> None:
        self.data = sample.with_suffix(".jsonl").read_bytes()
        self.expected = json.loads(sample.with_suffix(".expected.json").read_text(encoding="utf-8"))
        self.log = folder / "logs" / f"{sample.name}.jsonl"
        self.log.parent.mkdir()
        self.store = InMemoryStore()
        self.parts = parts_on(folder, clock, self.log.parent, store=self.store, label="")
        self.tail = tailers(self.parts)["a"]

    def restart(self) -> None:
        self.tail = tailers(self.parts)["a"]

    def look(self, *, settle: bool = False) -> None:
        self.tail.advance(self.tail.find(), How(settle=settle))

    def append(self, start: int, end: int) -> None:
        with self.log.open("ab") as file:
            file.write(self.data[start:end])

    def items(self) -> list[dict[str, object]]:
        formats = {cursor.source_id: cursor.format for cursor in self.store.cursors("a")}
        return [item(memory) for memory in in_order(raw(self.store), formats)]


@pytest.fixture(params=SAMPLES)
def growing(request: pytest.FixtureRequest, shared: Path, tmp_path: Path, clock: StillClock) -> Growing:
    return Growing(shared / "samples" / request.param, tmp_path, clock)


@pytest.mark.shared
@pytest.mark.parametrize("step", [1, 7, 4096])
def test_a_growing_log_ends_as_expected(growing: Growing, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # chunks of the step's size, files grown by many steps: every edge is met without a pass for each byte
    monkeypatch.setattr(logfile, "CHUNK_BYTES", step)
    monkeypatch.setattr(linelog, "CHUNK_BYTES", step)
    draw = random.Random(step)
    at = 0
    while at < len(growing.data):
        grown = draw.randint(1, 1500)
        growing.append(at, at + grown)
        at += grown
        growing.look(settle=draw.random() < 0.2)
        if draw.random() < 0.3:
            growing.restart()
    growing.look(settle=True)
    assert growing.items() == growing.expected


def _renamed(growing: Growing) -> None:
    growing.log = growing.log.rename(growing.log.with_name("other.jsonl"))


def _copied(growing: Growing) -> None:
    copy = growing.log.with_name("copy")
    shutil.copyfile(growing.log, copy)
    copy.rename(growing.log)


def _compressed_and_back(growing: Growing) -> None:
    packed = growing.log.with_name(growing.log.name + ".zst")
    packed.write_bytes(zstandard.compress(growing.log.read_bytes()))
    growing.log.unlink()
    growing.look()
    growing.log.write_bytes(zstandard.decompress(packed.read_bytes(), max_output_size=1 << 24))
    packed.unlink()


def _shortened(growing: Growing) -> None:
    """The last line is taken away and written again."""
    data = growing.log.read_bytes()
    growing.log.write_bytes(data[: data[:-1].rfind(b"\n") + 1])
    growing.look()
    growing.log.write_bytes(data)


@pytest.mark.shared
@pytest.mark.parametrize("happening", [_renamed, _copied, _compressed_and_back, _shortened])
def test_whatever_happens_to_the_file_in_between_nothing_is_lost_or_doubled(
    growing: Growing, happening: Callable[[Growing], None]
) -> None:
    half = growing.data[: len(growing.data) // 2].rfind(b"\n") + 1
    growing.append(0, half)
    growing.look()
    happening(growing)
    growing.look()
    growing.append(half, len(growing.data))
    growing.look(settle=True)
    assert growing.items() == growing.expected


@pytest.mark.shared
@pytest.mark.parametrize("name", SAMPLES + FOLDERS)
def test_a_sample_read_whole_is_as_expected(name: str, shared: Path) -> None:
    sample = shared / "samples" / name
    path = sample if sample.is_dir() else sample.with_suffix(".jsonl")
    read = read_path(path, store=InMemoryStore(), zone=ZoneInfo("Asia/Shanghai"))
    expected = json.loads(sample.with_name(f"{sample.name}.expected.json").read_text(encoding="utf-8"))
    assert [item(memory) for memory in read] == expected
