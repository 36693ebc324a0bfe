"""dreamd's own trace format: for agents that log nothing else, and for code that wants to be remembered.

One JSON object a line, UTF-8, appended and never rewritten. Every line has

    {"dreamd": 1, "kind": KIND, "session": "s-1", "at": "2026-03-02T09:00:00.000Z", ...}

`dreamd` is the version of this format and best stands first. `session` names the conversation (default: the file's name
without its suffix), `at` the time (ISO-8601; without an offset it is UTC). Optional on every line: `task`, what the line
belongs to, when that is not the session; `id`, unique within the session, so that a line written twice counts once; and
`project`, the working directory. Unknown kinds and fields are passed over.

kind          further fields                          what becomes of it
goal          text, by                                what is to be reached; a later goal of the task replaces it
subgoal       text, by                                the step under way
action        tool, arguments, [result | error]       a tool call; arguments are any JSON
result        of, result | error                      how the action with that `id` ended; an `error` means it failed
summary       text                                    one line on where things stand
message       role (user, assistant, system), text, by    what was said
checkpoint    [text]                                  a place to pause at; its text is kept like a summary
end           [text], [ok]                            the task is over; its text is kept like a summary

`by` says whose words a user's message, a goal or a subgoal are: `human`, `scheduled` (a timer or cron), `subagent` (another
agent) or `agent`. A user's message is a human's and a goal an agent's unless `by` says otherwise. Only what is `by` a human
is believed as the human's own: write it for what a person typed, and for nothing else. An assistant's message belongs to
whoever spoke last before it in its session.

A goal by a human becomes a user's record, one by an agent a system's. All texts also stand in the record's trace, cut to
2 KiB. The agent counts as busy from a user's message, a goal or an action until an assistant's message or the task's end.

    {"dreamd":1,"kind":"goal","session":"s-1","task":"t-1","at":"2026-03-02T09:00:00Z","by":"human","text":"Book a table"}
    {"dreamd":1,"kind":"action","session":"s-1","task":"t-1","id":"a1","tool":"search","arguments":{"q":"noodles"}}
    {"dreamd":1,"kind":"result","session":"s-1","task":"t-1","of":"a1","result":"3 places"}
    {"dreamd":1,"kind":"end","session":"s-1","task":"t-1","ok":true,"text":"Booked for 19:00"}
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from dreamd.formats._json import Lines, cut, decoded, moment
from dreamd.formats._values import NOTHING, TRACE_BYTES, bound, name_of
from dreamd.formats.base import CERTAIN, NO, LineFormat, LineReader, Source, Surroundings
from dreamd.records import Amendment, Item, Origin, Record, Role, Skip, Span, Trace, Turn

VERSION = 1

_MAX_PENDING = 64  # actions whose result is awaited; of one older than these the arguments are not told again
_MAX_SESSIONS = 64
_SIGN = re.compile(rb'\s*\{\s*"dreamd"\s*:\s*\d')  # a first line that is longer than the head
_NO_VALUES = frozenset({b"", b"null"})
_SPEAKERS: dict[str, Origin] = {
    "human": "human", "scheduled": "scheduled", "subagent": "subagent", "agent": "injected",
}  # fmt: skip
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


class Line(Struct, frozen=True):
    dreamd: int = 0
    kind: str = ""
    id: str | int | None = None
    session: str | int | None = None
    task: str | int | None = None
    at: str | None = None
    project: str | None = None
    by: str | None = None
    role: str | None = None
    text: str | None = None
    tool: str | None = None
    arguments: Raw = NOTHING
    of: str | int | None = None
    result: Raw = NOTHING
    error: Raw = NOTHING


class State(Struct):
    origins: dict[str, Origin] = {}
    """Session -> whose turn it is."""
    busy: dict[str, bool] = {}
    pending: dict[str, str] = {}
    """Identity of an action -> its arguments, while its result is awaited."""


class Reader:
    def __init__(self, source: Source, state: State) -> None:
        self._stem = source.path.name.partition(".jsonl")[0]
        self._state = state
        self._read: dict[str, Callable[[Line, Span], Iterator[Item]]] = {
            "goal": self._goal,
            "subgoal": self._goal,
            "action": self._action,
            "result": self._result,
            "summary": self._note,
            "message": self._message,
            "checkpoint": self._note,
            "end": self._end,
        }

    def feed(self, line: bytes, span: Span) -> Sequence[Item]:
        lines, lost = _LINES.read(line)
        items: list[Item] = [Skip("damaged")] * lost
        for each in lines:
            read = self._read.get(each.kind)
            if each.dreamd != VERSION:
                items.append(Skip("version"))
            elif read is None:
                items.append(Skip("kind"))
            else:
                items += read(each, span)
        return items

    def settle(self) -> Sequence[Item]:
        return ()

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._state)

    def _goal(self, line: Line, span: Span) -> Iterator[Item]:
        origin = _SPEAKERS.get(line.by or "agent", "injected")
        role: Role = "system" if origin == "injected" else "user"
        text = _text(line)
        trace = Trace(goal=_cut(text)) if line.kind == "goal" else Trace(subgoal=_cut(text))
        if role == "user":
            self._begins(line, origin)
        yield self._record(line, span, role, origin, text, trace) if text else Skip("blank")
        yield from self._turn(line, busy=True)

    def _message(self, line: Line, span: Span) -> Iterator[Item]:
        role, text = _ROLES.get(line.role or ""), _text(line)
        if role is None or not text:
            yield Skip("role" if text else "blank")
            return
        origin: Origin = "injected"
        if role == "user":
            origin = _SPEAKERS.get(line.by or "human", "injected")
            self._begins(line, origin)
        elif role == "assistant":
            origin = self._state.origins.get(self._session(line), "human")
        yield self._record(line, span, role, origin, text, None)
        if role != "system":
            yield from self._turn(line, busy=role == "user")

    def _note(self, line: Line, span: Span) -> Iterator[Item]:
        if text := _text(line):
            yield self._record(line, span, "system", "injected", text, Trace(summary=_cut(text)))
        else:
            yield Skip("blank")

    def _end(self, line: Line, span: Span) -> Iterator[Item]:
        yield from self._note(line, span)
        yield from self._turn(line, busy=False)

    def _action(self, line: Line, span: Span) -> Iterator[Item]:
        arguments = _value(line.arguments)
        record = self._record(line, span, "tool", "tool", "", Trace(arguments=arguments))
        if line.id is not None:
            self._state.pending[record.identity] = arguments
            bound(self._state.pending, _MAX_PENDING)
        yield record
        yield from self._turn(line, busy=True)
        if bytes(line.result) not in _NO_VALUES or bytes(line.error) not in _NO_VALUES:
            yield self._outcome(line, record.identity)

    def _result(self, line: Line, _: Span) -> Iterator[Item]:
        yield Skip("orphan") if line.of is None else self._outcome(line, self._identity(line, line.of))

    def _outcome(self, line: Line, identity: str) -> Amendment:
        error = "" if bytes(line.error) == b"false" else _value(line.error)
        arguments = self._state.pending.pop(identity, None)
        trace = None
        if arguments is not None:
            trace = Trace(arguments=arguments, result="" if error else _value(line.result), error=error)
        return Amendment(identity=identity, ok=not error, trace=trace)

    def _begins(self, line: Line, origin: Origin) -> None:
        self._state.origins[self._session(line)] = origin
        bound(self._state.origins, _MAX_SESSIONS)

    def _turn(self, line: Line, *, busy: bool) -> Sequence[Item]:
        session_id = self._session(line)
        if self._state.busy.get(session_id, False) == busy:
            return ()
        self._state.busy[session_id] = busy
        bound(self._state.busy, _MAX_SESSIONS)
        return (Turn(session_id, busy, moment(line.at)),)

    def _record(
        self, line: Line, span: Span, role: Role, origin: Origin, text: str, trace: Trace | None
    ) -> Record:
        own = (
            line.id
            if line.id is not None
            else f"{line.kind} {line.at} {line.tool} {line.role} {text} {_value(line.arguments)}"
        )
        return Record(
            identity=self._identity(line, own),
            session_id=self._session(line),
            role=role,
            origin=origin,
            text=text,
            tool=(line.tool or "unknown") if role == "tool" else "",
            span=span,
            at=moment(line.at),
            task_id="" if line.task is None else str(line.task),
            project=line.project or "",
            trace=trace,
        )

    def _session(self, line: Line) -> str:
        return self._stem if line.session is None else str(line.session)

    def _identity(self, line: Line, own: str | int) -> str:
        return name_of(self._session(line), str(own))


class TraceFormat:
    name = "trace"
    label = "trace"
    family: Literal["lines"] = "lines"
    places: tuple[str, ...] = ()

    def claims(self, path: PurePath, head: bytes) -> int:
        del path
        first = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
        lines, _ = _LINES.read(first.replace(b"\0", b""))
        return CERTAIN if _SIGN.match(first) or any(line.dreamd for line in lines) else NO

    def order(self, path: PurePath, head: bytes, tail: bytes) -> tuple[object, ...]:
        del path, head, tail
        return ()

    def open(self, source: Source, around: Surroundings, state: bytes) -> LineReader:
        del around
        return Reader(source, _decode(state) if state else State())


_LINES = Lines(Line)
_string = msgspec.json.Decoder(str)
_decode = msgspec.msgpack.Decoder(State).decode


def _text(line: Line) -> str:
    return (line.text or "").strip()


def _cut(text: str) -> str:
    return cut(text, TRACE_BYTES)


def _value(raw: Raw) -> str:
    """A JSON value as text, cut: a string as it is, `null` as nothing, all else as it stands in the log."""
    if bytes(raw) in _NO_VALUES:
        return ""
    text = decoded(_string, raw)
    return _cut(bytes(raw).decode("utf-8", "replace") if text is None else text)


FORMAT: LineFormat = TraceFormat()
