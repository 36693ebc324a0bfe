"""The tree of an OpenClaw session: entries in, items of the path to the last entry out (J12).

An entry that does not follow the last one begins a branch: what is off its path is withdrawn, what is on it again is
brought back. The identity of a record is the session's header id and the entry's, so that a transcript's copies in
JSONL, archive and database are the same records.
"""

from collections.abc import Iterator
from datetime import datetime

from msgspec import UNSET, Struct, field

from dreamd.formats import _openclaw as openclaw
from dreamd.formats._json import Lines, cut, moment
from dreamd.formats._openclaw import Block, Entry, Message
from dreamd.formats._values import TRACE_BYTES, epoch_time, joined, outcome
from dreamd.records import Amendment, Item, Origin, Record, Role, Skip, Span, Trace, Turn

MAX_NODES = 10_000
MAX_CALLS = 100
LINES = Lines(Entry)
_STATES = frozenset({"custom", "label", "session_info", "model_change", "thinking_level_change"})
ENTRIES = _STATES | {"message", "compaction", "branch_summary", "custom_message"}
_ORIGINS: dict[str, Origin] = {
    "h": "human",  # nothing said otherwise
    "H": "human",  # proven
    "s": "scheduled",
    "b": "subagent",
    "i": "injected",
}
_MARKS: dict[Origin, str] = {"human": "H", "scheduled": "s", "subagent": "b", "injected": "i"}


class Node(Struct, array_like=True):
    id: str
    parent: int  # the number of an earlier entry, or -1
    mark: str = ""  # a key of _ORIGINS where a turn starts; "a" for an assistant's text
    said: bool = False  # has a text record
    calls: int = 0  # has so many tool records
    gone: bool = False  # off the path


class Call(Struct, array_like=True):
    identity: str
    arguments: str


class State(Struct):
    session: str = ""
    project: str = ""
    key: str = ""
    nodes: list[Node] = field(default_factory=list)
    first: int = 0  # the number of nodes[0]; older ones are forgotten
    leaf: int = -1
    origin: Origin = "human"
    busy: bool = False
    calls: dict[str, Call] = field(default_factory=dict)


