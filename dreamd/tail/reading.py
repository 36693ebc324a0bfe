"""A log or a folder of logs, read once the way the tail reads it: what dreamd understands of it."""

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from dreamd import sections
from dreamd.clock import SystemClock
from dreamd.errors import LogUnreadable
from dreamd.events import silent
from dreamd.formats.base import Format
from dreamd.memories import Memory
from dreamd.stores.base import MemoryQuery, Store
from dreamd.tail import sources
from dreamd.tail.ingest import Agent
from dreamd.tail.steps import How, Tools
from dreamd.tail.tailer import Tailer

_AGENT = "read"
_LAST = datetime.max.replace(tzinfo=UTC)


def read_path(
    path: Path,
    *,
    store: Store,
    zone: ZoneInfo,
    format: str | None = None,  # noqa: A002 - the word people know
    passed_over: Callable[[str, str], object] | None = None,
) -> list[Memory]:
    """The raw memories of a file or folder, in the order of J13; `agent` of each is its format's label.

    The store must be an empty one. Without `format` it is guessed for each file. What cannot be read in a folder of which
    something can is `passed_over`, told as path and reason; without that it is an error like all else. Raises LogUnreadable when there is
    nothing there, it cannot be read or no format knows it; ConfigError for an unknown format.
    """
    if not path.exists():
        raise LogUnreadable(f"{path}: not there")
    chosen = sources.formats(format or "")
    tools = Tools(store, SystemClock(), silent, sections.Tail(), Agent(_AGENT, zone, 1 << 20))
    where = sources.places(sections.Agent(format=format or "", logs=(os.fspath(path),)), chosen, Path())
    tail = Tailer(tools, where, sources.Own())
    tally = tail.advance(tail.find(), How(settle=True))
    labels = {cursor.source_id: _label(chosen, cursor.format) for cursor in store.cursors(_AGENT)}
    for bad, reason in tally.unreadable.items():
        if passed_over is None or not labels:
            raise LogUnreadable(f"{bad}: {reason}")
        passed_over(bad, reason)
    if not labels:
        known = ", ".join(sorted({one.label for one in chosen}))
        raise LogUnreadable(
            f"{path}: no session log that dreamd knows", hint=f"name one with --format: {known}"
        )
    found = list(store.memories(MemoryQuery(agent=_AGENT, types=("raw",))))
    if format and not found:
        raise LogUnreadable(f"{path}: nothing in it was understood as {format}", hint="try another --format")
    return in_order(found, labels)


def _label(chosen: tuple[Format, ...], name: str) -> str:
    return next(one.label for one in chosen if one.name == name)


def in_order(memories: list[Memory], labels: Mapping[str, str]) -> list[Memory]:
    """Sessions by their earliest time, those without any last; log order inside a session (J13)."""
    first: dict[str, datetime] = {}
    for memory in memories:
        at = memory.timestamp or _LAST
        first[memory.session_id] = min(first.get(memory.session_id, _LAST), at)
    arrival = {session_id: number for number, session_id in enumerate(first)}
    labelled = (
        replace(memory, agent=labels[memory.span.source_id] if memory.span else memory.agent)
        for memory in memories
    )
    return sorted(labelled, key=lambda memory: (first[memory.session_id], arrival[memory.session_id]))
