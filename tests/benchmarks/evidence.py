"""Shared by the benchmarks of evidence recall: records in, questions asked through `recall`, shares found out."""

import contextlib
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import anyio
from msgspec import Struct

from dreamd.clock import StillClock
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.memories import Memory
from dreamd.parts import Parts
from dreamd.pool.terms import terms
from dreamd.recall.following import follow
from dreamd.recall.meant import mean
from dreamd.recall.recalling import recall
from dreamd.sections import Agent, Recall, State
from dreamd.stores.base import Changes

BUDGET = 32_000  # tokens: room for fifty turns


class Question(Struct, frozen=True):
    """`evidence` are the units that hold the answer."""

    agent: str
    text: str
    evidence: frozenset[str]


@contextlib.contextmanager
def poured(memories: Sequence[Memory], embeddings: str = "") -> Iterator[Parts]:
    """A pool and its index of these records, asked after the last of them; with vectors where there is a server."""
    agents = {memory.agent: Agent(zone="UTC") for memory in memories}
    with tempfile.TemporaryDirectory() as folder:
        config = Config(agents=agents, state=State(dir=folder), recall=Recall(embeddings_url=embeddings))
        clock = StillClock(max(memory.received_at for memory in memories))
        with open_parts(config, clock=clock) as parts:
            parts.store.write(Changes(memories=memories))
            assert parts.index is not None
            follow(parts.store, parts.index, pages=1 << 30)
            anyio.run(_all_meant, parts)
            yield parts


async def _all_meant(parts: Parts) -> None:
    while await mean(parts):
        pass


def found(
    parts: Parts, questions: Sequence[Question], units: Mapping[str, str], first: Sequence[int]
) -> list[float]:
    """The share of the evidence among the first units recalled, for each of `first`, over all questions.

    `units` says to which unit a memory belongs; a unit counts where its first memory stands.
    """
    return anyio.run(partial(_found, parts, questions, units, first))


async def _found(
    parts: Parts, questions: Sequence[Question], units: Mapping[str, str], first: Sequence[int]
) -> list[float]:
    answers = []
    for question in questions:
        answer = await recall(parts, question.text, agents=(question.agent,), budget=BUDGET, stamp=False)
        answers.append([one.memory_id for one in answer.records])
    return shares(questions, answers, units, first)


def plain_bm25(
    memories: Iterable[Memory], questions: Sequence[Question], units: Mapping[str, str], first: Sequence[int]
) -> list[float]:
    """The same of SQLite's BM25 over each agent's texts, words stemmed by Porter and Chinese characters in pairs."""
    answers = []
    with sqlite3.connect(":memory:") as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(agent UNINDEXED, id UNINDEXED, t, tokenize='ascii')"
        )
        rows = ((memory.agent, memory.memory_id, " ".join(terms(memory.content))) for memory in memories)
        connection.executemany("INSERT INTO texts VALUES (?, ?, ?)", rows)
        sql = "SELECT id FROM texts WHERE texts MATCH ? AND agent = ? ORDER BY rank LIMIT 100"
        for question in questions:
            query = " OR ".join(f'"{term}"' for term in terms(question.text)) or '""'
            answers.append([row[0] for row in connection.execute(sql, (query, question.agent))])
    return shares(questions, answers, units, first)


def shares(
    questions: Sequence[Question],
    answers: Sequence[Sequence[str]],
    units: Mapping[str, str],
    first: Sequence[int],
) -> list[float]:
    sums = [0.0] * len(first)
    for question, ids in zip(questions, answers, strict=True):
        ranked = list(dict.fromkeys(units[each] for each in ids))
        for place, count in enumerate(first):
            sums[place] += len(question.evidence & set(ranked[:count])) / len(question.evidence)
    return [total / len(questions) for total in sums]


def told(label: str, figures: Sequence[float], first: Sequence[int]) -> None:
    print(
        f"  {label:34}",
        "  ".join(f"@{count} {figure:.3f}" for count, figure in zip(first, figures, strict=True)),
    )
