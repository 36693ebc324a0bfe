"""Claude Code's session logs: JSONL under `~/.claude/projects`, one file a session, more beside it for subagents.

FORMATS.md section 3 describes them. Read here: prompts and who wrote them (`_claude_said`), answers, tool calls with their
results, turns, and what a rewind took back (`_claude_tree`). State is bounded as told there and by the constants below.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from dreamd.formats import _claude_lines as lines
from dreamd.formats import _claude_said as said
from dreamd.formats._claude_lines import LINES, Block, Line, Message
from dreamd.formats._claude_said import Said
from dreamd.formats._claude_tree import Tree, TreeState
from dreamd.formats._json import moment, opening
from dreamd.formats._values import bound, joined, name_of
from dreamd.formats.base import CERTAIN, LIKELY, NO, LineFormat, LineReader, Source, Surroundings
from dreamd.records import Amendment, Item, Origin, Record, Role, Skip, Span, Trace, Turn

_MAX_PENDING = 64  # calls whose result is awaited; of an older one the arguments are not told again
_MAX_MESSAGES = 64  # answers that may still be split or grow
_MAX_LANES = 64

_AGENT = "agent-"
_QWEN = re.compile(rb'"parts"\s*:\s*\[')  # a relative with the same envelope
_TYPE = re.compile(rb'\{\s*"type"\s*:\s*"([a-z-]+)"')
_BACKGROUND = re.compile(rb'"sessionKind"\s*:\s*"bg"')
_TIMES = re.compile(rb'"timestamp"\s*:\s*"([^"]+)"')

_ENDS = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_SILENT = lines.SPOKEN | {"thinking", "redacted_thinking", "document", "fallback"}
_METADATA = frozenset({
    "summary", "custom-title", "ai-title", "last-prompt", "tag", "agent-name", "agent-color", "agent-setting", "mode",
    "permission-mode", "pr-link", "bridge-session", "worktree-state", "file-history-snapshot", "file-history-delta",
    "attribution-snapshot", "content-replacement", "queue-operation", "session-branch", "fork-context-ref", "atis-latch",
    "speculation-accept", "api-request", "api-request-shape", "api-request-blob", "cost-state",
    "tools-used",
})  # fmt: skip

_BLANK, _DAMAGED, _METADATA_LINE, _REPEATED, _SYNTHETIC, _UNKNOWN_BLOCK, _UNKNOWN_TYPE, _WITHDRAWN = (
    Skip(kind)
    for kind in (
        "blank", "damaged", "metadata", "repeated", "synthetic", "unknown block", "unknown type", "withdrawn",
    )
)  # fmt: skip


class Text(Struct):
    """A text of an answer as last seen: it may come again, whole or grown (cumulative snapshots)."""

    identity: str
    length: int
    digest: str
    sealed_by: str = ""
    """The call that came after it: from then on only a line that repeats the call can let it grow."""

    def may_grow(self, calls: Sequence[Block]) -> bool:
        return not self.sealed_by or any(call.id == self.sealed_by for call in calls)


class State(Struct):
    tree: TreeState = msgspec.field(default_factory=TreeState)
    turns: dict[str, Origin] = {}
    """Lane -> origin of its latest turn. A lane is a session, or the side chain inside a session's own file."""
    busy: dict[str, bool] = {}
    pending: dict[str, str] = {}
    """Call -> its arguments, while the result is awaited."""
    answers: dict[str, list[Text]] = {}
    """Message id -> its texts so far."""
    fired: bool = False
    """The record before told that a scheduled task fires."""


class Place(NamedTuple):
    """Where a line stands."""

    line: Line
    span: Span
    session_id: str
    subagent: bool
    branch: int

    @property
    def inline(self) -> bool:
        """A side chain in its parent's own file (1.0.x)."""
        return self.subagent and not self.session_id.startswith(_AGENT)

    @property
    def lane(self) -> str:
        return self.session_id + "/" if self.inline else self.session_id


