"""Memories of a day go in, numbered events come out: what the human asked, what the assistant answered (pure).

What is left out, and why:

1. Scheduled turns: a timer asked, nobody lived it (FORMATS J6).
2. Injected user text: the harness wrote it. What the assistant said to it is kept as an event without a question.
3. Subagents' turns: their "user" is an agent, so "User: ..." would be untrue; the human's own turn has the call among
   its tools and the outcome in its answer.
4. Tool results: a tool is one short note, `name ok` or `name failed`, for context; no line rests on it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from dreamd.memories import Memory
from dreamd.pool import tokens
from dreamd.records import Trust

LEAST_TOKENS = 128  # a budget in which one event can be shown at all
# of one question, and twice that of an event's answers; the middle of longer ones is left out
_MESSAGE_TOKENS = 800
MESSAGE_CHARACTERS = 6_000  # more than that is never shown, so it is not held either
_TOOLS_SHOWN = 8


class Event(Struct, frozen=True, kw_only=True):
    """One question with its answers, or answers alone (`asked` is "").

    `ref_ids` are its raw memories, tools aside; `trust` is their lowest; `fresh` says that one of them is in no daily
    yet; `awaited` that these are answers to a human whose question is not here.
    """

    number: int
    session_id: str
    task_id: str
    at: datetime | None
    asked: str
    answers: tuple[str, ...]
    tools: tuple[str, ...]
    ref_ids: tuple[str, ...]
    trust: Trust
    fresh: bool
    awaited: bool


def events(memories: Iterable[Memory]) -> list[Event]:
    """The events of raw memories given in order of arrival, numbered from 1: by session, the earliest first (J13)."""
    sessions: dict[str, list[Memory]] = {}
    for memory in memories:
        content = held(memory.content)
        shown = memory if content == memory.content else replace(memory, content=content)
        sessions.setdefault(memory.session_id, []).append(shown)
    ordered = sorted(sessions.values(), key=_beginning)
    told = [_event(turn) for session in ordered for turn in _turns(session)]
    spoken = [event for event in told if event.ref_ids]
    return [replace(event, number=number) for number, event in enumerate(spoken, 1)]


def held(text: str, most: int = MESSAGE_CHARACTERS) -> str:
    """As much of a message as can ever be shown. Its ellipsis is ASCII: a wider one would double English text in memory."""
    text = text.strip()
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}...{text[-half:]}"


def _beginning(session: Sequence[Memory]) -> tuple[bool, float]:
    times = [memory.timestamp.timestamp() for memory in session if memory.timestamp]
    return (not times, min(times, default=0.0))


class _Cut:
    """A session's records, cut where the human speaks; replies to injected turns stand apart."""

    def __init__(self) -> None:
        self.turns: list[list[Memory]] = []
        # the turn that replies of origin human belong to, and the one that tools do; None: one that is left out
        self.human: list[Memory] | None = None
        self.under_way: list[Memory] | None = None

    def begin(self) -> list[Memory]:
        self.turns.append([])
        return self.turns[-1]

    def asked(self, memory: Memory) -> None:
        self.human = self.under_way = self.begin()
        self.human.append(memory)

    def answered(self, memory: Memory) -> None:
        self.human = self.under_way = self.begin() if self.human is None else self.human
        self.human.append(memory)

    def answered_the_harness(self, memory: Memory) -> None:
        if self.under_way is None or self.under_way is self.human:
            self.under_way = self.begin()
        self.under_way.append(memory)

    def called(self, memory: Memory) -> None:
        if self.under_way is not None:
            self.under_way.append(memory)

    def left(self, _memory: Memory) -> None:
        self.under_way = None


_STEPS: Mapping[tuple[str | None, str | None], Callable[[_Cut, Memory], None]] = {
    ("user", "human"): _Cut.asked,
    ("user", "scheduled"): _Cut.left,
    ("user", "subagent"): _Cut.left,
    ("assistant", "human"): _Cut.answered,
    ("assistant", "injected"): _Cut.answered_the_harness,
    ("tool", "tool"): _Cut.called,
}


