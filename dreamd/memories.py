"""What the pool holds: one shape for raw records, summaries and insights (DESIGN 4.1)."""

import hashlib
from collections.abc import Iterable
from datetime import date, datetime
from typing import Literal, get_args

from msgspec import Struct

from dreamd.records import Origin, Role, Span, Trace, Trust

MemoryType = Literal["raw", "summary", "insight"]
Status = Literal[
    "fresh", "dreamt", "candidate", "long_term", "superseded", "withdrawn", "archived", "forgotten"
]
STATUSES: tuple[Status, ...] = get_args(Status)
GONE: tuple[Status, ...] = ("withdrawn", "forgotten")  # nothing rests on these any more
THERE = tuple(status for status in STATUSES if status != "forgotten")
Kind = Literal["preference", "fact", "decision", "lesson", "behaviour", "procedure"]


class Entity(Struct, frozen=True):
    name: str
    type: str  # person, project, preference, decision, tool, place, ...


class Memory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of the pool.

    `timestamp` is when the event happened (UTC), None where the log does not say; `received_at` when dreamd
    stored it. `window` is the local day of the agent's zone. `seq` is the order of arrival, given by the store
    (0 before). `filed` says that a daily has been written from it. `ref_ids` are upstream memories. `archived` says
    that the store keeps its text in an archive file.
    """

    memory_id: str
    type: MemoryType
    content: str
    agent: str
    window: date
    received_at: datetime
    entities: tuple[Entity, ...] = ()
    session_id: str = ""
    task_id: str = ""
    timestamp: datetime | None = None
    ref_ids: tuple[str, ...] = ()
    confidence: float = 1.0
    contradictions_flag: bool = False
    role: Role | None = None
    origin: Origin | None = None
    trust: Trust = Trust.UNTRUSTED
    span: Span | None = None
    status: Status = "fresh"
    tool: str = ""
    ok: bool | None = None
    project: str = ""
    trace: Trace | None = None
    kind: Kind | None = None
    applies_when: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    windows: int = 0
    tasks: int = 0
    origins: int = 0
    last_recalled_at: datetime | None = None
    pinned: bool = False
    filed: bool = False
    archived: bool = False
    seq: int = 0

    @property
    def happened(self) -> datetime:
        """Where the log does not say when, it is when dreamd stored it."""
        return self.timestamp or self.received_at

    @property
    def by_a_person(self) -> bool:
        """A record of the human's own words."""
        return self.role == "user" and self.origin == "human"


def memory_ids(refs: Iterable[str]) -> tuple[str, ...]:
    """Those refs that name memories; the others name lines of files, as `version:<version_id>#<line number>`."""
    return tuple(ref for ref in refs if ":" not in ref)


def raw_id(agent: str, identity: str) -> str:
    """The id of a raw memory: the same record has the same id however often and wherever it is read."""
    return hashlib.sha256(f"{agent}\0{identity}".encode()).hexdigest()[:32]


def derived_id(type_: MemoryType, agent: str, content: str, ref_ids: tuple[str, ...]) -> str:
    """The id of a summary or insight: the same text on the same evidence is the same memory."""
    whole = "\0".join((type_, agent, content, *ref_ids))
    return type_[0] + hashlib.sha256(whole.encode()).hexdigest()[:31]
