"""What a person tells dreamd directly in; the record of it and the draft of the insight that it bears out (pure).

The record reads as though it had been said in a session, on purpose, so that all that weighs a person's words weighs
these too.
"""

import hashlib
from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct

from dreamd.clock import local_date
from dreamd.dream.draft import Draft, Quote
from dreamd.dream.said import fold
from dreamd.errors import UsageError
from dreamd.hand.named import readable
from dreamd.memories import Kind, Memory, raw_id
from dreamd.pool import entities
from dreamd.pool.acts import acts
from dreamd.pool.language import detect
from dreamd.pool.redaction import redact, redacted
from dreamd.records import Trust

SESSION = "hand"  # the session of all that is told so
LONGEST = 2000  # characters of one thing to remember
_REMEMBER = {"en": "Remember: {}", "zh": "记住：{}"}


class Said(Struct, frozen=True):
    record: Memory
    draft: Draft


def statement_of(text: str) -> str:
    """The text on one line. Raises UsageError when it is none, no UTF-8, too long, or holds a secret."""
    statement = situation_of(text)
    if not any(char.isalnum() for char in statement):
        raise UsageError("there is nothing to remember", hint="say it in a sentence")
    return statement


def situation_of(text: str) -> str:
    """The text on one line, which may be none. Raises UsageError when it is too long or holds a secret."""
    line = fold(readable(text))
    if len(line) > LONGEST:
        raise UsageError(f"that is longer than {LONGEST} characters", hint="say it in a few sentences")
    if redact(line) != line or redacted(line):
        raise UsageError("it holds a secret, which dreamd never keeps", hint="say it without")
    return line


def said(
    statement: str,
    agent: str,
    now: datetime,
    zone: ZoneInfo,
    *,
    kind: Kind | None = None,
    applies_when: str = "",
) -> Said:
    """`kind` and situation are told from the words where they are not given."""
    content = _REMEMBER[detect([statement])].format(statement)
    mark = hashlib.sha256(content.encode()).hexdigest()[:16]
    record = Memory(
        memory_id=raw_id(agent, f"hand:{now.isoformat()}:{mark}"),
        type="raw",
        content=content,
        agent=agent,
        window=local_date(now, zone),
        received_at=now,
        timestamp=now,
        session_id=SESSION,
        task_id=f"{SESSION}:{mark}",
        role="user",
        origin="human",
        trust=Trust.HUMAN,
        status="dreamt",  # what it says is an insight already
        filed=True,  # no part of what the agent did that day
    )
    act = next(iter(acts(content)), None)
    draft = Draft(
        statement=statement,
        kind=kind or (act.kind if act else "fact"),
        ref_ids=(record.memory_id,),
        quotes=(Quote(record.memory_id, statement),),
        entities=entities.of(statement),
        applies_when=applies_when or (act.applies_when if act else ""),
        explicit=True,
    )
    return Said(record, draft)
