"""What comes in: records of a session log, what later changes them, and where each one stands.

Plain data. A format turns bytes or rows into items; nothing here knows how.
"""

from datetime import datetime
from enum import IntEnum
from typing import Literal

from msgspec import Struct

Role = Literal["user", "assistant", "tool", "system"]
Origin = Literal["human", "scheduled", "subagent", "injected", "tool"]


class Trust(IntEnum):
    """How far a text may be believed. Set by code from role and origin; summarising never raises it."""

    UNTRUSTED = 0
    AGENT = 1
    HUMAN = 2


def trust_of(role: Role, origin: Origin) -> Trust:
    """The human's own words are HUMAN, an agent's words in a human's turn AGENT, all else UNTRUSTED."""
    if role == "user" and origin == "human":
        return Trust.HUMAN
    if role == "assistant" and origin == "human":
        return Trust.AGENT
    return Trust.UNTRUSTED


class Span(Struct, frozen=True):
    """Where a record stands in its log.

    `source_id` names the log for good, whatever it is called now (the cursor knows its present path).
    Line logs: `offset` and `length` in bytes of the (decompressed) log, `sha256` of those raw bytes.
    Row stores: `table` and `row` instead, `sha256` of the row's content column.
    """

    source_id: str
    offset: int = 0
    length: int = 0
    sha256: bytes = b""
    table: str = ""
    row: str = ""


class Trace(Struct, frozen=True, omit_defaults=True):
    """The trace fields of the seed, where the log has them. Texts are already cut to a bound by the format."""

    goal: str = ""
    subgoal: str = ""
    arguments: str = ""
    result: str = ""
    error: str = ""
    summary: str = ""


class Record(Struct, frozen=True, kw_only=True):
    """One event of a session: who said or did what, when, with its span.

    `identity` is the record's own (FORMATS J11), unique within one agent's logs: a second sighting of the same
    identity, in whatever file, is the same record. `text` is empty for tool records, `tool` for all others.
    `ok` of a tool record is None until its result is known. `at` is aware UTC cut to ms, or None.
    `project` is the working directory the log names, if any.
    """

    identity: str
    session_id: str
    role: Role
    origin: Origin
    span: Span
    text: str = ""
    tool: str = ""
    ok: bool | None = None
    at: datetime | None = None
    task_id: str = ""
    project: str = ""
    trace: Trace | None = None


class Amendment(Struct, frozen=True, kw_only=True):
    """A later line changes what an earlier record said. None means: as it was.

    `withdrawn=True` is the retraction of rewound or withdrawn text, `False` brings it back. An amendment
    whose identity is not in the pool is dropped and counted. `own_only` leaves a record alone that another source
    brought: a fork that goes back in the history it copied takes nothing from the original.
    """

    identity: str
    ok: bool | None = None
    origin: Origin | None = None
    text: str | None = None
    trace: Trace | None = None
    withdrawn: bool | None = None
    own_only: bool = False


class Turn(Struct, frozen=True):
    """A turn of a session began (`busy`) or ended: a foreground call is or is not under way."""

    session_id: str
    busy: bool
    at: datetime | None = None


class Skip(Struct, frozen=True):
    """Something was not understood or not wanted. `kind` is short and from a closed set of the format's own."""

    kind: str


LEFT_OUT = frozenset(  # kinds of what was understood and is not wanted
    {"blank", "copied", "metadata", "repeated", "silent", "superseded", "synthetic", "unwanted", "withdrawn"}
)

Item = Record | Amendment | Turn | Skip
