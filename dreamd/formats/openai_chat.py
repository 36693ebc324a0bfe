"""Chat messages as the OpenAI API has them, in JSONL: a message a line, or `{"messages": [...]}` a line.

The loosest of the formats, so it claims a file only when nobody else does. Nothing names a message but its own words:
it is known by role, content and calls within its conversation (FORMATS J11), where a log of whole requests repeats the
history on every line. A conversation is what its id says, else the file; among nameless `messages` lines a line that
begins with all an earlier one held goes on with that one's conversation (J35).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from dreamd.formats._json import Lines, cut, decoded, moment, opening
from dreamd.formats._values import NOTHING, TRACE_BYTES, bound, name_of
from dreamd.formats.base import MAYBE, NO, LineFormat, LineReader, Source, Surroundings
from dreamd.records import Amendment, Item, Record, Role, Skip, Span, Trace

_MAX_PENDING = 64  # calls whose result is awaited
_MAX_THREADS = 256  # nameless conversations that a later line may go on with
_SPEAKERS: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_RESULTS = frozenset({"tool", "function"})
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_IMAGES = frozenset({"image", "image_url", "input_image"})
_FAILED = frozenset({"error", "failed", "failure"})
_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.zst", ".ndjson.zst")
# a first line that is longer than the head
_OPENING = re.compile(rb'\s*\{"messages"\s*:\s*\[\s*\{"role"\s*:')


class Part(Struct, frozen=True):
    type: str = "text"
    text: str | None = None
    refusal: str | None = None


class Called(Struct, frozen=True):
    name: str | None = None
    arguments: Raw = NOTHING
    input: Raw = NOTHING


class Call(Struct, frozen=True):
    id: str | None = None
    function: Called | None = None
    custom: Called | None = None


class Ids(Struct, frozen=True):
    conversation_id: str | int | None = None
    session_id: str | int | None = None
    thread_id: str | int | None = None
    trace_id: str | int | None = None


class Message(Ids, frozen=True):
    """A message; as a line of its own it may also say which conversation it belongs to, and when."""

    role: str = ""
    content: str | list[Part] | None = None
    refusal: str | None = None
    tool_calls: list[Call] | None = None
    function_call: Called | None = None
    tool_call_id: str | None = None
    name: str | None = None
    is_error: bool | None = None
    error: Raw = NOTHING
    status: str | None = None
    timestamp: str | None = None
    created_at: str | None = None


class Line(Message, frozen=True):
    messages: list[Message] | None = None
    metadata: Ids | None = None


class Thread(Struct):
    """A nameless conversation: how many messages it had when last seen, and a digest over them."""

    session_id: str
    length: int
    digest: str


class State(Struct):
    lines: int = 0
    threads: list[Thread] = []
    pending: dict[str, tuple[str, str]] = {}
    """Conversation and call id -> identity and arguments of the call."""


class Heard(NamedTuple):
    """A message in its conversation; `seen` is how often the same words came before it on its line."""

    message: Message
    session_id: str
    span: Span
    seen: int


class Reader:
    def __init__(self, source: Source, state: State) -> None:
        self._stem = re.split(r"\.(?:jsonl|ndjson)", source.path.name)[0]
        self._state = state

    def feed(self, line: bytes, span: Span) -> Sequence[Item]:
        self._state.lines += 1
        lines, lost = _LINES.read(line)
        items: list[Item] = [Skip("damaged")] * lost
        for each in lines:
            items += (
                self._message(Heard(each, self._session(each), span, 0))
                if each.messages is None
                else (self._messages(each, each.messages, span))
            )
        return items

    def settle(self) -> Sequence[Item]:
        return ()

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._state)

    def _session(self, line: Line) -> str:
        return _named(line) or (_named(line.metadata) if line.metadata else "") or self._stem

    def _messages(self, line: Line, messages: list[Message], span: Span) -> Iterator[Item]:
        session_id = self._session(line)
        if session_id == self._stem:
            session_id = self._thread([name_of(*_words(message)) for message in messages])
        seen: dict[str, int] = {}
        for message in messages:
            words = name_of(*_words(message))
            seen[words] = seen.get(words, -1) + 1
            yield from self._message(Heard(message, session_id, span, seen[words]))

    def _thread(self, words: list[str]) -> str:
        """The conversation of a nameless line: the longest known one it repeats from the start, else its own."""
        threads = self._state.threads
        known = [each for each in threads if each.digest == name_of(*words[: each.length])]
        thread = max(known, key=lambda each: each.length, default=None)
        if thread is None:
            thread = Thread(f"{self._stem}#{self._state.lines}", 0, "")
        else:
            threads.remove(thread)
        thread.length, thread.digest = len(words), name_of(*words)
        threads.append(thread)
        del threads[:-_MAX_THREADS]
        return thread.session_id

    def _message(self, heard: Heard) -> Iterator[Item]:
        message = heard.message
        role = _SPEAKERS.get(message.role)
        if message.role in _RESULTS:
            yield self._result(heard)
            return
        if role is None:
            yield Skip("role")
            return
        text, calls = _text(message), _calls(message)
        if text:
            yield self._record(heard, role, text)
        elif not calls:
            yield Skip("blank")
        for call in calls:
            yield self._call(heard, *call)

    def _record(self, heard: Heard, role: Role, text: str) -> Record:
        message = heard.message
        return Record(
            identity=name_of(heard.session_id, *_words(message), str(heard.seen)),
            session_id=heard.session_id,
            role=role,
            origin="injected" if role == "system" else "human",
            text=text,
            span=heard.span,
            at=moment(message.timestamp or message.created_at),
        )

    def _call(self, heard: Heard, call_id: str, name: str, arguments: str) -> Record:
        message = heard.message
        identity = name_of(heard.session_id, "call", call_id, name, arguments)
        arguments = cut(arguments, TRACE_BYTES)
        self._state.pending[name_of(heard.session_id, call_id or name)] = (identity, arguments)
        bound(self._state.pending, _MAX_PENDING)
        return Record(
            identity=identity,
            session_id=heard.session_id,
            role="tool",
            origin="tool",
            tool=name,
            span=heard.span,
            at=moment(message.timestamp or message.created_at),
            trace=Trace(arguments=arguments),
        )

    def _result(self, heard: Heard) -> Item:
        message = heard.message
        call = self._state.pending.pop(
            name_of(heard.session_id, message.tool_call_id or message.name or ""), None
        )
        if call is None:
            return Skip("orphan")
        identity, arguments = call
        ok, result = not _failed(message), cut(_text(message), TRACE_BYTES)
        trace = Trace(arguments=arguments, result=result if ok else "", error="" if ok else result)
        return Amendment(identity=identity, ok=ok, trace=trace)


class OpenAIChat:
    name = "openai_chat"
    label = "openai_chat"
    family: Literal["lines"] = "lines"
    places: tuple[str, ...] = ()

    def claims(self, path: PurePath, head: bytes) -> int:
        if not path.name.endswith(_SUFFIXES):
            return NO
        lines = opening(head)
        if lines and _OPENING.match(lines[0]):
            return MAYBE
        return MAYBE if any(_is_chat(each) for line in lines for each in _LINES.read(line)[0]) else NO

    def order(self, path: PurePath, head: bytes, tail: bytes) -> tuple[object, ...]:
        del path, head, tail
        return ()

    def open(self, source: Source, around: Surroundings, state: bytes) -> LineReader:
        del around
        return Reader(source, _decode(state) if state else State())


_LINES = Lines(Line)
_string = msgspec.json.Decoder(str)
_decode = msgspec.msgpack.Decoder(State).decode


def _is_chat(line: Line) -> bool:
    """A known role with something to say, and no sign of another envelope."""
    if line.messages is not None:
        return any(message.role in _SPEAKERS for message in line.messages)
    said = line.content is not None or line.tool_calls or line.function_call
    return bool(said) and (line.role in _SPEAKERS or line.role in _RESULTS)


def _named(ids: Ids) -> str:
    found = (ids.conversation_id, ids.session_id, ids.thread_id, ids.trace_id)
    return next((str(each) for each in found if each not in {None, ""}), "")


def _words(message: Message) -> tuple[str, ...]:
    """What tells a message from others of its conversation."""
    calls = (word for call in _calls(message) for word in call)
    return (message.role, message.tool_call_id or message.name or "", _text(message), *calls)


def _text(message: Message) -> str:
    """Texts trimmed and joined by lines, an image as its mark (J9)."""
    content = message.content
    if isinstance(content, str):
        return content.strip() or (message.refusal or "").strip()
    parts = [_said(part).strip() for part in content or ()]
    return "\n".join(part for part in parts if part) or (message.refusal or "").strip()


def _said(part: Part) -> str:
    if part.type in _IMAGES:
        return "[image]"
    return (part.text or part.refusal or "") if part.type in _TEXTS else ""


def _calls(message: Message) -> list[tuple[str, str, str]]:
    """Id, name and arguments of each call, old style (`function_call`) too."""
    called = [(call.id or "", call.function or call.custom) for call in message.tool_calls or ()]
    called.append(("", message.function_call))
    return [(id_, each.name or "unknown", _arguments(each)) for id_, each in called if each is not None]


def _arguments(called: Called) -> str:
    """Arguments are JSON in a string; some writers leave the string out."""
    raw = called.arguments if bytes(called.arguments) else called.input
    if not bytes(raw):
        return ""
    text = decoded(_string, raw)
    return bytes(raw).decode("utf-8", "replace") if text is None else text


def _failed(message: Message) -> bool:
    return (
        bool(message.is_error)
        or message.status in _FAILED
        or bytes(message.error) not in {b"", b"null", b"false"}
    )


FORMAT: LineFormat = OpenAIChat()
