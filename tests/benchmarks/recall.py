"""How fast recall answers, and how large its index is: `python -m tests.benchmarks.recall [INSIGHTS RECORDS]`.

Invented memories of about 120 characters whose words follow Zipf's law, 30 % of them Chinese (words of two characters, run
together). Questions of three kinds: rare, middling and common English words together; the twenty commonest alone; a Chinese
word of two characters. Prints p50 and p99 of the whole call (as the HTTP face makes it; wall clock, and processor time, which
tells more on a machine that is busy), beside what SQLite takes for the
same question as a plain OR over the same texts, how many of ten are as good as what that puts first, the share of Chinese words found,
the sizes, the time to build, and p50 and p99 while records come in. Each question is asked once: nothing is warm but the file. Not a test: no figure is asserted.
"""

import gc
import itertools
import random
import resource
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import anyio

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.indexes._looking import SHIFT
from dreamd.indexes.base import Index
from dreamd.memories import Entity, Kind, Memory, raw_id
from dreamd.parts import Parts
from dreamd.pool.terms import terms
from dreamd.recall.following import follow
from dreamd.recall.recalling import recall
from dreamd.records import Trust
from dreamd.sections import Agent, State
from dreamd.stores.base import Changes

START = datetime(2026, 1, 1, tzinfo=UTC)
DAYS = 60
BATCH = 2000
WORDS = 40_000
QUESTIONS = 300
TEN = "SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10"
RANKED = "SELECT rank FROM texts WHERE texts MATCH ? AND rowid IN (SELECT value FROM json_each(?))"
KINDS: tuple[Kind, ...] = ("preference", "fact", "decision", "lesson", "procedure", "behaviour")


class Tongues:
    """Words of two languages, the commonest first."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        letters = "bcdfghjklmnprstvwz"
        syllables = [one + two for one in letters for two in "aeiou"]
        self.english = list(
            {"".join(self.draw.choices(syllables, k=self.draw.choice((2, 3, 3, 4)))): 0 for _ in range(WORDS)}
        )
        characters = [chr(0x4E00 + number) for number in self.draw.sample(range(20_000), 3500)]
        self.chinese = list({"".join(self.draw.sample(characters, 2)): 0 for _ in range(WORDS)})
        self._en = list(itertools.accumulate(1 / (rank + 5) for rank in range(len(self.english))))
        self._zh = list(itertools.accumulate(1 / (rank + 5) for rank in range(len(self.chinese))))

    def said(self) -> str:
        if self.draw.random() < 0.3:
            return (
                "，".join(
                    "".join(self.draw.choices(self.chinese, cum_weights=self._zh, k=8)) for _ in range(4)
                )
                + "。"
            )
        return " ".join(self.draw.choices(self.english, cum_weights=self._en, k=18)) + "."


def records(tongues: Tongues, count: int, begin: int = 0) -> Iterator[Memory]:
    for number in range(begin, begin + count):
        at = START + timedelta(days=DAYS * (number - begin) / count)
        session = f"session-{number // 40}"
        yield Memory(
            memory_id=raw_id("ada", str(number)), type="raw", content=tongues.said(), agent="ada", window=at.date(),
            received_at=at, timestamp=at, session_id=session, task_id=session, role=("user", "assistant")[number % 2],
            origin="human", trust=Trust.HUMAN, status="dreamt",
        )  # fmt: skip


def insights(tongues: Tongues, count: int) -> Iterator[Memory]:
    for number in range(count):
        at = START + timedelta(days=DAYS * number / count)
        yield Memory(
            memory_id=f"i{number:031x}", type="insight", content=tongues.said(), agent="ada", window=at.date(),
            received_at=at, timestamp=at, trust=Trust.HUMAN, kind=KINDS[number % len(KINDS)], confidence=number % 90 / 100,
            status=("long_term", "candidate")[number % 2], entities=(Entity(tongues.draw.choice(tongues.english), "project"),),
            ref_ids=(raw_id("ada", str(number)),),
        )  # fmt: skip


def poured(parts: Parts, memories: Iterator[Memory]) -> None:
    while batch := list(itertools.islice(memories, BATCH)):
        parts.store.write(Changes(memories=batch))


def questions(tongues: Tongues) -> dict[str, list[str]]:
    draw, en = tongues.draw, tongues.english

    def mixed() -> str:
        return " ".join((draw.choice(en[:60]), draw.choice(en[60:2000]), draw.choice(en[2000:20_000])))

    return {
        "common, middling and rare": [mixed() for _ in range(QUESTIONS)],
        "three of the commonest": [" ".join(draw.sample(en[:20], 3)) for _ in range(QUESTIONS)],
        "a sentence of eight words": [" ".join(draw.choices(en[:4000], k=8)) for _ in range(QUESTIONS)],
        "Chinese, two characters": draw.sample(tongues.chinese[:10_000], QUESTIONS),
        "Chinese, a sentence": ["".join(draw.choices(tongues.chinese[:4000], k=5)) for _ in range(QUESTIONS)],
    }


async def asked(parts: Parts, goals: Sequence[str]) -> tuple[list[float], list[float], int]:
    """Milliseconds of each on the wall and on the processor, and how many answers hold the goal's words."""
    taken, worked, found = [], [], 0
    for goal in goals:
        began, busy = time.perf_counter(), time.process_time()
        answer = await recall(parts, goal, stamp=False)
        taken.append((time.perf_counter() - began) * 1e3)
        worked.append((time.process_time() - busy) * 1e3)
        found += any(
            goal in text
            for text in (*(one.statement for one in answer.insights), *(one.text for one in answer.records))
        )
    return taken, worked, found


