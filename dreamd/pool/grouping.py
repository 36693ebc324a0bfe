"""Raw memories in; groups of them out: by task, by window, by entity (pure).

Law: each raw memory stands in exactly one primary group, groups and members keep the order given, and no group is
larger than asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from dreamd.memories import Memory
from dreamd.pool import entities

By = Literal["task", "window", "entity"]

_LONE = 1  # memories of a task that is no group of its own: one record teaches nothing beyond itself


class Group(Struct, frozen=True):
    """`ids` of raw memories, in order. `key` names the group for people and for the journal, unique in one grouping."""

    key: str
    by: By
    ids: tuple[str, ...]


def groups(memories: Iterable[Memory], size: int) -> list[Group]:
    """The primary groups, each of at most `size` (>= 1): a task's records together, lone and taskless ones by window.

    What is no raw memory is left out, a second sighting of an id too. The earliest member orders the groups.
    """
    if size < 1:
        raise ValueError(f"a group of at most {size} memories holds none")
    raw = list({memory.memory_id: memory for memory in _raw(memories)}.values())
    lone = _lone(raw)
    gathered: dict[tuple[str, By, str], list[str]] = {}
    for memory in raw:
        task = memory.task_id if (memory.agent, memory.task_id) not in lone else ""
        place: tuple[str, By, str] = (
            (memory.agent, "task", task) if task else (memory.agent, "window", memory.window.isoformat())
        )
        gathered.setdefault(place, []).append(memory.memory_id)
    return [group for place, ids in gathered.items() for group in _bounded(place, ids, size)]


def entity_groups(memories: Iterable[Memory]) -> list[Group]:
    """Memories that name the same entity, joined across tasks: a memory may stand in many or none.

    Only entities that two tasks (or windows, where there is no task) speak of: the others are groups already.
    """
    raw = list({memory.memory_id: memory for memory in _raw(memories)}.values())
    names = entities.Repeated(memory.content for memory in raw)
    members: dict[tuple[str, str], dict[str, str]] = {}
    for memory in raw:
        for name in _names(memory, names):
            place = memory.task_id or memory.window.isoformat()
            members.setdefault((memory.agent, name), {})[memory.memory_id] = place
    return [
        Group(f"{agent}/entity/{name}", "entity", tuple(ids))
        for (agent, name), ids in members.items()
        if len(set(ids.values())) > 1
    ]


def _raw(memories: Iterable[Memory]) -> Iterator[Memory]:
    return (memory for memory in memories if memory.type == "raw")


def _lone(raw: Sequence[Memory]) -> set[tuple[str, str]]:
    counts: dict[tuple[str, str], int] = {}
    for memory in raw:
        counts[memory.agent, memory.task_id] = counts.get((memory.agent, memory.task_id), 0) + 1
    return {task for task, count in counts.items() if count <= _LONE}


def _bounded(place: tuple[str, By, str], ids: Sequence[str], size: int) -> Iterator[Group]:
    agent, by, name = place
    for number, start in enumerate(range(0, len(ids), size), 1):
        yield Group(f"{agent}/{by}/{name}/{number}", by, tuple(ids[start : start + size]))


def _names(memory: Memory, repeated: entities.Repeated) -> Iterator[str]:
    found = memory.entities or (*entities.of(memory.content), *repeated.found(memory.content))
    yield from dict.fromkeys(entity.name.casefold() for entity in found)
