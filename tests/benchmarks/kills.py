"""SIGKILL at random instants of a daemon with everything on, while its agent talks.

    PYTHONPATH=. python tests/benchmarks/kills.py [--kills 300] [--seed 1]

Gateway, HTTP, recall's index, dreams, nights that catch up, archives: all are on. In the end nothing is lost, doubled,
torn or paid twice, and every insight rests on records that are there.
"""

import argparse
import itertools
import random
import re
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.acceptance.house import DREAMD, Home, honest, line
from tests.llm_server import Answer, Request, llm_server_beside

START = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0) - timedelta(days=6)
EVERYTHING = """concurrency = 2
[gate]
lease_s = 5
[dream]
debounce_s = 0
idle_s = 1
pool_threshold = 50
checkpoint_steps = 20
[archive]
after_days = 1
[tail]
rescan_s = 2
[gateway]
listen = "unix:{socket}"
upstreams = {{ local = "{upstream}" }}
"""
MARGIN_S = 0.5  # from an answer's last byte to its place in the journal, on a busy machine


class Agent:
    """Talks all the time, a session after the other, a tenth of its lines in two writes."""

    def __init__(self, home: Home, draw: random.Random) -> None:
        self.home, self.draw, self.written = home, draw, 0
        self.enough = threading.Event()

    def __call__(self) -> None:
        for number in itertools.count():
            if self.enough.wait(0.04):
                return
            at = START + timedelta(seconds=30 * number)
            whole = line(said(number), "assistant" if number % 2 else "user", at, f"s{number // 200}")
            cut = self.draw.randrange(len(whole)) if self.draw.random() < 0.1 else len(whole)
            with self.home.log(f"s{number // 200}").open("ab", buffering=0) as file:
                file.write(whole[:cut])
                self.enough.wait(0.002)
                file.write(whole[cut:])
            self.written = number + 1


def said(number: int) -> str:
    if number % 2:
        return f"Bridge {number // 2} is {number // 2 + 1000} metres long."
    if number % 20 == 4:
        return f"I prefer oak over pine for bridge {number % 7}, as in case {number}."
    return f"How long is bridge {number // 2}?"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    asked: list[tuple[float, bytes]] = []
    ends: list[float] = []

    def answer(request: Request) -> Answer:
        think_s = 0.05 + (hash(request.body) % 100) / 400
        asked.append((time.monotonic() + think_s, request.body))
        return Answer(text=honest(request), think_s=think_s)

    with tempfile.TemporaryDirectory() as folder, llm_server_beside(answer) as server:
        root = Path(folder)
        home = Home(root, server.base_url)
        home.configure(EVERYTHING.format(socket=root / "gw.sock", upstream=server.url))
        home.memory.write_text("## Facts\n\n- The old bridge is 17 metres long.\n")
        written = lives(home, draw, options.kills, ends)
        finished(home, ends)
        judged(home, written, asked, ends)


def lives(home: Home, draw: random.Random, kills: int, ends: list[float]) -> int:
    """As many short ones, while the agent talks; how many records it wrote."""
    agent = Agent(home, draw)
    thread = threading.Thread(target=agent)
    thread.start()
    try:
        for number in range(kills):
            lived(home, verb(draw, number), draw.uniform(0.3, 4.0))
            ends.append(time.monotonic())
            whole(home)
    finally:
        agent.enough.set()
        thread.join()
    return agent.written


def finished(home: Home, ends: list[float]) -> None:
    """A long one, and then whatever nights and dreams are left."""
    lived(home, ("run",), 60.0)
    ends.append(time.monotonic())
    days = [(START + timedelta(days=days)).date().isoformat() for days in range(8)]
    for arguments in (*(("night", "--date", day) for day in days), ("dream",)):
        ended = home.run(*arguments)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    ends.append(time.monotonic())


def verb(draw: random.Random, number: int) -> tuple[str, ...]:
    day = (START + timedelta(days=draw.randrange(6))).date().isoformat()
    return (("run",), ("run",), ("dream",), ("run",), ("night", "--date", day), ("sync",))[number % 6]


def lived(home: Home, arguments: tuple[str, ...], seconds: float) -> None:
    with (
        (home.root / "stderr").open("ab") as err,
        subprocess.Popen(
            [*DREAMD, "--config", str(home.config), *arguments], stdout=subprocess.DEVNULL, stderr=err
        ) as process,
    ):
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()


def whole(home: Home) -> None:
    for path, content in home.files().items():
        if path.endswith("MEMORY.md"):
            assert content.startswith(b"## Facts\n"), content
            assert content.endswith(b"\n"), content
        if path.endswith(".md"):
            assert content.count(b"<!-- dreamd daily") == content.count(b"<!-- /dreamd"), (path, content)


def judged(home: Home, written: int, asked: list[tuple[float, bytes]], ends: list[float]) -> None:
    pool = home.json("memories", "--type", "raw")
    contents = Counter(memory["content"] for memory in pool)
    print(f"{written} records written, {sum(contents.values())} in the pool, {len(contents)} different")
    told = Counter()
    for daily in (home.work / "memory").glob("*.md"):
        told += Counter(re.findall(r"^- .*?(Bridge \d+ is \d+ metres long)", daily.read_text(), re.MULTILINE))
    entries = Counter(re.findall(r"^- .*", home.memory.read_text(), re.MULTILINE))
    insights = [
        one["insight"] for one in home.json("insights", "--status", "candidate", "--status", "long_term")
    ]
    ids = {memory["memory_id"] for memory in pool}
    lacking = [one for one in insights if not one["ref_ids"]]
    doubled = {
        content: times for content, times in Counter(one["content"] for one in insights).items() if times > 1
    }
    twice = paid_twice(asked, ends)
    print(
        f"{len(told)} lines in dailies, {len(entries)} in MEMORY.md, {len(insights)} insights, {len(asked)} calls"
    )
    with closing(sqlite3.connect(home.root / "state" / "pool.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    output = (home.root / "stderr").read_text().splitlines()
    assert all(line.startswith("{") for line in output), "a traceback"
    assert not [line for line in output if "task.failed" in line]
    assert sum(contents.values()) == written
    assert max(contents.values()) == 1, contents.most_common(3)
    assert max(told.values()) == 1, told.most_common(3)
    assert max(entries.values()) == 1, entries.most_common(3)
    assert not lacking
    assert not doubled, doubled
    assert not twice, twice[:2]
    assert all(ids.issuperset(one["ref_ids"]) for one in insights)


def paid_twice(asked: list[tuple[float, bytes]], ends: list[float]) -> list[bytes]:
    """Bodies whose answer was out well before its asker was killed, and that were asked again."""
    answered: set[bytes] = set()
    twice = []
    for done, body in asked:
        if body in answered:
            twice.append(body)
        end = next((one for one in ends if one >= done - 0.5), done)
        if done < end - MARGIN_S:
            answered.add(body)
    return twice


if __name__ == "__main__":
    main()
