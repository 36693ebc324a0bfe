"""Entries of a day go in: which find room in the file, which stand there, and the memories they become (pure)."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from dreamd.daily.audit import Entry
from dreamd.daily.material import Material
from dreamd.daily.transcript import Event, only
from dreamd.memories import Memory, derived_id

MOST_LINES = 300  # of one section; what the rule has to say beyond is counted there instead


def listed(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries that find room: all of a model's, and the first of the rule's."""
    room = MOST_LINES - sum(not entry.by_rule for entry in entries)
    kept: list[Entry] = []
    for entry in entries:
        room -= entry.by_rule
        if not entry.by_rule or room >= 0:
            kept.append(entry)
    return tuple(kept)


def standing(lines: Sequence[str], entries: Sequence[Entry], events: Sequence[Event]) -> tuple[Entry, ...]:
    """The entries of the lines that stand in the file.

    After a kill those may be an earlier run's, worded otherwise: such a line rests on the whole input.
    """
    known = {entry.text: entry for entry in entries}
    return tuple(known.get(line) or Entry(line, tuple(events), by_rule=False) for line in lines)


def memories(entries: Iterable[Entry], material: Material, now: datetime) -> Iterator[Memory]:
    """One summary a line, with the raw memories of its events, never believed more than the least of them."""
    for entry in entries:
        ref_ids = tuple(dict.fromkeys(ref for event in entry.events for ref in event.ref_ids))
        yield Memory(
            memory_id=derived_id("summary", material.agent_id, entry.text, ref_ids),
            type="summary",
            content=entry.text,
            agent=material.agent_id,
            window=material.day,
            received_at=now,
            session_id=only(event.session_id for event in entry.events),
            task_id=only(event.task_id for event in entry.events),
            timestamp=next((event.at for event in entry.events if event.at), None),
            ref_ids=ref_ids,
            trust=min(event.trust for event in entry.events),
        )
