"""What a person wants forgotten in; first what would go, then, when the person agrees, it is gone for good.

Law: never more goes than was shown; nothing of it stays as bytes in the state folder or in what dreamd wrote, nor comes
back when the logs are read again; a crash at any instant leaves it not begun, or to be finished at the next start.
"""

from typing import Literal

from msgspec import Struct

from dreamd.memories import MemoryType, Status
from dreamd.parts import Parts


class Wish(Struct, frozen=True, kw_only=True):
    """Memories by id (the beginning is enough), or all that hold a text; capitals and spaces do not matter."""

    ids: tuple[str, ...] = ()
    matching: str = ""
    agent: str | None = None  # None: of all agents


class Going(Struct, frozen=True, kw_only=True):
    """A memory that would go.

    `why`: asked (named or matching), source (an insight that goes would be drawn from it again), copy (the same words
    once more), rests (it rests on what goes).
    """

    memory_id: str
    agent: str
    type: MemoryType
    status: Status
    text: str
    why: Literal["asked", "source", "copy", "rests"]


class Line(Struct, frozen=True, kw_only=True):
    """A line of a file (`line` counts from 1), or (`file` "") of a version or a held rewrite that dreamd keeps."""

    agent: str
    file: str
    line: int
    text: str


class Weakened(Struct, frozen=True, kw_only=True):
    """An insight that stays, on less evidence."""

    memory_id: str
    agent: str
    text: str
    status: Status  # what it is afterwards


class Plan(Struct, frozen=True, kw_only=True):
    """All that forgetting would do. `digest` names exactly this.

    `stays` are lines that match but were written by somebody else, and so are left alone; `mentions` are memories that
    tell of the same in their own right and were not asked for. `elsewhere` counts what else holds the words and goes
    with them (versions of MEMORY.md, held rewrites, paid replies that wait), each in words.
    """

    wish: Wish
    memories: tuple[Going, ...] = ()
    lines: tuple[Line, ...] = ()
    weakened: tuple[Weakened, ...] = ()
    stays: tuple[Line, ...] = ()
    mentions: tuple[Going, ...] = ()
    elsewhere: tuple[str, ...] = ()
    digest: str = ""

    @property
    def empty(self) -> bool:
        return not (self.memories or self.lines or self.elsewhere)


class Forgotten(Struct, frozen=True, kw_only=True):
    """What went: memories, and lines of these files."""

    memories: int
    lines: int
    files: tuple[str, ...] = ()


async def plan_forget(parts: Parts, wish: Wish) -> Plan:
    """What would go; changes nothing.

    Raises UsageError (no such memory, a text too short to mean one thing, nothing asked), WorkspaceError, StoreError.
    """
    raise NotImplementedError


async def forget(parts: Parts, plan: Plan) -> Forgotten:
    """Do what the plan says.

    Raises NothingToDo (an empty plan), FileChanged (by now more would go than was shown: plan again), StateLocked (a
    night or dream is under way), WorkspaceError, DiskFull, StoreError. After an error that comes later than the first
    write, the rest is done by `finish`.
    """
    raise NotImplementedError


async def finish(parts: Parts) -> Forgotten | None:
    """Finish what a crash or an error left half forgotten, if anything. Raises as `forget`."""
    raise NotImplementedError
