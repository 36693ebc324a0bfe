"""OpenAI Codex CLI: lines of `rollout-*.jsonl`, plain or compressed, of every age become items (FORMATS 4, J25-J29).

A rollout holds two logs, what the model saw (`response_item`) and what was shown (`event_msg`). The first is canonical;
the second proves which user messages a person wrote, and counts itself only where the first lacks its text. Both come
interleaved, so a record is emitted with the best guess and amended once the other log has spoken. In threads in pages
(`history_mode`, since 0.146) the second log is `item_completed` events, and a thread set back goes on in another file.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from dreamd.formats import _codex as codex
from dreamd.formats._codex import LINE, PAYLOAD, Line, Payload
from dreamd.formats._codex_turns import MAX_DIGESTS, MAX_WAITING, Call, Event, Guess, State
from dreamd.formats._json import UNREADABLE, cut, decoded, loosely, moment, objects
from dreamd.formats._values import TRACE_BYTES, digest, outcome
from dreamd.formats.base import LineReader, Source, Surroundings
from dreamd.records import Amendment, Item, Origin, Record, Role, Skip, Span, Trace, Turn

_THREAD = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_STATE = msgspec.msgpack.Decoder(State)
_UNWANTED: tuple[Item, ...] = (Skip("unwanted"),)


class Reader(LineReader):
    def __init__(self, source: Source, around: Surroundings, state: bytes) -> None:
        self._source = source
        self._around = around
        self._state = _STATE.decode(state) if state else State()
        self._theirs: set[str] = set()
        # While the plain file is there it is the truth and this one a stale copy: nothing of it may amend
        plain = source.path.name.removesuffix(".zst")
        self._stale = plain != source.path.name and around.sibling(plain, 1) is not None

    def feed(self, line: bytes, span: Span) -> Sequence[Item]:
        items = self._fed(line, span)
        return [item for item in items if isinstance(item, Record)] if self._stale else items

    def settle(self) -> Sequence[Item]:
        if self._stale:
            return ()
        return [*self._decide(), *self._flush(), *self._state.resolve(over=False)]

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._state)

    def _fed(self, line: bytes, span: Span) -> Sequence[Item]:
        if span.sha256 and span.sha256 == self._state.last_line:
            return (Skip("repeated"),)  # the writer tried again after an I/O error
        self._state.last_line = span.sha256
        try:
            return self._line(LINE.decode(line), line, span)
        except UNREADABLE:
            return self._salvaged(line, span)

    def _salvaged(self, line: bytes, span: Span) -> list[Item]:
        found, lost = objects(line)
        items: list[Item] = [Skip("damaged")] * lost
        if lost and not self._state.thread:
            # the first line may have been the file's own meta: do not take a copied one for it
            self._state.thread = self._thread_of_name() or ""
        for data in found:
            items += self._line(loosely(data, Line) or Line(), data, span)
        return items

    def _line(self, line: Line, data: bytes, span: Span) -> Sequence[Item]:
        if not bytes(line.payload):
            return self._bare(line, data, span)
        payload = _payload(bytes(line.payload))
        if payload is None:
            return (Skip("payload"),)
        if self._state.dropping and line.type != "turn_context":
            self._state.evented |= line.type == "event_msg" and payload.type == "user_message"
            return (Skip("copied"),)
        read = READERS.get(line.type or "")
        if read is not None:
            return read(self, payload, line.timestamp, span)
        return _UNWANTED if line.type in codex.UNWANTED_LINES else (Skip("type"),)

    def _bare(self, line: Line, data: bytes, span: Span) -> Sequence[Item]:
        """Until mid-2025: no envelope, no times, a header without type."""
        if line.record_type is not None:
            return _UNWANTED
        payload = _payload(data)
        if payload is None:
            return (Skip("payload"),)
        if line.type is None and line.id:
            return self.meta(payload, line.timestamp, span)
        return self.response(payload, line.timestamp, span)

    # What the thread is, and where its own part begins

    def meta(self, meta: Payload, _timestamp: str | None, _span: Span) -> Sequence[Item]:
        """The first meta is the file's own, later ones came with copied history."""
        state, thread = self._state, meta.id or meta.session_id or ""
        if state.met or (state.thread and state.thread != thread):
            state.copied = True
            return self._decide() or _UNWANTED
        state.met = True
        state.thread = thread
        state.project = meta.cwd or ""
        state.parent = codex.parent_of(meta)
        state.subagent = codex.is_subagent(meta)
        state.program = meta.source == "exec" and not self._source.programs_are_human
        state.origin = state.asker()
        return (self._set_back(meta.history_base) if meta.history_base else ()) or _UNWANTED

    def _set_back(self, base: codex.Base) -> Sequence[Item]:
        """What the thread's earlier log holds beyond the line from which this one goes on is taken back."""
        lines = self._around.lines_of(f"{base.thread_id}.jsonl")
        if lines is None:
            return ()
        thread = self._state.thread
        earlier = Reader(self._source, self._around, msgspec.msgpack.encode(State(thread=thread, met=True)))
        gone = [
            item
            for line in codex.beyond(lines, thread, base.end_ordinal_exclusive)
            for item in earlier.feed(line, Span(self._source.source_id))
        ]
        return [
            Amendment(identity=each.identity, withdrawn=True) for each in gone if isinstance(each, Record)
        ]

    def _thread_of_name(self) -> str | None:
        found = _THREAD.findall(self._source.path.name)
        return found[-1] if found else None

    def _decide(self) -> list[Item]:
        """Withdraw the parent's history once it is known to be one (J27); keep all while the parent is unreadable."""
        state = self._state
        if not state.parent or state.dropping:
            return []
        theirs = self._parents_turns()
        if not theirs:
            return []
        if not state.copied and not any(turn.id in theirs for turn in state.turns):
            if any(turn.context >= 0 for turn in state.turns):
                state.parent = ""  # nothing was copied
            return []
        items: list[Item] = [*state.cut_copied(theirs)]
        return items if state.turns else [*items, Turn(state.thread, busy=False)]

    def _parents_turns(self) -> set[str]:
        if not self._theirs:
            lines = self._around.lines_of(self._state.parent)
            self._theirs = codex.turn_ids(lines) if lines is not None else set()
        return self._theirs

    def context(self, context: Payload, timestamp: str | None, _span: Span) -> Sequence[Item]:
        state, turn_id = self._state, (context.turn_id or "")
        items: list[Item] = []
        if state.dropping:
            if turn_id in self._parents_turns():
                return (Skip("copied"),)
            state.dropping = False
            state.parent = state.parent if not self._theirs else ""
            items.append(Turn(state.thread, busy=True, at=moment(timestamp)))
        state.project = context.cwd or state.project
        if turn_id:
            items += self._begin(turn_id)
        turn = state.turn()
        turn.context = len(turn.digests) // 8 if turn.context < 0 else turn.context
        return [*items, *self._decide()] or _UNWANTED

    # Turns

    def _begin(self, turn_id: str) -> list[Item]:
        if not self._state.is_another(turn_id):
            self._state.name(turn_id)
            return []
        items = self._end()
        self._state.open(turn_id)
        return items

    def _end(self) -> list[Item]:
        items = [*self._flush(), *self._state.resolve(over=True)]
        self._state.closed = True
        return items

    def _split(self) -> list[Item]:
        """In logs that name no turns, a user message after an answer begins one."""
        state = self._state
        return self._begin("") if not state.turn().id and state.answered else []

    # The log of what was shown

    def event(self, event: Payload, timestamp: str | None, span: Span) -> Sequence[Item]:
        kind = event.type or ""
        if kind in {"user_message", "agent_message", "item_completed"}:
            return self._shown(event, timestamp, span)
        if kind in {"task_started", "turn_started"}:
            begun = self._begin(event.turn_id or "")
            return [*begun, Turn(self._thread(), busy=True, at=moment(timestamp)), *self._decide()]
        if kind in {"task_complete", "turn_complete", "turn_aborted"}:
            return [*self._end(), Turn(self._thread(), busy=False, at=moment(timestamp))]
        if kind == "thread_rolled_back":
            count = event.num_turns if isinstance(event.num_turns, int) else 0
            return [*self._end(), *self._state.roll_back(count)] or _UNWANTED
        failed = codex.event_failed(event)
        if failed is not None:
            return self._finished((event.call_id or ""), codex.event_output(event), failed, last=False)
        return _UNWANTED if kind in codex.UNWANTED_EVENTS else (Skip("event"),)

    def _shown(self, event: Payload, timestamp: str | None, span: Span) -> Sequence[Item]:
        if event.item is not None:
            return self._item(event, event.item, timestamp, span)
        role: Role = "assistant" if event.type == "agent_message" else "user"
        text, plain = codex.event_texts(event)
        if event.kind not in {None, "plain"}:
            return _UNWANTED
        return self._told(Event(role, text, plain, timestamp or "", span))

    def _item(self, event: Payload, item: codex.Shown, timestamp: str | None, span: Span) -> Sequence[Item]:
        """Of a thread in pages. What its agent says the other log always has."""
        if item.type != "UserMessage":
            known = bool(item.status) and item.id in self._state.calls
            return self._finished(item.id or "", item.output, item.failed, last=False) if known else _UNWANTED
        text, plain = codex.content_texts(item.content)
        if event.thread_id not in {None, self._thread()}:
            # what a reviewer is told stands in the log of who asked for it, too
            return self._evented() or _UNWANTED
        return self._told(Event("user", codex.typed(text), codex.typed(plain), timestamp or "", span))

    def _told(self, event: Event) -> Sequence[Item]:
        if not event.text:
            return _UNWANTED
        state, key = self._state, digest(event.role, event.plain)
        items = self._asked(key) if event.role == "user" else []
        if key not in state.counts:
            state.waiting.append(event)
        if len(state.waiting) > MAX_WAITING:
            items += self._flush()
        return items or _UNWANTED

    def _asked(self, key: bytes) -> list[Item]:
        state = self._state
        items = self._split()
        items += self._evented()
        state.asked.append(key)
        return [*items, *state.confirm(key)]

    def _evented(self) -> list[Amendment]:
        """The log tells what a person wrote: from the first such event on it is missed where it lacks."""
        state = self._state
        state.turn()
        if state.evented:
            return []
        state.evented = True
        return state.disprove_earlier()

    def _flush(self, equal: bytes = b"") -> list[Item]:
        """Events whose equal response item did not follow become records; one that is `equal` came."""
        state, items = self._state, list[Item]()
        waiting, state.waiting = state.waiting, []
        for event in waiting:
            key = digest(event.role, event.plain)
            if key not in (equal, *state.counts):
                items.append(self._from_event(event, key))
        return items

    def _from_event(self, event: Event, key: bytes) -> Record:
        state = self._state
        record = state.record(f"event:{event.role}", event.plain)
        state.flushed[key] = record
        if len(state.flushed) > MAX_DIGESTS:
            state.flushed.pop(next(iter(state.flushed)))
        if event.role == "user":
            state.start(state.asker())
            return self._record(record, event.text, "user", state.origin, event.timestamp, event.span)
        return self._said(record, event.text, event.timestamp, event.span)

    # The log of what the model saw

    def response(self, item: Payload, timestamp: str | None, span: Span) -> Sequence[Item]:
        kind = item.type or ""
        if kind == "message":
            return self._message(item, timestamp, span)
        if kind.endswith("_call"):
            return self._call(item, timestamp, span)
        if kind.endswith("_output"):
            failed = codex.output_failed(item.output)
            return self._finished((item.call_id or ""), codex.output_text(item.output), failed, last=True)
        return _UNWANTED if kind in codex.UNWANTED_ITEMS else (Skip("item"),)

    def _message(self, message: Payload, timestamp: str | None, span: Span) -> Sequence[Item]:
        text, plain = codex.content_texts(message.content)
        if not text:
            return (Skip("blank"),)
        if message.role == "user":
            return self._user(codex.typed(text), codex.typed(plain), timestamp, span)
        if message.role == "assistant":
            items = self._before("assistant", plain)
            record = self._state.record("assistant", plain)
            return [*items, self._said(record, text, timestamp, span)]
        if message.role in {"developer", "system"}:
            return self._system(text, timestamp, span)
        return (Skip("role"),)

    def _user(self, text: str, plain: str, timestamp: str | None, span: Span) -> list[Item]:
        state, wrapper = self._state, codex.is_wrapper(text)
        items = [] if wrapper else self._split()
        items += self._before("user", plain)
        key, before = digest("user", plain), state.origin
        record = state.record("user", plain)
        proven = key in state.asked
        human = proven or not wrapper
        if not proven:
            state.guesses.append(Guess(state.turn().key, record, key, human, before))
        origin = state.asker() if human else "injected"
        if human or (codex.wakes(text) and not state.started):
            state.start(origin)
        return [*items, self._record(record, text, "user", origin, timestamp, span)]

    def _before(self, role: Role, plain: str) -> list[Item]:
        """Events that come before this response item in the log; one that says the same gives way to it."""
        state, key = self._state, digest(role, plain)
        state.turn()
        items = self._flush(key)
        stand_in = state.flushed.pop(key, None)
        if stand_in is not None:
            items.append(Amendment(identity=state.identity(state.turn().key, stand_in), withdrawn=True))
        return items

    def _said(self, record: bytes, text: str, timestamp: str | None, span: Span) -> Record:
        state = self._state
        state.answered = True
        state.said = [*state.said[-99:], record]
        return self._record(record, text, "assistant", state.origin, timestamp, span)

    def _system(self, text: str, timestamp: str | None, span: Span) -> list[Item]:
        items = self._flush()
        record = self._state.record("system", text)
        return [*items, self._record(record, text, "system", "injected", timestamp, span)]

    def compacted(self, compacted: Payload, timestamp: str | None, span: Span) -> Sequence[Item]:
        text = (compacted.message or "").strip()
        return self._system(text, timestamp, span) if text else _UNWANTED

    # Tools

    def _call(self, call: Payload, timestamp: str | None, span: Span) -> Sequence[Item]:
        name = codex.tool_name(call)
        if not name:
            return (Skip("item"),)
        state, items = self._state, self._flush()
        call_id = call.call_id or call.id or ""
        arguments = codex.tool_arguments(call)
        record = state.record("call", call_id or f"{name} {arguments}")
        state.answered = True
        arguments = cut(arguments, TRACE_BYTES)
        if call_id:
            state.remember_call(call_id, Call(state.turn().key, record, arguments))
        made = Record(
            identity=state.identity(state.turn().key, record),
            session_id=self._thread(),
            role="tool",
            origin="tool",
            span=span,
            tool=name,
            ok=codex.own_outcome(call),
            at=moment(timestamp),
            project=state.project,
            trace=Trace(arguments=arguments) if arguments else None,
        )
        return [*items, made]

    def _finished(self, call_id: str, text: str, failed: bool, *, last: bool) -> Sequence[Item]:
        """A result or an end event of a call; one that says it failed is enough (J26)."""
        call = self._state.calls.get(call_id)
        if call is None:
            return (Skip("orphan"),)
        failed = failed or call.failed is True
        if call.finished and failed == call.failed:
            return _UNWANTED
        trace = None if call.finished else outcome(call.arguments, text, ok=not failed)
        call.failed, call.finished = failed, call.finished or last
        call.arguments = "" if call.finished else call.arguments
        return [Amendment(identity=self._state.identity(call.turn, call.record), ok=not failed, trace=trace)]

    def _thread(self) -> str:
        if not self._state.thread:
            name = self._source.path.name
            self._state.thread = self._thread_of_name() or name.removesuffix(".zst").removesuffix(".jsonl")
        return self._state.thread

    def _record(
        self, record: bytes, text: str, role: Role, origin: Origin, timestamp: str | None, span: Span
    ) -> Record:
        thread, state = self._thread(), self._state
        return Record(
            identity=state.identity(state.turn().key, record),
            session_id=thread,
            role=role,
            origin=origin,
            span=span,
            text=text,
            at=moment(timestamp),
            project=state.project,
        )


READERS: Mapping[str, Callable[[Reader, Payload, str | None, Span], Sequence[Item]]] = {
    "session_meta": Reader.meta,
    "turn_context": Reader.context,
    "event_msg": Reader.event,
    "response_item": Reader.response,
    "compacted": Reader.compacted,
}


def _payload(data: bytes) -> Payload | None:
    return decoded(PAYLOAD, data) or loosely(data, Payload)
