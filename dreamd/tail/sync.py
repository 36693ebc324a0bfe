"""All configured logs read to their end, once: what `dreamd sync` does, and the night before it begins."""

import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from dreamd.config import zone_of
from dreamd.courtesy import Courtesy
from dreamd.events import SYNC_FINISHED
from dreamd.parts import Parts
from dreamd.tail import sources
from dreamd.tail.condition import keep
from dreamd.tail.ingest import Agent
from dreamd.tail.steps import How, Step, Tools
from dreamd.tail.tailer import Tailer, Tally


class SyncResult(Struct, frozen=True):
    """By agent."""

    agents: dict[str, Tally]


def sync(
    parts: Parts, agents: Iterable[str] | None = None, progress: Callable[[int], None] | None = None
) -> SyncResult:
    """Blocking. `progress` is told of the bytes read by each step. Unreadable logs are counted, never fatal.

    Raises ConfigError, StoreError and its kinds, DiskFull; what was read until then is stored.
    """
    return SyncResult({name: _synced(parts, tail, progress) for name, tail in tailers(parts, agents).items()})


def backlog(parts: Parts, agents: Iterable[str] | None = None) -> int:
    """Bytes of the logs that are not in the pool yet."""
    return sum(tail.backlog() for tail in tailers(parts, agents).values())


def tailers(parts: Parts, agents: Iterable[str] | None = None) -> dict[str, Tailer]:
    """A tailer for each of the agents; of all enabled ones when none is named. Raises ConfigError."""
    return {name: _tailer(parts, name) for name in (parts.config.enabled if agents is None else agents)}


def _tailer(parts: Parts, agent_id: str) -> Tailer:
    settings = parts.config.agent(agent_id)
    bound, programs = parts.config.tail.max_text_bytes, settings.programs_are_human
    agent = Agent(agent_id, zone_of(settings), bound, programs)
    tools = Tools(parts.store, parts.clock, parts.emit, parts.config.tail, agent)
    where = sources.places(settings, sources.formats(settings.format), Path.home())
    return Tailer(tools, where, sources.own_files(parts.state, settings))


def _synced(parts: Parts, tail: Tailer, progress: Callable[[int], None] | None) -> Tally:
    def told(step: Step) -> None:
        if progress:
            progress(step.read)

    courtesy = courtesy_of(parts, threading.Event().wait)
    how = How(settle=True, enough=courtesy.enough, between=lambda _path: courtesy.rest())
    tally = tail.advance(tail.find(), how, told)
    tell(parts, tail.agent_id, tally)
    keep(parts, tail.agent_id, tally.condition)
    return tally


def courtesy_of(parts: Parts, wait: Callable[[float], object]) -> Courtesy:
    """Towards the calls that pass the gateway of this process."""
    return Courtesy(parts.busy(), wait)


def tell(parts: Parts, agent_id: str, tally: Tally) -> None:
    """The canonical line of a pass that read anything."""
    if tally.lines:
        counts = {name: getattr(tally, name) for name in _COUNTS}
        parts.emit(SYNC_FINISHED, agent=agent_id, **counts, unreadable=len(tally.unreadable))


_COUNTS = ("files", "read", "lines", "records", "duplicates", "amended", "unknown", "truncated", "skipped")
