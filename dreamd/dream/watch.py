"""The daemon's task: counts what comes into the pool and lets one agent after the other dream when it is due."""

from collections.abc import Mapping
from itertools import islice

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream.material import LIVED, UNDREAMT
from dreamd.dream.phase import dream, unfinished
from dreamd.dream.triggers import Step, Tally, Waiting, due, tallied
from dreamd.errors import DiskFull, StateLocked, StoreBusy
from dreamd.events import DISK_FULL
from dreamd.locks import NIGHT, holder
from dreamd.memories import STATUSES, Memory
from dreamd.parts import Parts
from dreamd.stores.base import MemoryQuery

LOOK_S = 30.0
_AT_ONCE = 1000  # memories held while counting
UNTIL_THERE_IS_SPACE_S = 600.0  # a dream on a full disk could pay for replies it cannot keep


class Seen(Struct, frozen=True, kw_only=True):
    """What the watch remembers between two looks; `seq` is how far into the pool it has counted."""

    seq: int = 0
    tallies: Mapping[str, Tally] = {}
    waiting: tuple[Waiting, ...] = ()


async def watch(parts: Parts) -> None:
    """Let agents dream when they are due, and never return."""
    if not parts.config.dream.enabled:
        await anyio.sleep_forever()
    seen = await to_thread.run_sync(undreamt, parts)
    while True:
        seen, pause_s = await look(parts, seen)
        await parts.clock.sleep(pause_s)


async def look(parts: Parts, seen: Seen) -> tuple[Seen, float]:
    """Count what came, let who is due dream, the longest waiting first; returns also for how long to sleep.

    While a night runs nobody dreams here: it lets its agents dream itself. Nor does who has no budget left: it waits.
    """
    try:
        seen, step = await to_thread.run_sync(_counted, parts, seen)
        for one in step.ready:
            if await to_thread.run_sync(holder, parts.state / NIGHT) is not None:
                break
            await dream(parts, one.agent)
            seen = without(seen, one.agent)
    except (StateLocked, StoreBusy):
        return seen, LOOK_S  # a person's dream is under way, or another process writes
    except DiskFull:
        parts.emit(DISK_FULL, place=parts.state)
        return seen, UNTIL_THERE_IS_SPACE_S
    return seen, LOOK_S


def undreamt(parts: Parts) -> Seen:
    """What waits when the daemon starts, groups that were parked included. Blocking."""
    tallies: Mapping[str, Tally] = {}
    seq = 0
    for agent in _enabled(parts):
        after = unfinished(parts, agent).after
        fresh = MemoryQuery(agent=agent, types=("raw",), origins=LIVED, statuses=UNDREAMT, after_seq=after)
        tallies, last = _tallied(parts, fresh, tallies)
        seq = max(seq, after, last)
    return Seen(seq=seq, tallies=tallies)


def without(seen: Seen, agent: str) -> Seen:
    """After the agent's dream: what it left, such as a group that is parked, calls for no other one."""
    return replace(
        seen,
        tallies={one: tally for one, tally in seen.tallies.items() if one != agent},
        waiting=tuple(one for one in seen.waiting if one.agent != agent),
    )


def _counted(parts: Parts, seen: Seen) -> tuple[Seen, Step]:
    # whatever came, wanted or not: the next look begins behind it
    everything = MemoryQuery(statuses=STATUSES, after_seq=seen.seq)
    tallies, last = _tallied(parts, everything, seen.tallies)
    turns = parts.store.turns() if tallies else []
    step = due(parts.clock.now(), tallies, turns, seen.waiting, parts.config.dream)
    ready = tuple(one for one in step.ready if parts.shortage(one.agent) is None)
    return Seen(seq=max(seen.seq, last), tallies=tallies, waiting=step.waiting), Step(ready, step.waiting)


def _tallied(
    parts: Parts, query: MemoryQuery, tallies: Mapping[str, Tally]
) -> tuple[Mapping[str, Tally], int]:
    """The tallies with what the query finds for a dream, and the place of the last memory it finds at all."""
    enabled, last = _enabled(parts), 0
    memories = parts.store.memories(query)
    while some := list(islice(memories, _AT_ONCE)):
        last = some[-1].seq
        tallies = tallied(tallies, (one for one in some if one.agent in enabled and _dreamable(one)))
    return tallies, last


def _dreamable(memory: Memory) -> bool:
    return memory.type == "raw" and memory.status in UNDREAMT and memory.origin in LIVED


def _enabled(parts: Parts) -> list[str]:
    return [name for name, agent in parts.config.agents.items() if agent.enabled]