class Reader:
    def __init__(self, source: Source, state: State) -> None:
        self._stem = source.path.name.partition(".jsonl")[0]
        self._programs_are_human = source.programs_are_human
        self._state = state
        self._tree = Tree(state.tree)
        self._read: dict[str, Callable[[Line, Span], Iterator[Item]]] = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "attachment": self._attachment,
            "progress": self._progress,
        }

    def feed(self, line: bytes, span: Span) -> Sequence[Item]:
        records, lost = LINES.read(line)
        items: list[Item] = []
        for record in records:
            read = self._read.get(record.type)
            if read is not None:
                items += read(record, span)
            else:
                items.append(_METADATA_LINE if record.type in _METADATA else _UNKNOWN_TYPE)
        if lost:
            items += [_DAMAGED] * lost
        return items

    def settle(self) -> Sequence[Item]:
        return ()

    def dump(self) -> bytes:
        return _encode(self._state)

    def _user(self, line: Line, span: Span) -> Iterator[Item]:
        if self._tree.knows(line.uuid):
            yield _REPEATED
            return
        subagent = self._is_subagent(line)
        fired = self._state.fired and not subagent
        self._state.fired = self._state.fired and subagent
        blocks = line.blocks
        verdict = self._asked(line, said.said(line, lines.texts(blocks), subagent=subagent, fired=fired))
        place, items = self._put(line, span, verdict)
        yield from items
        if self._tree.is_gone(place.branch):
            yield _WITHDRAWN
            return
        if not isinstance(blocks, str):
            yield from self._results(place, blocks)
        if verdict is not None:
            yield from self._heard(place, verdict)
        elif not any(block.type == "tool_result" for block in blocks if isinstance(block, Block)):
            yield _BLANK

    def _asked(self, line: Line, verdict: said.Said | None) -> said.Said | None:
        """The verdict, but that a program's prompt is scheduled where programs do not count as human (J22)."""
        if verdict is None or verdict.origin != "human" or self._programs_are_human:
            return verdict
        program = line.prompt_source == "sdk" or (line.entrypoint or "").startswith("sdk")
        return verdict._replace(origin="scheduled") if program else verdict

    def _attachment(self, line: Line, span: Span) -> Iterator[Item]:
        attachment = line.attachment
        if self._tree.knows(line.uuid):
            yield _REPEATED
            return
        if attachment is None or attachment.type != "queued_command":
            self._tree.grow(line.uuid, line.parent_uuid)
            yield _METADATA_LINE
            return
        verdict = said.queued(line, lines.texts(attachment.prompt), subagent=self._is_subagent(line))
        place, items = self._put(line, span, verdict, rewinds=False)
        yield from items
        if verdict is None or self._tree.is_gone(place.branch):
            yield _BLANK if verdict is None else _WITHDRAWN
        else:
            yield from self._heard(place, verdict)

    def _system(self, line: Line, span: Span) -> Iterator[Item]:
        repeated = self._tree.knows(line.uuid)
        place = self._grown(line, span)
        if repeated or self._tree.is_gone(place.branch):
            yield _REPEATED if repeated else _WITHDRAWN
        elif line.subtype in {"turn_duration", "stop_hook_summary"}:
            yield from self._turn(place, busy=False)
        elif line.subtype in {"local_command", None} and (verdict := said.local(lines.text_of(line.content))):
            yield from self._heard(place, verdict)
        else:
            self._state.fired = self._state.fired or line.subtype == "scheduled_task_fire"
            yield _METADATA_LINE

    def _progress(self, line: Line, _: Span) -> Iterator[Item]:
        self._tree.bridge(line.uuid, line.parent_uuid)
        yield _METADATA_LINE

    def _assistant(self, line: Line, span: Span) -> Iterator[Item]:
        repeated = self._tree.knows(line.uuid)
        place = self._grown(line, span)
        self._state.fired = self._state.fired and place.subagent
        message = line.message or Message()
        if self._tree.is_gone(place.branch):
            yield _WITHDRAWN
        elif repeated and message.id not in self._state.answers:
            yield _REPEATED
        elif line.is_api_error_message:
            yield from self._heard(
                place, Said(joined(lines.texts(line.blocks)), "injected", "system", busy=False)
            )
        elif message.model == "<synthetic>":
            yield _SYNTHETIC
        else:
            yield from self._answer(place, message)

    def _answer(self, place: Place, message: Message) -> Iterator[Item]:
        blocks = place.line.blocks
        if isinstance(blocks, str):
            blocks = [Block(type="text", text=blocks)]
        calls = [block for block in blocks if block.type in _CALLS]
        text = joined(lines.texts(blocks))
        for block in blocks:
            if block.type in _CALLS:
                yield self._call(place, block)
            elif block.type.endswith("_tool_result"):
                yield from self._results(place, [block])
            elif text and block.type in lines.SPOKEN:
                yield from self._spoken(place, text, calls)
                text = ""
            elif block.type not in _SILENT:
                yield _UNKNOWN_BLOCK
        self._seal(place.line, calls)
        if calls or message.stop_reason in _ENDS:
            yield from self._turn(place, busy=bool(calls))

    def _spoken(self, place: Place, text: str, calls: Sequence[Block]) -> Iterator[Item]:
        """The text of an answer: a new one, or an amendment when it is an earlier one grown."""
        answer = _answer_id(place)
        known = self._state.answers.setdefault(answer, [])
        bound(self._state.answers, _MAX_MESSAGES)
        identity = digest = name_of("text", answer, text)
        if any(digest in {each.identity, each.digest} for each in known):
            return
        last = known[-1] if known else None
        if last and last.may_grow(calls) and name_of("text", answer, text[: last.length]) == last.digest:
            last.length, last.digest = len(text), digest
            yield Amendment(identity=last.identity, text=text)
            return
        known.append(Text(identity, len(text), digest))
        origin = self._state.turns.get(place.lane, "subagent" if place.subagent else "human")
        yield self._record(place, identity, "assistant", origin, text)

    def _seal(self, line: Line, calls: Sequence[Block]) -> None:
        """Whatever was said before a call does not grow any more."""
        known = self._state.answers.get((line.message and line.message.id) or "")
        if calls and known and not known[-1].sealed_by:
            known[-1].sealed_by = calls[0].id or "?"

    def _call(self, place: Place, block: Block) -> Record:
        identity = _call_id(block.id or name_of(place.line.own_id, block.name or ""))
        arguments = lines.arguments_of(block)
        self._state.pending[identity] = arguments
        bound(self._state.pending, _MAX_PENDING)
        self._tree.emit(place.branch, identity)
        return Record(
            identity=identity,
            session_id=place.session_id,
            role="tool",
            origin="tool",
            tool=block.name or "unknown",
            span=place.span,
            at=moment(place.line.timestamp),
            project=place.line.cwd or "",
            trace=Trace(arguments=arguments),
        )

    def _results(self, place: Place, blocks: Sequence[Block]) -> Iterator[Item]:
        """What became of earlier calls (J7); a call whose arguments are forgotten keeps the trace it has."""
        for block in blocks:
            if not block.type.endswith("tool_result"):
                if block.type not in _SILENT:
                    yield _UNKNOWN_BLOCK
                continue
            result = lines.result_of(block)
            ok = lines.went_well(block, place.line, result)
            identity = _call_id(block.tool_use_id or "")
            arguments = self._state.pending.pop(identity, None)
            trace = None
            if arguments is not None:
                trace = Trace(arguments=arguments, result=result if ok else "", error="" if ok else result)
            yield Amendment(identity=identity, ok=ok, trace=trace)
            yield from self._turn(place, busy=True)

    def _heard(self, place: Place, verdict: Said) -> Iterator[Item]:
        if verdict.starts:
            self._state.turns[place.lane] = verdict.origin
            bound(self._state.turns, _MAX_LANES)
        if verdict.text:
            line = place.line
            name = line.own_id or name_of(place.session_id, line.timestamp or "", verdict.text)
            yield self._record(place, name_of("said", name), verdict.role, verdict.origin, verdict.text)
        else:
            yield _BLANK
        if verdict.busy is not None:
            yield from self._turn(place, busy=verdict.busy)

    def _record(self, place: Place, identity: str, role: Role, origin: Origin, text: str) -> Record:
        self._tree.emit(place.branch, identity)
        return Record(
            identity=identity,
            session_id=place.session_id,
            role=role,
            origin=origin,
            text=text,
            span=place.span,
            at=moment(place.line.timestamp),
            project=place.line.cwd or "",
        )

    def _turn(self, place: Place, *, busy: bool) -> Sequence[Item]:
        """Told on change only; the session's own chain decides, not a side chain inside it."""
        if self._state.busy.get(place.session_id, False) == busy or place.inline:
            return ()
        self._state.busy[place.session_id] = busy
        bound(self._state.busy, _MAX_LANES)
        return (Turn(place.session_id, busy, moment(place.line.timestamp)),)

    def _is_subagent(self, line: Line) -> bool:
        return bool(line.is_sidechain) or self._stem.startswith(_AGENT)

    def _put(
        self, line: Line, span: Span, verdict: Said | None, *, rewinds: bool = True
    ) -> tuple[Place, list[Item]]:
        """Where a user's record stands, and what a human's prompt there takes back."""
        if verdict is None or verdict.origin != "human" or not verdict.text:
            return self._grown(line, span), []
        branch, gone = self._tree.fork(line.uuid, line.parent_uuid, rewinds=rewinds)
        return self._place(line, span, branch), [
            Amendment(identity=each, withdrawn=True, own_only=True) for each in gone
        ]

    def _grown(self, line: Line, span: Span) -> Place:
        return self._place(line, span, self._tree.grow(line.uuid, line.parent_uuid))

    def _place(self, line: Line, span: Span, branch: int) -> Place:
        subagent = self._is_subagent(line)
        session_id = line.session_id or self._stem
        if subagent and line.agent_id:
            session_id = _AGENT + line.agent_id.removeprefix(_AGENT)
        elif subagent and self._stem.startswith(_AGENT):
            session_id = self._stem
        return Place(line, span, session_id, subagent, branch)


