"""SIGKILL at random instants while a log grows: nothing lost, nothing doubled, no half-written file, no call paid twice.

DREAMD_KILLS=200 for the long version.
"""

import os
import random
import re
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count, cycle
from pathlib import Path

from tests.acceptance.house import DREAMD, Dreamless, honest, line
from tests.llm_server import Request, llm_server_beside

KILLS = int(os.environ.get("DREAMD_KILLS", "5"))
SEED = int(os.environ.get("DREAMD_SEED", "1"))
START = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0) - timedelta(days=1)
CONCURRENCY = 2  # llm.concurrency's default
VERBS = (("run",), ("sync",), ("night", "--date", START.date().isoformat()))


class Writer:
    """An agent that talks all the time, a tenth of its lines in two writes."""

    def __init__(self, log: Path, draw: random.Random) -> None:
        self.log, self.draw, self.written = log, draw, 0
        self.enough = threading.Event()

    def __call__(self) -> None:
        with self.log.open("ab", buffering=0) as file:
            for number in count():
                if self.enough.wait(0.02):
                    return
                role = "assistant" if number % 2 else "user"
                text = (
                    f"Bridge {number // 2} is {number // 2 + 1000} metres long."
                    if number % 2
                    else f"How long is bridge {number // 2}?"
                )
                whole = line(text, role, START + timedelta(seconds=number), "s1")
                at = self.draw.randrange(len(whole)) if self.draw.random() < 0.1 else len(whole)
                file.write(whole[:at])
                self.enough.wait(0.002)
                file.write(whole[at:])
                self.written = number + 1


@contextmanager
def talking(writer: Writer) -> Iterator[None]:
    thread = threading.Thread(target=writer)
    thread.start()
    try:
        yield
    finally:
        writer.enough.set()
        thread.join()


def test_killed_at_any_instant_nothing_is_lost_doubled_torn_or_paid_twice(tmp_path: Path) -> None:
    draw = random.Random(SEED)
    lives: list[list[bytes]] = []  # what each process asked

    def answer(request: Request) -> str:
        lives[-1].append(request.body)
        return honest(request)

    with llm_server_beside(answer) as server:
        home = Dreamless(tmp_path, server.base_url)
        home.memory.write_text("## Facts\n\n- The old bridge is 17 metres long.\n")
        writer = Writer(home.log(), draw)
        with talking(writer):
            for _, verb in zip(range(KILLS), cycle(VERBS), strict=False):
                lives.append([])
                _killed(home, verb, draw.uniform(0.2, 1.5))
                assert _whole(home.memory.read_text())
        for _ in range(2):
            lives.append([])
            done = home.run("night", "--date", START.date().isoformat())
            assert done.returncode == 0, done.stdout + done.stderr
    _every_record_once(home, writer.written)
    _every_line_once(home)
    _no_answer_paid_twice(lives)


def _killed(home: Dreamless, verb: tuple[str, ...], after_s: float) -> None:
    with subprocess.Popen(
        [*DREAMD, "--config", str(home.config), *verb], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.kill()


def _whole(memory: str) -> bool:
    return memory.startswith("## Facts\n") and memory.endswith("metres long.\n")


def _every_record_once(home: Dreamless, written: int) -> None:
    pool = home.json("memories", "--type", "raw")
    assert isinstance(pool, list)
    contents = Counter(memory["content"] for memory in pool)
    assert sum(contents.values()) == written
    assert max(contents.values()) == 1


def _every_line_once(home: Dreamless) -> None:
    (daily,) = (home.work / "memory").glob("*.md")
    told = Counter(re.findall(r"^- .*?(Bridge \d+ is \d+ metres long)", daily.read_text(), re.MULTILINE))
    assert told
    assert max(told.values()) == 1
    entries = Counter(re.findall(r"^- .*", home.memory.read_text(), re.MULTILINE))
    assert max(entries.values()) == 1


def _no_answer_paid_twice(lives: list[list[bytes]]) -> None:
    """Whoever is asked again was not answered: the call was among the last of a life, in flight when that ended."""
    in_flight = [set(life[-CONCURRENCY:]) for life in lives]
    for body, times in Counter(body for life in lives for body in life).items():
        assert times <= 1 + sum(body in last for last in in_flight[:-1])
        assert all(life.count(body) <= 1 for life in lives)
