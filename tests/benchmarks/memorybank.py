"""How much of the evidence recall finds in chats, Chinese and English: `python -m tests.benchmarks.memorybank FOLDER`.

MemoryBank (Zhong et al. 2023): 15 users, ten days of chats each, the same in both languages; `gold.json` in FOLDER names the
exchanges that answer its questions. Each user is an agent, each message a raw record, no LLM; what is found is the exchange, a
question with its answer. A third of the questions name a day. With an embedding where there is one (`embedding.py`, whose
model is English). Nothing is asserted.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from dreamd.memories import Memory, raw_id
from dreamd.records import Role, Trust
from tests.benchmarks.embedding import served
from tests.benchmarks.evidence import Question, found, plain_bm25, poured, told

FIRST = (1, 5, 10)


class Exchange(Struct):
    query: str
    response: str


class User(Struct):
    history: dict[str, list[Exchange]]


class Gold(Struct):
    cn_user: str
    en_user: str
    question_cn: str
    question_en: str
    evidence: list[str]


def unit(user: str, day: date, place: int) -> str:
    return f"{user} {day:%m-%d}.{place}"


def records(users: Mapping[str, User]) -> Iterator[tuple[Memory, str]]:
    """Each message with the exchange it belongs to."""
    for name, user in ((name.strip(), user) for name, user in users.items()):
        for named, exchanges in user.history.items():
            day = date.fromisoformat(named)
            for place, exchange in enumerate(exchanges):
                at = datetime.combine(day, time(9), UTC) + timedelta(minutes=place)
                said: tuple[tuple[Role, str], ...] = (
                    ("user", exchange.query),
                    ("assistant", exchange.response),
                )
                for role, text in said:
                    yield (
                        Memory(
                            memory_id=raw_id(name, f"{day} {place} {role}"), type="raw", content=text, agent=name, window=day,
                            received_at=at, timestamp=at, session_id=named, role=role, origin="human",
                            trust=Trust.HUMAN if role == "user" else Trust.AGENT,
                        ),
                        unit(name, day, place),
                    )  # fmt: skip


def questions(gold: Sequence[Gold], language: str) -> Iterator[Question]:
    for each in gold:
        user, text = (
            (each.cn_user, each.question_cn) if language == "cn" else (each.en_user, each.question_en)
        )
        yield Question(user, text, frozenset(f"{user} {named}" for named in each.evidence))


def main(folder: Path) -> None:
    gold = msgspec.json.decode((folder / "gold.json").read_bytes(), type=list[Gold])
    with served() as address:
        for language, name in (("cn", "Chinese"), ("en", "English")):
            path = folder / "eval_data" / language / f"memory_bank_{language}.json"
            found_in = list(records(msgspec.json.decode(path.read_bytes(), type=dict[str, User])))
            memories, units = (
                [memory for memory, _ in found_in],
                {memory.memory_id: of for memory, of in found_in},
            )
            asked = list(questions(gold, language))
            print(f"MemoryBank, {name}: {len(memories):,} messages, {len(asked)} questions")
            told("plain BM25", plain_bm25(memories, asked, units, FIRST), FIRST)
            with poured(memories) as parts:
                told("recall", found(parts, asked, units, FIRST), FIRST)
            if address:
                with poured(memories, address) as parts:
                    told("recall with an embedding", found(parts, asked, units, FIRST), FIRST)
            else:
                print("  recall with an embedding: not measured, no model is installed")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
