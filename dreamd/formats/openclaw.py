"""OpenClaw's sessions as JSONL, one file each, live or reset (FORMATS 5, J30, J31)."""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Literal

import msgspec
from msgspec import UNSET, Struct

from dreamd.formats._json import decoded, loosely, opening
from dreamd.formats._openclaw import LABEL
from dreamd.formats._openclaw_tree import ENTRIES, LINES, State, Transcript
from dreamd.formats.base import CERTAIN, LIKELY, MAYBE, NO, LineFormat, LineReader, Source, Surroundings
from dreamd.records import Item, Skip, Span

_LOG = re.compile(r"(?P<session>.+?)(?:-topic-[^.]*)?\.jsonl(?:\.reset\.[^.]+(?:\.\d+Z?)?)?")
_SIDECAR = re.compile(r"\.(?:deleted|checkpoint|trajectory)\b|\.(?:bak|lock|tmp)$")
_STORE = "../agent/openclaw-agent.sqlite"
_MAX_INDEX_BYTES = 16 << 20


class _Session(Struct):
    sessionId: str | None = None  # noqa: N815 - the field's name in sessions.json


_INDEX = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STATE = msgspec.msgpack.Decoder(State)


class Reader(LineReader):
    def __init__(self, source: Source, around: Surroundings, state: bytes) -> None:
        self._around = around
        known = _STATE.decode(state) if state else State(session=_session_of(source.path.name))
        self._transcript = Transcript(known)
        self._asked_at = -1

    def feed(self, line: bytes, span: Span) -> Sequence[Item]:
        state = self._transcript.state
        if not state.nodes and not state.key:
            state.key = self._key()
        items = self._transcript.read(line, span)
        return (Skip("superseded"),) if state.nodes and self._in_store else items

    def settle(self) -> Sequence[Item]:
        state = self._transcript.state
        if state.key or state.leaf == self._asked_at or self._in_store:
            return []
        self._asked_at = state.leaf
        key = self._key()
        return self._transcript.rekey(key) if key else []

    def dump(self) -> bytes:
        return msgspec.msgpack.encode(self._transcript.state)

    @cached_property
    def _in_store(self) -> bool:
        """Whether the newer store holds this session: then that is read, and this is what the migration left (J30)."""
        sql = "SELECT 1 FROM transcript_events WHERE session_id = ? LIMIT 1"
        return bool(self._around.rows_of(_STORE, sql, self._transcript.state.session))

    def _key(self) -> str:
        """The session's key as the index beside it has it: there for the key's current session only."""
        data = self._around.sibling("sessions.json", _MAX_INDEX_BYTES)
        index = decoded(_INDEX, data) if data else None
        session = self._transcript.state.session
        named = (key for key, raw in (index or {}).items() if _names(raw, session))
        return next(named, "")


def _names(raw: msgspec.Raw, session: str) -> bool:
    entry = loosely(raw, _Session) if session.encode() in bytes(raw) else None
    return entry is not None and entry.sessionId == session


class OpenClaw(LineFormat):
    name = "openclaw"
    label = LABEL
    family: Literal["lines"] = "lines"
    places = (".openclaw/agents/*/sessions/*.jsonl", ".openclaw/agents/*/sessions/*.jsonl.reset.*")

    def claims(self, path: PurePath, head: bytes) -> int:
        if not _LOG.fullmatch(path.name) or _SIDECAR.search(path.name):
            return NO
        lines = opening(head)
        entries = [entry for line in lines for entry in LINES.read(line)[0]]
        if any(entry.type == "session" and entry.id for entry in entries):
            # pi writes the same header and entries: the folder tells them apart, and OpenClaw's own keys in the text
            return CERTAIN if _lies_well(path) else LIKELY
        if any(entry.type in ENTRIES and entry.id and entry.parentId is not UNSET for entry in entries):
            return LIKELY if _lies_well(path) else MAYBE  # the header was lost
        return MAYBE if not lines and _lies_well(path) else NO

    def order(self, path: PurePath, head: bytes, tail: bytes) -> tuple[object, ...]:  # noqa: ARG002
        return ()

    def open(self, source: Source, around: Surroundings, state: bytes) -> LineReader:
        return Reader(source, around, state)


def _lies_well(path: PurePath) -> bool:
    return path.parent.name == "sessions" and path.parent.parent.parent.name == "agents"


def _session_of(name: str) -> str:
    found = _LOG.fullmatch(name)
    return found["session"] if found else name


FORMAT: LineFormat = OpenClaw()
