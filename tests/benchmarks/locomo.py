"""How much of the evidence recall finds in long English chats: `python -m tests.benchmarks.locomo FOLDER`.

LoCoMo (Maharana et al. 2024; `locomo10.json` in FOLDER): ten conversations of two people, 5,882 dated turns. Each conversation
is an agent, each turn a raw record, no LLM. Of the questions of categories 1 to 4 that name evidence, which share of the named
turns is among the first 1, 5, 10, 20, 50 records recalled? Beside it plain BM25 over the same texts. With an embedding where
there is one (`embedding.py`); otherwise it says that this was not measured. Nothing is asserted.
"""

import re
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dreamd.memories import Memory, raw_id
from dreamd.records import Trust
from tests.benchmarks.embedding import served
from tests.benchmarks.evidence import Question, found, plain_bm25, poured, told

FIRST = (1, 5, 10, 20, 50)
ADVERSARIAL = 5  # a category whose questions have no answer


class Turn(Struct):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str = ""

    @property
    def said(self) -> str:
        return f"{self.speaker}: {self.text}" + (
            f" [image: {self.blip_caption}]" if self.blip_caption else ""
        )


class Asked(Struct):
    question: str
    category: int
    evidence: list[str]


class Sample(Struct):
    sample_id: str
    conversation: dict[str, Any]
    qa: list[Asked]


def records(sample: Sample) -> Iterator[Memory]:
    for number in takewhile(lambda each: f"session_{each}" in sample.conversation, count(1)):
        date = sample.conversation[f"session_{number}_date_time"]
        began = datetime.strptime(f"{date} +0000", "%I:%M %p on %d %B, %Y %z")
        turns = msgspec.convert(sample.conversation[f"session_{number}"], list[Turn])
        for place, turn in enumerate(turns):
            at = began + timedelta(seconds=place)
            yield Memory(
                memory_id=raw_id(sample.sample_id, turn.dia_id), type="raw", content=turn.said, agent=sample.sample_id,
                window=at.date(), received_at=at, timestamp=at, session_id=f"session {number}", role="user", origin="human",
                trust=Trust.HUMAN,
            )  # fmt: skip


def questions(sample: Sample, known: set[str]) -> Iterator[Question]:
    for asked in sample.qa:
        named = {turn for text in asked.evidence for turn in re.findall(r"D\d+:\d+", text)}
        evidence = frozenset(raw_id(sample.sample_id, turn) for turn in named) & known
        if asked.category != ADVERSARIAL and evidence:
            yield Question(sample.sample_id, asked.question, evidence)


def main(folder: Path) -> None:
    samples = msgspec.json.decode((folder / "locomo10.json").read_bytes(), type=list[Sample])
    memories = [memory for sample in samples for memory in records(sample)]
    units = {memory.memory_id: memory.memory_id for memory in memories}
    asked = [each for sample in samples for each in questions(sample, set(units))]
    print(f"LoCoMo: {len(memories):,} turns, {len(asked):,} questions")
    told("plain BM25", plain_bm25(memories, asked, units, FIRST), FIRST)
    with poured(memories) as parts:
        told("recall", found(parts, asked, units, FIRST), FIRST)
    with served() as address:
        if not address:
            print("  recall with an embedding: not measured, no model is installed")
            return
        with poured(memories, address) as parts:
            told("recall with an embedding", found(parts, asked, units, FIRST), FIRST)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
