"""What reading logs costs the streams that pass the gateway: the lag of their chunks, with a long log being read and without.

    python -m tests.benchmarks.chunk_lag [--rounds N] [--seconds S] [--streams N]

A whole daemon in its own process; its streams pause 10 ms between chunks. Each round measures without, then with: a new
log, too long to be read in the time, is moved among the agent's. The figure is the ratio of the 99th percentiles, over
all rounds; the machine should have nothing else to do.
"""

import argparse
import os
import random
import shutil
import socket
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from dreamd.stores.base import Store
from dreamd.stores.sqlite import OPEN
from tests.benchmarks.gateway import PATH, Upstream, free_port, load, quantile, started
from tests.benchmarks.ingest import lines

CONFIG = """
[state]
dir = "{folder}/state"
[agents.a]
format = "claude_code"
logs = ["{folder}/logs"]
[gateway]
listen = "127.0.0.1:{port}"
upstreams = {{up = "http://127.0.0.1:{upstream}"}}
[http]
listen = ""
"""
GOAL = 1.25


def make_log(path: Path, number: int, megabytes: int) -> int:
    draw, size = random.Random(number), 0
    with path.open("wb") as file:
        for line in lines(draw):
            size += file.write(line)
            if size >= megabytes * 1_000_000:
                break
    return size


class Daemon:
    """One that runs, its logs, and how far it has read them."""

    def __init__(self, stack: ExitStack, folder: Path, upstream: int) -> None:
        self.port = free_port()
        self._logs = folder / "logs"
        self._logs.mkdir()
        (folder / "state").mkdir()
        config = folder / "dreamd.toml"
        config.write_text(CONFIG.format(folder=folder, port=self.port, upstream=upstream))
        words = [sys.executable, "-m", "dreamd", "--config", str(config), "run"]
        self.pid = started(stack, words, None, self.port)
        self._store: Store = OPEN(folder / "state")
        stack.callback(self._store.close)
        self._given = 0

    def give(self, log: Path) -> None:
        self._given += log.stat().st_size
        shutil.move(log, self._logs / log.name)

    def read(self) -> int:
        """Bytes, of all logs."""
        return sum(cursor.offset for cursor in self._store.cursors())

    def reads_to_the_end(self) -> None:
        while self.read() < self._given:
            time.sleep(0.1)
        time.sleep(0.5)


def forked(serve: Upstream) -> int:
    child = os.fork()
    if child == 0:
        serve.run()
    return child


def measure(daemon: Daemon, logs: list[Path], asked: argparse.Namespace) -> None:
    without: list[int] = []
    beside: list[int] = []
    speeds: list[float] = []
    for log in logs:
        daemon.reads_to_the_end()
        without += load(daemon.port, f"/up{PATH}", "paced", asked.streams, asked.seconds)["lags"]
        daemon.give(log)
        time.sleep(0.3)
        before = daemon.read()
        beside += load(daemon.port, f"/up{PATH}", "paced", asked.streams, asked.seconds)["lags"]
        speeds.append((daemon.read() - before) / 1e6 / asked.seconds)
        if daemon.read() >= daemon._given:
            print("the log was read before the streams ended: --megabytes is too little")
    for name, lags in (("without", without), ("beside a log", beside)):
        figures = "  ".join(
            f"p{share * 100:g} {quantile(lags, share):.2f} ms" for share in (0.5, 0.9, 0.99, 0.999)
        )
        print(f"{name:14}{len(lags):7} chunks  {figures}")
    ratio = quantile(beside, 0.99) / quantile(without, 0.99)
    print(
        f"p99 ratio     {ratio:7.2f}  (goal: {GOAL})   log read meanwhile at {statistics.median(speeds):.2f} MB/s"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--rounds", type=int, default=4)
    options.add_argument("--seconds", type=float, default=3.0)
    options.add_argument("--streams", type=int, default=4)
    options.add_argument("--megabytes", type=int, default=150)
    asked = options.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dreamd-bench-")))
        logs = [folder / f"{number}.jsonl" for number in range(asked.rounds)]
        for number, log in enumerate(logs):
            make_log(log, number, asked.megabytes)
        upstream = Upstream(socket.create_server(("127.0.0.1", 0), backlog=64))
        child = forked(upstream)
        stack.callback(os.kill, child, 9)
        daemon = Daemon(stack, folder, upstream.listener.getsockname()[1])
        measure(daemon, logs, asked)


if __name__ == "__main__":
    main()
