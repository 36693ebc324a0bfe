"""OpenAI Codex CLI: which files are rollouts, and in what order they are read (FORMATS 4); `_codex_reader` reads them."""

from pathlib import PurePath
from typing import Literal

from dreamd.formats._codex import LINE
from dreamd.formats._codex_reader import READERS, Reader
from dreamd.formats._json import decoded, opening
from dreamd.formats.base import CERTAIN, MAYBE, NO, LineFormat, LineReader, Source, Surroundings

_SIDE_STORES = frozenset({"history.jsonl", "session_index.jsonl"})
_SUFFIXES = (".jsonl", ".jsonl.zst")


class Codex(LineFormat):
    name = "codex"
    label = "codex"
    family: Literal["lines"] = "lines"
    places = (
        ".codex/sessions/**/rollout-*.jsonl",
        ".codex/sessions/**/rollout-*.jsonl.zst",
        ".codex/archived_sessions/*.jsonl",
        ".codex/archived_sessions/*.jsonl.zst",
    )

    def claims(self, path: PurePath, head: bytes) -> int:
        if path.name in _SIDE_STORES or not path.name.endswith(_SUFFIXES):
            return NO
        if any(_is_rollout(line) for line in opening(head)):
            return CERTAIN
        return MAYBE if path.name.startswith("rollout-") else NO

    def order(self, path: PurePath, head: bytes, tail: bytes) -> tuple[object, ...]:  # noqa: ARG002
        """By name, which begins with the time: parents before forks, the plain file before its compressed copy."""
        plain = path.name.removesuffix(".zst")
        return (plain, plain != path.name)

    def open(self, source: Source, around: Surroundings, state: bytes) -> LineReader:
        return Reader(source, around, state)


def _is_rollout(line: bytes) -> bool:
    found = decoded(LINE, line)
    if found is None:
        return False
    if found.record_type == "state":
        return True
    if found.type in READERS:
        return bytes(found.payload)[:1] == b"{"
    return found.type is None and bool(found.id and found.timestamp and bytes(found.instructions))


FORMAT: LineFormat = Codex()
