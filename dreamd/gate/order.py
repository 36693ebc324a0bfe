"""Who goes first among dreamd's own calls: what a person waits for, then the night, then dreams."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Rank = Literal[0, 1, 2]
PERSON: Rank = 0
NIGHT: Rank = 1
DREAM: Rank = 2

_asked: ContextVar[bool] = ContextVar("dreamd_asked_by_a_person", default=False)


@contextmanager
def asked_by_a_person() -> Iterator[None]:
    """All jobs begun meanwhile go first: somebody waits for them."""
    token = _asked.set(True)
    try:
        yield
    finally:
        _asked.reset(token)


def rank_of(job: str) -> Rank:
    """By the job's name, `phase:agent:day`, unless a person asked for it."""
    if _asked.get():
        return PERSON
    return DREAM if job.startswith("dream:") else NIGHT


def agent_of(job: str) -> str:
    """The agent a job is done for, or "" when its name has none. Agents' names hold no colon."""
    return job.split(":")[1] if ":" in job else ""
