"""What recall answers: conclusions first, then records, and the text of both for a prompt. Plain data."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from dreamd.memories import Entity, Kind, Status
from dreamd.records import Role

Match = Literal["words", "entity", "situation", "meaning", "standing", "pinned"]


class Against(Struct, frozen=True):
    """An insight that contradicts another; `reason` is code's: which number, name or negation."""

    memory_id: str
    statement: str
    reason: str


class RecalledInsight(Struct, frozen=True, kw_only=True):
    """A conclusion that bears on the goal.

    `confidence` is faded until now. `valid_from` and `valid_until` bound the time in which it held; `at` is when its
    newest evidence happened. `matched` says what brought it: words or an entity or a situation of the goal, likeness of
    meaning; `standing` ones (a person's lasting preferences and instructions) and pinned ones come along unasked.
    `superseded_by` is the id of the insight that took its place, "" when none did.
    """

    memory_id: str
    agent: str
    statement: str
    status: Status
    confidence: float
    kind: Kind | None = None
    at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    pinned: bool = False
    standing: bool = False
    matched: tuple[Match, ...] = ()
    against: tuple[Against, ...] = ()
    superseded_by: str = ""
    applies_when: str = ""
    entities: tuple[Entity, ...] = ()


class RecalledRecord(Struct, frozen=True, kw_only=True):
    """A raw record that fills a gap. `score` is comparable within one answer only, higher is nearer.

    `put_right`: what it says was superseded since, by the insight `superseded_by`, whose statement is `instead` ("" when
    that is not believed any more either).
    """

    memory_id: str
    agent: str
    role: Role | None
    text: str
    at: datetime | None
    session_id: str
    score: float
    put_right: bool = False
    superseded_by: str = ""
    instead: str = ""


class Recalled(Struct, frozen=True, kw_only=True):
    """The answer, best first. `text` is all of it for a prompt, marked as quoted data; `tokens` is its estimate.

    `left_out` counts what also matched and found no room in the budget.
    """

    goal: str
    insights: tuple[RecalledInsight, ...] = ()
    records: tuple[RecalledRecord, ...] = ()
    text: str = ""
    tokens: int = 0
    left_out: int = 0
