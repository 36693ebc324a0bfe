"""Append to queryable: how long after an append its record is in the pool, with many watched files; idle CPU and memory.

    python -m tests.benchmarks.latency [--files N] [--appends N] [--idle SECONDS]

The follower runs in this process on its own event loop; a child process appends to random files.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
from anyio import to_thread

from dreamd.clock import SystemClock
from dreamd.config import Config
from dreamd.events import silent
from dreamd.parts import Parts
from dreamd.sections import Agent
from dreamd.stores.base import Changes, Store, Written
from dreamd.stores.sqlite import OPEN
from dreamd.tail.follower import follow


def record(number: int, text: str) -> bytes:
    whole = {
        "parentUuid": None, "sessionId": f"s{number}", "cwd": "/x", "type": "user",
        "message": {"role": "user", "content": text}, "uuid": f"u{number}-{text}", "timestamp": "2026-03-01T10:00:00.000Z",
    }  # fmt: skip
    return json.dumps(whole).encode() + b"\n"


def path_of(folder: Path, number: int) -> Path:
    return folder / f"project{number // 5}" / f"{number}.jsonl"


def make_logs(folder: Path, files: int) -> None:
    for number in range(files):
        path = path_of(folder, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(record(number, "begin"))


def write(folder: Path, files: int, appends: int) -> None:
    """In the child: appends whose text is the time at which they were written."""
    draw = random.Random(3)
    for _ in range(appends):
        time.sleep(0.02)
        number = draw.randrange(files)
        with path_of(folder, number).open("ab") as file:
            file.write(record(number, f"at {time.monotonic_ns()}"))


class Timed:
    """The store, noting when each record that tells its time became queryable."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waits_ms: list[float] = []
        self.records = 0

    def write(self, changes: Changes) -> Written:
        written = self._store.write(changes)
        now = time.monotonic_ns()
        self.records += written.stored
        for memory in changes.memories:
            if memory.content.startswith("at "):
                self.waits_ms.append((now - int(memory.content[3:])) / 1e6)
        return written

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def rss_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


async def measure(folder: Path, asked: argparse.Namespace, store: Timed) -> None:
    agent = Agent(format="claude_code", logs=(str(folder / "logs"),), zone="UTC")
    parts = Parts(
        config=Config(agents={"a": agent}),
        state=folder / "state",
        store=store,
        clock=SystemClock(),
        emit=silent,
    )
    async with anyio.create_task_group() as tasks:
        ready, begun = anyio.Event(), time.monotonic()
        tasks.start_soon(follow, parts, ready)
        await ready.wait()
        print(f"watching after    {time.monotonic() - begun:8.2f} s")
        while store.records < asked.files:  # noqa: ASYNC110 - the store tells nobody
            await anyio.sleep(0.05)
        print(f"all read after    {time.monotonic() - begun:8.2f} s  (first time)")
        await anyio.sleep(5)  # settling
        before = cpu_s()
        await anyio.sleep(asked.idle)
        print(f"idle CPU          {(cpu_s() - before) / asked.idle:8.2%} of a core, RSS {rss_mib():.1f} MiB")
        child = [sys.executable, "-m", "tests.benchmarks.latency", "--write", str(folder / "logs")]
        child += ["--files", str(asked.files), "--appends", str(asked.appends)]
        await to_thread.run_sync(subprocess.run, child)
        await anyio.sleep(1)
        waits = sorted(store.waits_ms)
        p50, p99 = (waits[int(len(waits) * share)] for share in (0.5, 0.99))
        print(f"append to pool    p50 {p50:.1f} ms, p99 {p99:.1f} ms, worst {waits[-1]:.1f} ms")
        print(f"missed            {asked.appends - len(waits)} of {asked.appends}")
        tasks.cancel_scope.cancel()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--files", type=int, default=2000)
    options.add_argument("--appends", type=int, default=300)
    options.add_argument("--idle", type=float, default=5.0, help="seconds to watch it idle")
    options.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.write:
        write(asked.write, asked.files, asked.appends)
        return
    with tempfile.TemporaryDirectory(prefix="dreamd-bench-") as temporary:
        folder = Path(temporary)
        make_logs(folder / "logs", asked.files)
        (folder / "state").mkdir()
        print(f"{asked.files} files in {asked.files // 5} folders")
        anyio.run(measure, folder, asked, Timed(OPEN(folder / "state")))


if __name__ == "__main__":
    main()