class Transcript:
    """Reads the entries of one session in order."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._numbers = {node.id: state.first + at for at, node in enumerate(state.nodes)}

    def read(self, line: bytes, span: Span) -> list[Item]:
        entries, lost = LINES.read(line)
        items: list[Item] = [Skip("damaged")] * lost
        for entry in entries:
            items += self._entry(entry, span)
        return items

    def _entry(self, entry: Entry, span: Span) -> list[Item]:
        if entry.type == "session":
            return self._header(entry)
        node_id = entry.id or f"#{self.state.first + len(self.state.nodes)}"
        if node_id in self._numbers:
            return [Skip("repeated")]
        items = self._place(node_id, entry)
        return items + self._content(entry, span)

    def rekey(self, key: str) -> list[Item]:
        """The session's key became known: plain user text belongs to whom it names (J31)."""
        state, items = self.state, list[Item]()
        state.key = key
        origin = openclaw.origin_of_key(key)
        if origin is None:
            return items
        under = False
        for node in state.nodes:
            if node.mark == "h":
                node.mark, under = _MARKS[origin], True
                items.append(Amendment(identity=self._identity(node), origin=origin))
            elif node.mark in _ORIGINS:
                under = False
            elif node.mark == "a" and under:
                items.append(Amendment(identity=self._identity(node), origin=origin))
        state.origin = self._origin_at(state.leaf)
        return items

    def rewritten(self, before: State, items: list[Item]) -> list[Item]:
        """What else changes when a session is read anew, having yielded `items`, because its entries were rewritten.

        What vanished behind something that stayed is withdrawn. Entries gone from the head were trimmed to save
        space: that is no wish to take them back.
        """
        stays = [node.id in self._numbers for node in before.nodes]
        first = stays.index(True) if True in stays else len(stays)
        known = {self._identity(node) for node in before.nodes}
        found: list[Item] = [
            Amendment(identity=item.identity, text=item.text)
            for item in items
            if isinstance(item, Record) and item.text and item.identity in known
        ]
        for node, stay in zip(before.nodes[first:], stays[first:], strict=True):
            gone = self._node(self._numbers[node.id]).gone if stay else True
            if gone != node.gone:
                node.gone = gone
                found += self._withdrawals(node)
        return found

    def idle(self) -> list[Item]:
        """The store says that nothing runs in this session."""
        return self._turn(None, busy=False) if self.state.busy else []

    # The tree

    def _header(self, entry: Entry) -> list[Item]:
        if not self.state.nodes:
            self.state.session = entry.id or self.state.session
            self.state.project = entry.cwd or ""
        return [Skip("unwanted")]

    def _place(self, node_id: str, entry: Entry) -> list[Item]:
        state = self.state
        parent = self._parent(entry)
        items = self._branch(parent) if parent != state.leaf else []
        state.leaf = self._numbers[node_id] = state.first + len(state.nodes)
        state.nodes.append(Node(node_id, parent))
        if len(state.nodes) > MAX_NODES:
            del self._numbers[state.nodes.pop(0).id]
            state.first += 1
        return items

    def _parent(self, entry: Entry) -> int:
        """A missing or unknown parent means the last entry: the line that would tell was lost or is forgotten."""
        if entry.parentId is None:
            return -1
        return (
            self.state.leaf if entry.parentId is UNSET else self._numbers.get(entry.parentId, self.state.leaf)
        )

    def _branch(self, parent: int) -> list[Item]:
        """From the last entry and from the new parent up to where their paths meet: off with one, on with the other.

        A parent's number is smaller than its child's, so that the larger of the two is never common.
        """
        state, changed = self.state, list[int]()
        left, entered = state.leaf, parent
        while left != entered and max(left, entered) >= state.first:
            number = max(left, entered)
            node = self._node(number)
            node.gone = number == left
            changed.append(number)
            left, entered = (node.parent, entered) if node.gone else (left, node.parent)
        state.origin = self._origin_at(parent)
        return [item for number in sorted(changed) for item in self._withdrawals(self._node(number))]

    def _path(self, number: int) -> Iterator[int]:
        while number >= self.state.first:
            yield number
            number = self.state.nodes[number - self.state.first].parent

    def _node(self, number: int) -> Node:
        return self.state.nodes[number - self.state.first]

    def _origin_at(self, number: int) -> Origin:
        marks = (self._node(on_path).mark for on_path in self._path(number))
        return next((_ORIGINS[mark] for mark in marks if mark in _ORIGINS), "human")

    def _withdrawals(self, node: Node) -> Iterator[Amendment]:
        if node.said:
            yield Amendment(identity=self._identity(node), withdrawn=node.gone)
        for at in range(node.calls):
            yield Amendment(identity=f"{self._identity(node)}:{at}", withdrawn=node.gone)

    def _identity(self, node: Node) -> str:
        return f"openclaw:{self.state.session}:{node.id}"

    # What entries say

    def _content(self, entry: Entry, span: Span) -> list[Item]:
        kind = entry.type or ""
        if kind == "message":
            return self._message(entry, entry.message or Message(), span)
        if kind in {"compaction", "branch_summary"}:
            return self._text(entry, (entry.summary or "").strip(), "system", "injected", span)
        if kind == "custom_message":
            text = joined(openclaw.texts(openclaw.blocks_of(entry.content)))
            return self._text(entry, text, "system", "injected", span)
        return [Skip("unwanted" if kind in _STATES else "type")]

    def _message(self, entry: Entry, message: Message, span: Span) -> list[Item]:
        if message.role == "user":
            return self._user(entry, message, span)
        if message.role == "assistant":
            return self._assistant(entry, message, span)
        if message.role == "toolResult":
            return self._result(message)
        if message.role in {"system", "developer", "custom"}:
            text = joined(openclaw.texts(openclaw.blocks_of(message.content)))
            return self._text(entry, text, "system", "injected", span)
        return [Skip("role")]

    def _user(self, entry: Entry, message: Message, span: Span) -> list[Item]:
        prompt = openclaw.prompt_of(message, self.state.key)
        if not prompt.text:
            return [Skip("blank")]
        items = self._text(entry, prompt.text, "user", prompt.origin, span)
        if not prompt.starts:
            return items
        self._node(self.state.leaf).mark = _MARKS[prompt.origin] if prompt.proven else "h"
        self.state.origin = prompt.origin
        return items + self._turn(entry, busy=True)

    def _assistant(self, entry: Entry, message: Message, span: Span) -> list[Item]:
        blocks = openclaw.blocks_of(message.content)
        text = joined(openclaw.texts(blocks))
        token = openclaw.silent(text)
        items: list[Item] = self._heartbeat() if token == "HEARTBEAT_OK" else []  # noqa: S105 - no password
        if token:
            text = ""
            items.append(Skip("silent"))
        said = False
        for block in blocks:
            if block.type in {"text", "image"} and text and not said:
                items += self._text(entry, text, "assistant", self.state.origin, span)
                self._node(self.state.leaf).mark = "a"
                said = True
            elif block.type == "toolCall":
                items += self._call(entry, block, span)
        if message.stopReason != "toolUse":
            items += self._turn(entry, busy=False)
        return items

    def _heartbeat(self) -> list[Item]:
        """The reply shows that the prompt, whose wording is configurable, was a heartbeat's."""
        items: list[Item] = []
        for number in self._path(self.state.leaf):
            node = self._node(number)
            if node.mark == "a":
                items.append(Amendment(identity=self._identity(node), origin="scheduled"))
            elif node.mark == "h":
                node.mark, self.state.origin = "s", "scheduled"
                return [*items, Amendment(identity=self._identity(node), origin="scheduled")]
            elif node.mark:
                break
        return []

    def _call(self, entry: Entry, block: Block, span: Span) -> list[Item]:
        name = block.name or ""
        if not name:
            return [Skip("block")]
        node = self._node(self.state.leaf)
        identity = f"{self._identity(node)}:{node.calls}"
        node.calls += 1
        arguments = cut(bytes(block.arguments).decode("utf-8", "replace"), TRACE_BYTES)
        if block.id:
            self._remember(block.id, Call(identity, arguments))
        trace = Trace(arguments=arguments) if arguments else None
        return [
            Record(
                identity=identity,
                session_id=self.state.session,
                role="tool",
                origin="tool",
                span=span,
                tool=name,
                at=_time(entry),
                project=self.state.project,
                trace=trace,
            )
        ]

    def _remember(self, call_id: str, call: Call) -> None:
        calls = self.state.calls
        calls.pop(call_id, None)
        calls[call_id] = call
        while len(calls) > MAX_CALLS:
            calls.pop(next(iter(calls)))

    def _result(self, message: Message) -> list[Item]:
        call = self.state.calls.pop(message.toolCallId or "", None)
        if call is None:
            return [Skip("orphan")]
        ok = message.isError is not True
        text = joined(openclaw.texts(openclaw.blocks_of(message.content)))
        return [Amendment(identity=call.identity, ok=ok, trace=outcome(call.arguments, text, ok=ok))]

    def _text(self, entry: Entry, text: str, role: Role, origin: Origin, span: Span) -> list[Item]:
        if not text:
            return [Skip("blank")]
        node = self._node(self.state.leaf)
        node.said = True
        return [
            Record(
                identity=self._identity(node),
                session_id=self.state.session,
                role=role,
                origin=origin,
                span=span,
                text=text,
                at=_time(entry),
                project=self.state.project,
            )
        ]

    def _turn(self, entry: Entry | None, *, busy: bool) -> list[Item]:
        self.state.busy = busy
        return [Turn(self.state.session, busy=busy, at=_time(entry) if entry else None)]


def _time(entry: Entry) -> datetime | None:
    """The entry's own time; the message's, a few ms earlier, only where the entry has none."""
    at = moment(entry.timestamp)
    if at is None and entry.message is not None and entry.message.timestamp is not None:
        return epoch_time(entry.message.timestamp / 1000)
    return at
