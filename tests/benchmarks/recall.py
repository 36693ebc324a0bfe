"""How fast recall answers, and how large its index is: `python -m tests.benchmarks.recall [INSIGHTS RECORDS]`.

Invented memories of about 120 characters whose words follow Zipf's law, 30 % of them Chinese (words of two characters, run
together). Questions of three kinds: rare, middling and common English words together; the twenty commonest alone; a Chinese
word of two characters. Prints p50 and p99 of the whole call (as the HTTP face makes it; wall clock, and processor time, which
tells more on a machine that is busy), beside what SQLite takes for the
same question as a plain OR over the same texts, the share of Chinese words found, the sizes, and the time to build. Each
question is asked once: nothing is warm but the file. Not a test: no figure is asserted.
"""

import gc
import itertools
import random
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import anyio

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.daemon import open_parts
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


def records(tongues: Tongues, count: int) -> Iterator[Memory]:
    for number in range(count):
        at = START + timedelta(days=DAYS * number / count)
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
            query = " OR ".join(f'"{term}"' for term in terms(goal))
            began = time.perf_counter()
            connection.execute(
                "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10", (query,)
            ).fetchall()
            taken.append((time.perf_counter() - began) * 1e3)
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
            every: list[float] = []
            all_work: list[float] = []
            for kind, goals in questions(tongues).items():
                taken, worked, found = anyio.run(partial(asked, parts, goals))
                every += taken
                all_work += worked
                share = f"  found {found / len(goals):.1%}" if kind == "Chinese, two characters" else ""
                print(
                    f"  {kind:28} {told('recall', taken)} {told('cpu', worked)}   {told('plain OR', plain_or(beside, goals[:60]))}{share}"
                )
            print(f"  {'all':28} {told('recall', every)} {told('cpu', all_work)}")
            print(f"  peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    sizes = [int(each.replace(",", "")) for each in sys.argv[1:]]
    for pair in [tuple(sizes)] if sizes else [(10_000, 100_000), (100_000, 1_000_000)]:
        main(*pair)
