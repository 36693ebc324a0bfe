"""Raw memories as a dream gets them, and what a model may answer: for the tests of distilling."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from dreamd.dream.draft import Draft, Quote
from dreamd.memories import Memory, raw_id
from dreamd.records import Origin, Role, trust_of

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)


def told(
    number: int, text: str, role: Role = "user", origin: Origin = "human", *, day: int = 2, **more: object
) -> Memory:
    """The raw memory `number` of agent cat; `user` in a turn of the human, unless told otherwise."""
    fields: dict[str, object] = {
        "memory_id": raw_id("cat", str(number)), "type": "raw", "content": text, "agent": "cat",
        "window": date(2026, 3, 1) + timedelta(days=day - 1), "received_at": NOW, "role": role, "origin": origin,
        "trust": trust_of(role, origin), "session_id": "s", "task_id": "s",
    }  # fmt: skip
    return Memory(**(fields | more))  # type: ignore[arg-type]


def tool(number: int, text: str = "", *, ok: bool = True) -> Memory:
    return told(number, text, "tool", "tool", tool="Bash", ok=ok)


def inputs(*memories: Memory) -> Mapping[str, Memory]:
    return {memory.memory_id: memory for memory in memories}


def draft(statement: str, *memories: Memory, quote: str | None = None, **more: object) -> Draft:
    """A draft on these memories that quotes each one whole, or (`quote`) this of the first."""
    quotes = [Quote(memory.memory_id, memory.content) for memory in memories]
    if quote is not None:
        quotes = [Quote(memories[0].memory_id, quote)]
    fields: dict[str, object] = {
        "statement": statement, "kind": "fact", "ref_ids": tuple(memory.memory_id for memory in memories),
        "quotes": tuple(quotes), "author": "model",
    }  # fmt: skip
    return Draft(**(fields | more))  # type: ignore[arg-type]


def notes(*items: tuple[str, Sequence[tuple[str, str]]]) -> str:
    """A reply with notes: (text, [(label, quote), ...])."""
    told = [
        {"quotes": [{"ref": label, "text": text} for label, text in quotes], "text": note}
        for note, quotes in items
    ]
    return json.dumps({"notes": told}, ensure_ascii=False)


def merge(*items: tuple[str, Sequence[str]]) -> str:
    """A reply with merged notes: (text, [label, ...])."""
    return json.dumps({"notes": [{"from": list(labels), "text": text} for text, labels in items]})


def insight(statement: str, quotes: Sequence[tuple[str, str]] = (), **more: object) -> dict[str, object]:
    """One insight of a reply, on quotes of records or (`**{"from": [...]}`) on notes."""
    told = [{"ref": label, "text": text} for label, text in quotes]
    whole = {
        "quotes": told, "statement": statement, "kind": "fact", "entities": [], "applies_when": "", "confidence": 0.9,
    }  # fmt: skip
    return whole | more


def insights(*items: dict[str, object]) -> str:
    return json.dumps({"insights": list(items)}, ensure_ascii=False)
