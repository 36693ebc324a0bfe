"""Where the logs are: an agent's configured files, folders and globs, or its formats' usual places, as files on disk.

The file system is asked, nothing is opened but to guess a format. What dreamd itself writes is never found.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from dreamd import _plugins
from dreamd.errors import ConfigError
from dreamd.formats.base import NO, DocumentFormat, Format, LineFormat, RowFormat
from dreamd.sections import Agent
from dreamd.tail.logfile import Stamp, stamp

HEAD_BYTES = 64 << 10
_SQLITE = b"SQLite format 3\0"
_MAGIC = re.compile(r"[*?\[]")
_EVERYTHING = re.compile(".+", re.DOTALL)


class Place(NamedTuple):
    """`base` is a file or folder; files below it count when `pattern` (None: the base itself) fits their relative path."""

    base: str
    pattern: re.Pattern[str] | None
    depth: int | None  # folders below base worth entering; None: all
    formats: tuple[Format, ...]
    configured: bool  # a person named it: it is told when it is not there
    forced: bool = False  # a person named file and format: it is read even if the format would not claim it


class Found(NamedTuple):
    path: str
    root: str
    stamp: Stamp
    formats: tuple[Format, ...]
    forced: bool = False


def formats(label: str = "") -> tuple[Format, ...]:
    """All formats, or those with this label or file name. Raises ConfigError for an unknown one."""
    known = [_format(name) for name in _plugins.names("formats")]
    chosen = tuple(one for one in known if label in ("", one.label, one.name))
    if not chosen:
        labels = ", ".join(sorted({one.label for one in known}))
        raise ConfigError(f"unknown format {label!r}", hint=f"known: {labels}")
    return chosen


def _format(name: str) -> Format:
    loaded = _plugins.load("formats", name, "FORMAT")
    if not isinstance(loaded, LineFormat | RowFormat | DocumentFormat):
        raise ConfigError(f"formats/{name} offers no FORMAT")
    return loaded


def places(agent: Agent, chosen: Sequence[Format], home: Path) -> list[Place]:
    """The configured logs, else the usual places of the formats below the home folder."""
    if agent.logs:
        return [_configured(os.path.expanduser(log), agent, chosen) for log in agent.logs]  # noqa: PTH111 - a glob
    return [_place(str(home / glob), (one,), configured=False) for one in chosen for glob in one.places]


def _configured(log: str, agent: Agent, chosen: Sequence[Format]) -> Place:
    place = _place(log, tuple(chosen), configured=True)
    return place._replace(forced=bool(agent.format) and place.pattern is None)


def _place(log: str, chosen: tuple[Format, ...], *, configured: bool) -> Place:
    path = os.path.abspath(log)  # noqa: PTH100 - no symlink is followed
    if os.path.exists(path):  # noqa: PTH110 - whatever characters its name has, it is no glob
        return today(Place(path, None, None, chosen, configured))
    parts = PurePath(path).parts
    fixed = next((at for at, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    base, rest = str(PurePath(*parts[:fixed])), parts[fixed:]
    if not rest:
        return Place(base, None, None, chosen, configured)
    depth = None if "**" in rest else len(rest) - 1
    return Place(base, re.compile(glob_regex("/".join(rest)), re.DOTALL), depth, chosen, configured)


def today(place: Place) -> Place:
    """The place as it is: a name may stand for nothing yet, and become a folder when the agent first writes."""
    if place.pattern is None and os.path.isdir(place.base):  # noqa: PTH112 - asked often
        return place._replace(pattern=_EVERYTHING, forced=False)
    return place


def glob_regex(glob: str) -> str:
    """A shell glob over a relative path as a regular expression; `**/` is any number of folders."""
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[[^\]/]+\]|.", glob, re.DOTALL)
    return "".join(_glob_token(token) for token in tokens)


def _glob_token(token: str) -> str:
    plain = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token in plain:
        return plain[token]
    if len(token) > 1:  # a set of characters
        return (
            "["
            + ("^" if token[1] == "!" else "")
            + re.escape(token[1:-1].lstrip("!")).replace(r"\-", "-")
            + "]"
        )
    return re.escape(token)


Failed = Callable[[str, str], None]  # told of each path that cannot be read, with the reason


class Part(NamedTuple):
    """The part of the places to look at: a folder, alone or with all below it."""

    folder: str
    deep: bool


def scan(where: Sequence[Place], own: "Own", failed: Failed, part: Part | None = None) -> Iterator[Found]:
    """Every log file of the places (of one part of them, when given), each once, first place first."""
    seen: set[str] = set()
    for place in map(today, where):
        if place.configured and part is None and not stamp(place.base):
            failed(place.base, "not there")
        for path in _walk(place, own, failed, part):
            known = None if path in seen else stamp(path)
            seen.add(path)
            if known and not path.isascii() and (named := _as_text(path)) != path:
                failed(named, "its name is not UTF-8: rename it")
            elif known:
                yield Found(path, place.base, known, place.formats, place.forced)


def _as_text(path: str) -> str:
    """The path as people and the store can take it: bytes that are no UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def _walk(place: Place, own: "Own", failed: Failed, part: Part | None) -> Iterator[str]:
    if place.pattern is None:
        if part is None or part.folder in (place.base, str(PurePath(place.base).parent)):
            yield from () if own.has(place.base) else (place.base,)
        return
    start = _start(place.base, part)
    if start is None:
        return
    deep = part is None or part.deep
    skip = len(place.base.rstrip("/")) + 1
    for path in _files(start, place._replace(depth=place.depth if deep else -1), own, failed):
        if place.pattern.fullmatch(path, skip):
            yield path


