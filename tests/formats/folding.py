"""What a pool would make of a format's items, in the shape of a sample's `.expected.json`: the test side's judge.

Records count once by identity (the first sighting keeps its place), amendments change them, withdrawn ones are left
out, sessions come by their earliest time with log order inside.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

import msgspec
import zstandard

from dreamd.formats.base import LineFormat, Source
from dreamd.records import Amendment, Item, Record, Span

ZONE = "Asia/Shanghai"  # the samples' naive times


class Folded(TypedDict, total=False):
    session_id: str
    agent: str
    role: str
    origin: str
    text: str
    tool: str
    ok: bool | None
    timestamp: str | None


class Beside:
    """The surroundings of a log in a real folder: its siblings, and the other logs under `root`."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path, self.root = path, root

    def sibling(self, relative: str, max_bytes: int = 1 << 20) -> bytes | None:
        beside = self.path.parent / relative
        return beside.read_bytes()[:max_bytes] if beside.is_file() else None

    def lines_of(self, name_part: str) -> Iterator[bytes] | None:
        folder = self.root if self.root.is_dir() else self.root.parent
        for path in sorted(folder.rglob("*")):
            if path.is_file() and name_part in path.name and path != self.path:
                return (line for line, _ in split(content(path), ""))
        return None

    def rows_of(self, _relative: str, _sql: str, *_args: object) -> list[tuple[object, ...]] | None:
        return None


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return zstandard.ZstdDecompressor().decompressobj().decompress(data) if path.suffix == ".zst" else data


def split(data: bytes, source_id: str) -> Iterator[tuple[bytes, Span]]:
    """The lines of a log as the tail hands them over (J1), each with its span."""
    at = 0
    for raw in data.split(b"\n"):
        line = raw.removesuffix(b"\r").replace(b"\0", b"")
        if at == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield line, Span(source_id=source_id, offset=at, length=len(raw), sha256=_sha256(raw))
        at += len(raw) + 1


def source_of(path: Path, root: Path | None = None) -> Source:
    return Source(source_id=str(path), path=path, root=root or path, zone=ZONE)


def items_of(format_: LineFormat, path: Path, root: Path | None = None) -> list[Item]:
    """Every item of one log, read from its start to its rest."""
    reader = format_.open(source_of(path, root), Beside(path, root or path), b"")
    found: list[Item] = []
    for line, span in split(content(path), str(path)):
        found += reader.feed(line, span)
    found += reader.settle()
    return found


def items_of_folder(format_: LineFormat, folder: Path) -> list[list[Item]]:
    """The items of each log under a folder that the format claims, owners of shared history first."""
    logs = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    claimed = [path for path in logs if format_.claims(path, content(path)[: 1 << 16])]
    claimed.sort(key=lambda path: _order(format_, path))
    return [items_of(format_, path, folder) for path in claimed]


def fold(logs: Iterable[Iterable[Item]], label: str) -> list[Folded]:
    """The items of one or more logs, read in this order, as a list to compare with a sample's expected one.

    Where an amendment is `own_only` a log withdraws only what it brought: a copy of a record in a fork may be rewound
    without touching the original.
    """
    kept: dict[str, Record] = {}
    gone: set[str] = set()
    for log in logs:
        mine: set[str] = set()
        for item in log:
            if isinstance(item, Record) and item.identity not in kept:
                kept[item.identity] = item
                mine.add(item.identity)
            elif isinstance(item, Amendment) and item.identity in kept:
                kept[item.identity] = _amended(kept[item.identity], item)
                if item.withdrawn is not None and (item.identity in mine or not item.own_only):
                    (gone.add if item.withdrawn else gone.discard)(item.identity)
    return [_folded(record, label) for record in _ordered(r for i, r in kept.items() if i not in gone)]


def expected(path: Path) -> list[Folded]:
    return msgspec.json.decode(path.read_bytes(), type=list[Folded])


def _order(format_: LineFormat, path: Path) -> tuple[object, ...]:
    data = content(path)
    return format_.order(path, data[: 1 << 16], data[-(1 << 16) :])


def _amended(record: Record, change: Amendment) -> Record:
    changes = {
        name: value
        for name in ("ok", "origin", "text", "trace")
        if (value := getattr(change, name)) is not None
    }
    return msgspec.structs.replace(record, **changes)


def _ordered(records: Iterable[Record]) -> list[Record]:
    sessions: dict[str, list[Record]] = {}
    for record in records:
        sessions.setdefault(record.session_id, []).append(record)
    never = datetime.max.replace(tzinfo=UTC)

    def earliest(session: list[Record]) -> datetime:
        return min((record.at for record in session if record.at), default=never)

    return [record for session in sorted(sessions.values(), key=earliest) for record in session]


def _folded(record: Record, label: str) -> Folded:
    folded = Folded(session_id=record.session_id, agent=label, role=record.role, origin=record.origin)
    if record.role == "tool":
        folded |= {"tool": record.tool, "ok": record.ok}
    else:
        folded |= {"text": record.text}
    return folded | {"timestamp": _stamp(record.at)}


def _stamp(at: datetime | None) -> str | None:
    return at and at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _sha256(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()
