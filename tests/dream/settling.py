"""What a human said on which day and in which task, and drafts on it: for the tests of settling."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from dreamd.dream.draft import Draft
from dreamd.dream.extract import drafts
from dreamd.dream.promote import sweep
from dreamd.dream.reconcile import Settled, settle
from dreamd.memories import Memory
from dreamd.records import Origin, Role
from dreamd.sections import Dream, Promote
from dreamd.stores.base import Contradiction
from tests.dream.told import NOW, told

DREAM, PROMOTE = Dream(), Promote()
FIRST = datetime(2026, 3, 1, 9, tzinfo=UTC)


def said(
    number: int, text: str, *, day: int = 2, task: str = "", role: Role = "user", origin: Origin = "human"
) -> Memory:
    """The raw memory `number`, said on that day of March, each in a task of its own unless told otherwise."""
    task = task or f"task-{number}"
    at = FIRST + timedelta(days=day - 1, minutes=number)
    return told(number, text, role, origin, day=day, task_id=task, session_id=task, timestamp=at, seq=number)


def by_id(*memories: Memory) -> dict[str, Memory]:
    return {memory.memory_id: memory for memory in memories}


def drafted(*memories: Memory, **more: object) -> list[Draft]:
    """What the rules find, one record at a time; `more` changes each draft."""
    return [replace(draft, **more) for memory in memories for draft in drafts([memory])]


def settled(
    found: Iterable[Draft],
    raws: Iterable[Memory],
    known: Iterable[Memory] = (),
    dream: Dream = DREAM,
    linked: Iterable[Contradiction] = (),
) -> Settled:
    return settle(tuple(found), tuple(known), by_id(*raws), dream, NOW, linked=linked)


def after(result: Settled, known: Iterable[Memory] = ()) -> dict[str, Memory]:
    """All insights as they are to be."""
    return by_id(*known, *result.new, *result.changed, *result.superseded)


def dreamt(
    raws: Iterable[Memory], known: Mapping[str, Memory] | None = None, found: Iterable[Draft] | None = None
) -> dict[str, Memory]:
    """The insights after settling and the sweep."""
    raws, known = tuple(raws), known or {}
    result = settled(drafted(*raws) if found is None else found, raws, known.values())
    insights = after(result, known.values())
    return insights | by_id(*sweep(insights.values(), by_id(*raws), PROMOTE, NOW))


def statuses(insights: Mapping[str, Memory]) -> dict[str, str]:
    return {insight.content: insight.status for insight in insights.values()}