def _start(base: str, part: Part | None) -> str | None:
    """Where to begin walking: the deeper of base and the part's folder when one contains the other."""
    if part is None or base == part.folder:
        return base
    if PurePath(base).is_relative_to(part.folder):
        return base if part.deep else None
    return part.folder if PurePath(part.folder).is_relative_to(base) else None


def _files(start: str, place: Place, own: "Own", failed: Failed) -> Iterator[str]:
    base_depth = place.base.rstrip("/").count("/")
    waiting, entered = [start], set[tuple[int, int]]()
    while waiting:
        folder = waiting.pop()
        if not _enter(folder, entered):
            continue  # a symlink leads in a circle
        deeper = place.depth is None or folder.rstrip("/").count("/") - base_depth < place.depth
        for entry in _entries(folder, failed):
            if own.has(entry.path):
                continue
            kind = _kind(entry, failed)
            if kind == "file":
                yield entry.path
            elif kind == "folder" and deeper:
                waiting.append(entry.path)


def _kind(entry: "os.DirEntry[str]", failed: Failed) -> Literal["file", "folder", "other"]:
    try:
        return "file" if entry.is_file() else "folder" if entry.is_dir() else "other"
    except OSError as error:  # a symlink to itself, or to where one may not look
        failed(entry.path, error.strerror or "cannot be looked at")
        return "other"


def _enter(folder: str, entered: set[tuple[int, int]]) -> bool:
    try:
        status = os.stat(folder)  # noqa: PTH116 - thousands of folders
    except OSError:
        return True  # listing it will say why
    new = (status.st_dev, status.st_ino) not in entered
    entered.add((status.st_dev, status.st_ino))
    return new


def _entries(folder: str, failed: Failed) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []
    except OSError as error:
        failed(folder, error.strerror or "cannot be listed")
        return []


class Own(NamedTuple):
    """What dreamd writes itself, never read as a log: its state folder, MEMORY.md, the Markdown of dailies and diaries."""

    state: str = ""
    memory_file: str = ""
    folders: frozenset[str] = frozenset()

    def has(self, path: str) -> bool:
        if self.state and (path == self.state or path.startswith(f"{self.state}/")):
            return True
        return path.endswith(".md") and (path == self.memory_file or path.rpartition("/")[0] in self.folders)


def own_files(state: Path, agent: Agent) -> Own:
    if not agent.workspace:
        return Own(str(state.absolute()))
    workspace = Path(agent.workspace).expanduser().absolute()
    folders = (workspace / agent.daily_dir, workspace / agent.diary_dir)
    return Own(
        str(state.absolute()),
        str(workspace / agent.memory_file),
        frozenset(str(folder) for folder in folders),
    )


def guess(found: Found, head: bytes) -> Format | None:
    """The format that is surest of the file; the first of equals. None when none claims it."""
    name = PurePath(found.path)
    claims = [(one.claims(name, head), -at, one) for at, one in enumerate(found.formats)]
    surest = max(claims, key=lambda claim: claim[:2], default=None)
    if surest and surest[0] > NO:
        return surest[2]
    family = "rows" if head.startswith(_SQLITE) else "lines"
    return next((one for one in found.formats if found.forced and one.family == family), None)
