"""Items of one source in; what to write to the pool out: redacted, cut, dated, without dreamd's own words (pure).

The cursor and what was read up to it go into one `Changes`: both are stored or neither.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dreamd.clock import local_date
from dreamd.memories import Memory, raw_id
from dreamd.pool.redaction import redact
from dreamd.records import Amendment, Item, Record, Skip, Trace, Turn, trust_of
from dreamd.stores.base import Changes, Cursor

BATCH_RECORDS = 2500
BATCH_BYTES = 2 << 20
OWN = "own"  # the kind under which dreamd's own words are counted as skipped

_OWN_MARK = re.compile(r"\s*\[dreamd:(?:daily-summary|deep-dream|score|distil|merge|reconcile)\]")
_EARLIEST = datetime(2015, 1, 1, tzinfo=UTC)  # no agent of today logged before that: a clock was wrong
_AHEAD = timedelta(days=1)
# with a local time in every zone
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
_MOST_OWN_SESSIONS = 1000


class Remembered(Struct, omit_defaults=True):
    """What reading one source must know of what came before; travels in the cursor's state beside the reader's dump.

    `own` are the sessions in which dreamd is speaking, with the role that said so: a system text holds for the whole
    session, a user's until the next user text without the mark. `at` is the last believable time. `respan`: the log
    is being read anew because it was rewritten. `settled` is the offset at which the log was last at rest, or -1.
    """

    reader: bytes = b""
    own: dict[str, str] = {}
    at: datetime | None = None
    respan: bool = False
    settled: int = -1


_redacted_path = lru_cache(maxsize=16)(redact)  # a log names the same folder in every line
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Remembered).decode


def remembered(state: bytes) -> Remembered:
    return _decode(state) if state else Remembered()


def state_of(known: Remembered) -> bytes:
    return b"" if known == Remembered() else _encode(known)


class Agent(Struct, frozen=True):
    """Whose logs these are, how their prompts count (see `formats.base.Source`), and the bounds of their texts."""

    agent_id: str
    zone: ZoneInfo
    max_text_bytes: int
    programs_are_human: bool = True


class Batch:
    """Collects items until they are written; `changes` hands them over with the cursor, `clear` begins anew."""

    def __init__(self, agent: Agent, known: Remembered) -> None:
        self._agent = agent
        self._known = known
        self.clear()

    def clear(self) -> None:
        self.memories: list[Memory] = []
        self.amendments: list[tuple[str, Amendment]] = []
        self.turns: list[tuple[str, Turn]] = []
        self.skipped: Counter[str] = Counter()
        self.lines = 0
        self.truncated = 0
        self._undated = 0  # memories, from the first on, whose day is only known when a dated one comes

    @property
    def full(self) -> bool:
        return len(self.memories) >= BATCH_RECORDS

    @property
    def items(self) -> int:
        return len(self.memories) + len(self.amendments) + len(self.turns)

    def add(self, items: Iterable[Item], received: datetime) -> None:
        for item in items:
            if isinstance(item, Record):
                self._record(item, received)
            elif isinstance(item, Skip):
                self.skipped[item.kind] += 1
            elif isinstance(item, Amendment):
                self.amend(raw_id(self._agent.agent_id, item.identity), item)
            else:
                self.turns.append((self._agent.agent_id, item))

    def amend(self, memory_id: str, item: Amendment) -> None:
        self.amendments.append((memory_id, self._amendment(item)))

    def changes(self, cursor: Cursor) -> Changes:
        return Changes(
            memories=self.memories,
            respan=self._known.respan,
            amendments=self.amendments,
            turns=self.turns,
            cursor=cursor,
        )

    def _record(self, record: Record, received: datetime) -> None:
        if is_own(record, self._known.own):
            self.skipped[OWN] += 1
            return
        believable = record.at if record.at and _EARLIEST <= record.at <= received + _AHEAD else None
        dated = believable or self._known.at
        window = local_date(dated or received, self._agent.zone)
        if believable and not self._known.at:
            self._redate(window)
        self._known.at = dated
        self.memories.append(self._memory(record, window, received))
        if not dated:
            self._undated = len(self.memories)

    def _redate(self, window: date) -> None:
        """Undated records at the beginning of a log belong to the day of the first dated one."""
        for at in range(self._undated):
            self.memories[at] = replace(self.memories[at], window=window)
        self._undated = 0

    def _memory(self, record: Record, window: date, received: datetime) -> Memory:
        return Memory(
            memory_id=raw_id(self._agent.agent_id, record.identity),
            type="raw",
            content=self._text(record.text),
            agent=self._agent.agent_id,
            window=window,
            received_at=received,
            session_id=record.session_id,
            task_id=record.task_id or record.session_id,
            timestamp=record.at if record.at and _FIRST <= record.at <= _LAST else None,
            role=record.role,
            origin=record.origin,
            trust=trust_of(record.role, record.origin),
            span=record.span,
            tool=record.tool,
            ok=record.ok,
            project=_redacted_path(record.project),
            trace=self._trace(record.trace) if record.trace else None,
        )

    def _amendment(self, item: Amendment) -> Amendment:
        if item.text is None and item.trace is None:
            return item
        text = None if item.text is None else self._text(item.text)
        return replace(item, text=text, trace=self._trace(item.trace) if item.trace else None)

    def _trace(self, trace: Trace) -> Trace:
        text = self._text
        return Trace(
            text(trace.goal),
            text(trace.subgoal),
            text(trace.arguments),
            text(trace.result),
            text(trace.error),
            text(trace.summary),
        )

    def _text(self, text: str) -> str:
        return cut(redact(text), self._agent.max_text_bytes) if text else ""


def is_own(record: Record, own: dict[str, str]) -> bool:
    """Whether dreamd itself speaks or is answered here; keeps `own` (see Remembered) up to date.

    A tool record follows its session; so does everything after a marked system text.
    """
    session = record.session_id
    if record.role in ("system", "user") and _OWN_MARK.match(record.text):
        while len(own) >= _MOST_OWN_SESSIONS:
            own.pop(next(iter(own)))
        own[session] = record.role
        return True
    if record.role == "user" and own.get(session) == "user":
        del own[session]
    return session in own


def cut(text: str, max_bytes: int) -> str:
    """The longest head of `text` that is within `max_bytes` of UTF-8."""
    if len(text) * 4 <= max_bytes or len(data := text.encode("utf-8", "replace")) <= max_bytes:
        return text
    return data[:max_bytes].decode("utf-8", "ignore")


def counted(cursor: Cursor, batch: Batch) -> Cursor:
    """The cursor with the batch's counts added to its totals."""
    skipped = Counter(cursor.skipped)
    skipped.update(batch.skipped)
    return replace(
        cursor,
        lines=cursor.lines + batch.lines,
        records=cursor.records + len(batch.memories),
        truncated=cursor.truncated + batch.truncated,
        skipped=dict(skipped),
    )
