"""What a person wants forgotten, and all that it takes with it, as it is shown first. Plain data."""

import hashlib
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from dreamd.memories import MemoryType, Status

LEFT = "hand.forgetting"  # where the store keeps what is left to do
Why = Literal["asked", "source", "copy", "rests"]


class Wish(Struct, frozen=True, kw_only=True):
    """Memories by id (the beginning is enough), or all that hold a text; capitals and white space do not matter."""

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
    why: Why


class Line(Struct, frozen=True, kw_only=True):
    """A line or sentence in a file; `line` counts from 1."""

    agent: str
    file: str
    line: int
    text: str


class Weakened(Struct, frozen=True, kw_only=True):
    """An insight that stays, on less evidence; `status` is what it is afterwards."""

    memory_id: str
    agent: str
    text: str
    status: Status


class Plan(Struct, frozen=True, kw_only=True):
    """All that forgetting would do. `digest` names exactly this.

    `lines` go from files that dreamd wrote; `stays` are lines that match and were written by somebody else: those are
    left alone. `mentions` are memories that tell of the same in their own right and were not asked for. `elsewhere`
    says what else holds it and is cleaned: earlier versions of MEMORY.md, held rewrites, reasons in the ledger.
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


def digest_of(*groups: Iterable[object]) -> str:
    """Names what the groups hold, whatever its order."""
    whole = hashlib.sha256()
    for group in groups:
        whole.update("\0".join(sorted(map(repr, group))).encode() + b"\1")
    return whole.hexdigest()[:32]


def more_than_shown(shown: Plan, now: Plan) -> bool:
    """Whether by now anything would go, or be weakened, that was not shown."""
    ids = {one.memory_id for one in shown.memories}
    weak = {(one.memory_id, one.status) for one in shown.weakened}
    lines = {(one.file, one.text) for one in shown.lines}
    return not (
        all(one.memory_id in ids for one in now.memories)
        and all((one.memory_id, one.status) in weak for one in now.weakened)
        and all((one.file, one.text) in lines for one in now.lines)
        and set(now.elsewhere) <= set(shown.elsewhere)
    )