def _turns(session: Iterable[Memory]) -> list[list[Memory]]:
    cut = _Cut()
    for memory in session:
        step = _STEPS.get((memory.role, memory.origin))
        if step and (memory.content or memory.role == "tool"):
            step(cut, memory)
    return cut.turns


def _event(turn: Sequence[Memory]) -> Event:
    spoken = [memory for memory in turn if memory.role != "tool"]
    asked = next((memory.content for memory in spoken if memory.role == "user"), "")
    times = [memory.timestamp for memory in spoken if memory.timestamp]
    return Event(
        number=0,
        session_id=turn[0].session_id,
        task_id=only(memory.task_id for memory in spoken),
        at=times[0] if times else None,
        asked=asked,
        answers=tuple(memory.content for memory in spoken if memory.role == "assistant"),
        tools=tuple(_notes(memory for memory in turn if memory.role == "tool")),
        ref_ids=tuple(memory.memory_id for memory in spoken),
        trust=min((memory.trust for memory in spoken), default=Trust.UNTRUSTED),
        fresh=any(not memory.filed for memory in spoken),
        awaited=not asked and any(memory.origin == "human" for memory in spoken),
    )


def only(values: Iterable[str]) -> str:
    """The one value that all of them are, else ""."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""


def _notes(calls: Iterable[Memory]) -> Iterator[str]:
    """`Bash ok x3`, `Edit failed`: names are from the log, so only what a name may hold is let through."""
    outcome = {True: " ok", False: " failed", None: ""}
    counts = Counter(re.sub(r"[^\w.:-]+", "_", call.tool)[:40] + outcome[call.ok] for call in calls)
    for note, count in list(counts.items())[:_TOOLS_SHOWN]:
        yield f"{note} x{count}" if count > 1 else note
    if len(counts) > _TOOLS_SHOWN:
        yield "…"


def shown(event: Event, zone: ZoneInfo, budget_tokens: int) -> str:
    """The event as a model reads it, in at most `budget_tokens` (at least LEAST_TOKENS) by estimate.

    Only what code wrote begins in the first column: a text that imitates a header stays indented below its own.
    The last answer stands first, for the outcome is there; what the assistant said on the way follows, cut short.
    """
    share = min(_MESSAGE_TOKENS, budget_tokens // 5)
    lines = [f"E{event.number}" + (f" {event.at.astimezone(zone):%H:%M}" if event.at else "")]
    if event.asked:
        lines.append("User: " + _indented(event.asked, share, head=share * 2 // 3))
    if event.tools:
        lines.append("Tools: " + tokens.cut(", ".join(event.tools), share // 2))
    *earlier, last = event.answers or ("(none)",)
    lines.append("Assistant: " + _indented(last, share * 3 // 2, head=share))
    if earlier:
        lines.append("Before that: " + _indented("\n".join(earlier), share // 2, head=share // 4))
    return "\n".join(lines)


def _indented(text: str, budget_tokens: int, *, head: int) -> str:
    """The text, later lines indented, within `budget_tokens`: its first `head` tokens, an ellipsis, and its end."""
    whole = "\n  ".join(line for line in text.splitlines() if line.strip())
    if tokens.estimate(whole) <= budget_tokens:
        return whole
    end = tokens.cut(whole[::-1], budget_tokens - head - 2)[::-1]
    return tokens.cut(whole, head).removesuffix("…") + end


def chunks(listed: Sequence[Event], zone: ZoneInfo, budget_tokens: int, most: int) -> list[list[Event]]:
    """The events in order, cut into runs that fit `budget_tokens` as shown and hold `most` at most.

    Each run counts from E1, so that its prompt does not change when records come late elsewhere in the day.
    """
    runs: list[list[Event]] = []
    spent = 0
    for event in listed:
        cost = tokens.estimate(shown(event, zone, budget_tokens)) + 1  # the line between two events
        if not runs or spent + cost > budget_tokens or len(runs[-1]) == most:
            runs.append([])
            spent = 0
        runs[-1].append(replace(event, number=len(runs[-1]) + 1))
        spent += cost
    return runs
