"""What callers send and are sent, as structs: requests are decoded by them, and the OpenAPI document is made of them."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from dreamd.clock import within_reach
from dreamd.hand.forget import Forgotten, Plan
from dreamd.memories import Entity, Kind, Memory, MemoryType, Status
from dreamd.records import Origin, Role, Span
from dreamd.status import AgentStatus

Text = Annotated[str, Meta(min_length=1, max_length=16_384)]
Name = Annotated[str, Meta(min_length=1, max_length=64)]
MemoryId = Annotated[
    str, Meta(pattern="^[0-9a-z]{4,32}$", description="A memory's id, or the beginning of it.")
]
Moment = Annotated[datetime, Meta(tz=True)]
Count = Annotated[int, Meta(ge=0, le=2**53)]


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request."""


class Nothing(Asked, frozen=True):
    pass


class Goal(Asked, frozen=True):
    """`as_of` asks what was held to be so at that time. `budget` is in tokens."""

    goal: Text
    agents: Annotated[tuple[Name, ...], Meta(max_length=100)] | None = None
    budget: Annotated[int, Meta(ge=50, le=32_000)] | None = None
    as_of: Moment | None = None

    def __post_init__(self) -> None:
        if self.as_of:
            within_reach(self.as_of)


class Listing(Asked, frozen=True):
    """Which memories, in order of arrival; `after` is the `next` of the page before."""

    agent: Name | None = None
    type: MemoryType | None = None
    status: Status | None = None
    day: date | None = None
    after: Count = 0
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class Named(Asked, frozen=True):
    id: MemoryId


class Grounds(Asked, frozen=True):
    """`of`: FILE:LINE of a MEMORY.md, a daily or a diary, or a memory's id or its beginning."""

    of: Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f]+$")]


class Correcting(Asked, frozen=True):
    """`id` names the insight that is wrong, `text` is what stands in its place."""

    id: MemoryId
    text: Text


class JobNamed(Asked, frozen=True):
    id: Annotated[str, Meta(pattern="^[0-9a-f]{1,32}$")]


class Telling(Asked, frozen=True):
    """`agent` may be left out where there is one alone."""

    text: Text
    agent: Name | None = None
    kind: Kind | None = None
    applies_when: Annotated[str, Meta(max_length=1000)] = ""
    pinned: bool = False


class Forgetting(Asked, frozen=True):
    """By ids, or all that hold a text. Without `confirm` nothing is changed; with the `digest` of the plan it is done."""

    ids: Annotated[tuple[MemoryId, ...], Meta(max_length=1000)] = ()
    matching: Annotated[str, Meta(max_length=1000)] = ""
    agent: Name | None = None
    confirm: Annotated[str, Meta(max_length=128)] = ""


class NightAsked(Asked, frozen=True):
    """`day`: by default the latest with records that are in no daily yet, else with any."""

    day: date | None = None
    agents: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=100)] | None = None
    force: bool = False
    dry_run: bool = False

    def __post_init__(self) -> None:
        if self.day:
            within_reach(self.day)


class DreamsAsked(Asked, frozen=True):
    agents: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=100)] | None = None
    force: bool = False
    dry_run: bool = False


class TraceLine(Asked, frozen=True):
    """A line of dreamd's trace format (`dreamd/formats/trace.py`). With an `id` of its own, sent twice it counts once."""

    kind: Literal["goal", "subgoal", "action", "result", "summary", "message", "checkpoint", "end"]
    id: Name | None = None
    at: Moment | None = None
    task: Name | None = None
    project: Annotated[str, Meta(max_length=4096)] | None = None
    by: Literal["human", "scheduled", "subagent", "agent"] | None = None
    role: Literal["user", "assistant", "system"] | None = None
    text: str | None = None
    tool: Name | None = None
    arguments: Any = None
    of: Name | None = None
    result: Any = None
    error: Any = None
    ok: bool | None = None


class Traces(Asked, frozen=True):
    """Lines of one session, in order. The agent's format must be `trace`."""

    agent: Name
    session: Name
    lines: Annotated[tuple[TraceLine, ...], Meta(min_length=1, max_length=1000)]


class Place(Struct, frozen=True, omit_defaults=True):
    """Where a record stands in its log: bytes of a file and their SHA-256 (hex), or a row of a table."""

    source_id: str
    offset: int = 0
    length: int = 0
    sha256: str = ""
    table: str = ""
    row: str = ""


class Pooled(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory: a raw record, a summary or an insight."""

    memory_id: str
    type: MemoryType
    status: Status
    agent: str
    content: str
    window: date
    seq: int
    timestamp: datetime | None = None
    role: Role | None = None
    origin: Origin | None = None
    trust: Literal["untrusted", "agent", "human"] = "untrusted"
    tool: str = ""
    ok: bool | None = None
    session_id: str = ""
    task_id: str = ""
    project: str = ""
    kind: Kind | None = None
    entities: tuple[Entity, ...] = ()
    applies_when: str = ""
    confidence: float = 1.0
    contradictions_flag: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    last_recalled_at: datetime | None = None
    pinned: bool = False
    ref_ids: tuple[str, ...] = ()
    span: Place | None = None


class Page(Struct, frozen=True):
    """`next` is what to ask for `after`; null at the end."""

    memories: tuple[Pooled, ...]
    next: int | None = None


class Kept(Struct, frozen=True):
    """The insight, and the record of what was said. `new` is False, and `record` null, when it stood there already."""

    insight: Pooled
    record: Pooled | None
    new: bool


class Corrected(Struct, frozen=True):
    """`old` is superseded from now on, `new` stands in its place."""

    old: Pooled
    new: Pooled


class Agents(Struct, frozen=True):
    agents: tuple[AgentStatus, ...]


class ForgetAnswer(Struct, frozen=True):
    """What would go; `forgotten` is what went, null while it was not confirmed."""

    plan: Plan
    forgotten: Forgotten | None = None


class Told(Struct, frozen=True):
    """How many lines are on the disk now; dreamd reads them like any other log."""

    lines: int


class Health(Struct, frozen=True):
    status: Literal["ok"] = "ok"


def pooled(memory: Memory) -> Pooled:
    same = {name: getattr(memory, name) for name in Pooled.__struct_fields__ if name not in ("trust", "span")}
    return Pooled(**same, trust=_TRUSTS[memory.trust], span=_place(memory.span) if memory.span else None)


_TRUSTS: tuple[Literal["untrusted", "agent", "human"], ...] = ("untrusted", "agent", "human")


def _place(span: Span) -> Place:
    return Place(span.source_id, span.offset, span.length, span.sha256.hex(), span.table, span.row)
