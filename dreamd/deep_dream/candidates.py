"""Preferences and rules that were seen on one day: kept as candidate insights until another day bears them out (pure)."""

from collections.abc import Iterable
from datetime import date, datetime

from dreamd.deep_dream.audit import Accepted
from dreamd.memories import Memory, derived_id, memory_ids
from dreamd.records import Trust

CONFIDENCE = 0.3


def candidate(agent: str, day: date, line: Accepted, now: datetime) -> Memory | None:
    """The insight that waits for a second day; None when nothing in the pool bears it."""
    refs = memory_ids(flat(line))
    records = {record.memory_id: record for source in line.cites for record in source.records}
    if not refs or not records:
        return None
    return Memory(
        memory_id=derived_id("insight", agent, line.text, refs),
        type="insight",
        content=line.text,
        agent=agent,
        window=day,
        received_at=now,
        ref_ids=refs,
        confidence=CONFIDENCE,
        trust=Trust(min(record.trust for record in records.values())),
        status="candidate",
        kind="preference",
        windows=_distinct(record.window for record in records.values()),
        tasks=_distinct(record.task_id or record.session_id for record in records.values()),
        origins=_distinct(record.origin for record in records.values()),
    )


def flat(line: Accepted) -> tuple[str, ...]:
    """The evidence of a line: that of all its sources, each once."""
    return tuple(dict.fromkeys(ref for source in line.cites for ref in source.refs))


def _distinct(values: Iterable[object]) -> int:
    return len(set(values))