class ClaudeCode:
    name = "claude_code"
    label = "claude_code"
    family: Literal["lines"] = "lines"
    places: tuple[str, ...] = (".claude/projects/**/*.jsonl", ".config/claude/projects/**/*.jsonl")

    def claims(self, path: PurePath, head: bytes) -> int:
        if ".jsonl" not in path.name or path.suffix in {".lock", ".bak", ".tmp"}:
            return NO
        if b'"parentUuid"' in head and b'"sessionId"' in head and not _QWEN.search(head):
            return CERTAIN if b'"isSidechain"' in head else LIKELY
        # not decoded: a snapshot may be longer than the head
        types = (_TYPE.match(line) for line in opening(head))
        return LIKELY if any(found and found[1].decode() in _METADATA for found in types) else NO

    def order(self, path: PurePath, head: bytes, tail: bytes) -> tuple[object, ...]:
        """Shared history belongs to the file that is no fork, then to the one that ends first (J21)."""
        del path
        copied = b'"forkedFrom"' in head or b'"forkedFrom"' in tail
        return (copied, _BACKGROUND.search(head + tail) is not None, max(_TIMES.findall(tail), default=b""))

    def open(self, source: Source, around: Surroundings, state: bytes) -> LineReader:
        del around
        return Reader(source, _decode(state) if state else State())


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(State).decode


def _answer_id(place: Place) -> str:
    line = place.line
    return (line.message and line.message.id) or line.own_id or f"{place.session_id} {line.timestamp}"


def _call_id(call: str) -> str:
    return name_of("call", call)


FORMAT: LineFormat = ClaudeCode()