def plain_or(path: Path, goals: Sequence[str]) -> list[float]:
    """Milliseconds of BM25 over an OR of the terms, in an ordinary full-text table of the same texts."""
    taken = []
    with sqlite3.connect(path) as connection:
        for goal in goals:
            began = time.perf_counter()
            connection.execute(TEN, (any_of(goal),)).fetchall()
            taken.append((time.perf_counter() - began) * 1e3)
    return taken


def any_of(goal: str) -> str:
    return " OR ".join(f'"{term}"' for term in terms(goal))


def as_good(path: Path, index: Index, goals: Sequence[str]) -> float:
    """How many of ten the index has among its candidates that the plain OR would have put as high as its own ten."""
    found, most = 0, 0
    with sqlite3.connect(path) as connection:
        for goal in goals:
            ten = [rank for _, rank in connection.execute(TEN, (any_of(goal),))]
            hits = [
                hit.seq
                for conclusions, count in ((True, 30), (False, 64))
                for hit in index.search(terms(goal), ("ada",), conclusions=conclusions, most=count).hits
            ]
            if ten:
                rows = connection.execute(RANKED, (any_of(goal), str([1 << SHIFT | seq for seq in hits])))
                found += min(sum(rank <= ten[-1] + 1e-9 for (rank,) in rows), len(ten))
                most += len(ten)
    return found / max(most, 1)


async def asked_while_read(parts: Parts, goals: Sequence[str], fresh: Iterator[Memory]) -> list[float]:
    """Milliseconds of each, while some 200 records a second come in."""
    done = threading.Event()

    def read() -> None:
        while not done.wait(0.1):
            parts.store.write(Changes(memories=list(itertools.islice(fresh, 20))))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        taken, _, _ = await asked(parts, goals)
    finally:
        done.set()
        thread.join()
    return taken


def plain_table(state: Path) -> Path:
    path = state / "plain.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5(t, content='', tokenize='ascii')")
        connection.execute("ATTACH ? AS r", (str(state / "recall.db"),))
        connection.execute("INSERT INTO texts (rowid, t) SELECT n, terms FROM r.documents")
    return path


def told(label: str, taken: Sequence[float]) -> str:
    cut = statistics.quantiles(taken, n=100)
    return f"{label} {cut[49]:6.2f}/{cut[98]:6.2f} ms"


def measured(parts: Parts, tongues: Tongues, beside: Path, begin: int) -> None:
    """`begin`: the number of the first record that comes in meanwhile."""
    index = parts.index
    assert index is not None
    every: list[float] = []
    all_work: list[float] = []
    for kind, goals in questions(tongues).items():
        taken, worked, found = anyio.run(partial(asked, parts, goals))
        every += taken
        all_work += worked
        share = f"  found {found / len(goals):.1%}" if kind == "Chinese, two characters" else ""
        print(
            f"  {kind:28} {told('recall', taken)} {told('cpu', worked)}   {told('plain OR', plain_or(beside, goals[:60]))}"
            f"  ten as good {as_good(beside, index, goals[:60]):.0%}{share}"
        )
    print(f"  {'all':28} {told('recall', every)} {told('cpu', all_work)}")
    fresh = questions(tongues)["a sentence of eight words"]
    quiet, _, _ = anyio.run(partial(asked, parts, fresh[: QUESTIONS // 2]))
    coming = records(tongues, 1_000_000, begin=begin)
    reading = anyio.run(partial(asked_while_read, parts, fresh[QUESTIONS // 2 :], coming))
    print(f"  {told('quiet', quiet)}, {told('while records come in', reading)}")


def main(known: int, spoken: int) -> None:
    tongues = Tongues(1)
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        config = Config(agents={"ada": Agent(zone="UTC")}, state=State(dir=folder))
        with open_parts(config, clock=StillClock(START + timedelta(days=DAYS))) as parts:
            poured(parts, insights(tongues, known))
            poured(parts, records(tongues, spoken))
            assert parts.index is not None
            began = time.perf_counter()
            follow(parts.store, parts.index, pages=1 << 30)
            while parts.index.tidy():
                pass
            built = time.perf_counter() - began
            size = sum(file.stat().st_size for file in state.glob("recall.db*"))
            print(
                f"{known:,} insights, {spoken:,} records: indexed in {built:.1f} s ({(known + spoken) / built:,.0f} a second)"
            )
            print(
                f"  recall.db {size / 1e6:,.0f} MB, pool.db {(state / 'pool.db').stat().st_size / 1e6:,.0f} MB"
            )
            beside = plain_table(state)
            print(f"  plain full-text table {beside.stat().st_size / 1e6:,.0f} MB")
            gc.collect()
            gc.freeze()
            measured(parts, tongues, beside, spoken)
            print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    sizes = [int(each.replace(",", "")) for each in sys.argv[1:]]
    for pair in [tuple(sizes)] if sizes else [(10_000, 100_000), (100_000, 1_000_000)]:
        main(*pair)
