"""A world as plain data: what was said, and what a good memory makes of it."""

from datetime import date, datetime
from typing import Literal

from msgspec import Struct

from dreamd.pool.language import Tongue
from dreamd.records import Record

Sort = Literal[
    "lasting",  # said in other words on several days in several tasks
    "figure",  # the same of a fact with an exact value
    "explicit",  # said once, to be remembered
    "burst",  # said several times within a day, in several tasks
    "passing",  # a liking of the moment, said once
    "single_task",  # said on several days, all of one task
    "copy",  # one message again and again: forked, sent anew, quoted, recalled by the assistant
    "opposed",  # one side of two that cannot both hold
    "corrected",  # what the human later corrected
    "correction",  # the correction
    "near",  # one of two things that look alike
    "scheduled",  # by timers, harnesses and other agents
    "smuggled",  # instructions in tool output, pages and what was read from them
    "secret",
    "unmeant",  # asked, supposed, quoted, translated
]
Verdict = Literal["must", "may", "never"]


class Plant(Struct, frozen=True, kw_only=True):
    """Something said, and whether it must, may or must never become long-term.

    `memory_ids` are the records that say it, `says` the wordings in them, `exact` what a memory of it has to hold.
    `other` names the plant that opposes it, corrects it, or only looks like it.
    """

    name: str
    sort: Sort
    agent: str
    verdict: Verdict
    memory_ids: tuple[str, ...]
    says: tuple[str, ...]
    exact: str = ""
    other: str = ""


class Line(Struct, frozen=True):
    """A record of an agent's log."""

    agent: str
    day: date
    at: datetime
    record: Record


class World(Struct, frozen=True, kw_only=True):
    """`lines` are in order of time; `secrets` must stand nowhere afterwards."""

    seed: int
    first: date
    days: int
    languages: dict[str, Tongue]  # by agent
    lines: tuple[Line, ...]
    plants: tuple[Plant, ...]
    secrets: tuple[str, ...]
