"""What a format may ask about the files beside a source: heads of siblings, lines and rows of the agent's other logs."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath

from dreamd.errors import LogUnreadable
from dreamd.formats.base import Surroundings
from dreamd.tail.lines import Splitter
from dreamd.tail.logfile import COMPRESSED, opened
from dreamd.tail.rows import reading


class Around(Surroundings):
    """`logs` lists the paths of the agent's logs that are known now."""

    def __init__(self, path: str, logs: Callable[[], Iterable[str]], max_line_bytes: int) -> None:
        self._path = path
        self._logs = logs
        self._max_line_bytes = max_line_bytes

    def sibling(self, relative: str, max_bytes: int = 1 << 20) -> bytes | None:
        try:
            with opened(str(Path(self._path).parent / relative)) as file:
                return file.head(max_bytes)
        except LogUnreadable:
            return None

    def lines_of(self, name_part: str) -> Iterator[bytes] | None:
        named = [path for path in self._logs() if name_part in PurePath(path).name and path != self._path]
        for path in sorted(named, key=lambda path: (path.endswith(COMPRESSED), path)):  # plain ones first
            if _readable(path):
                return self._lines(path)
        return None

    def rows_of(self, relative: str, sql: str, *args: object) -> list[tuple[object, ...]] | None:
        path = os.path.normpath(Path(self._path).parent / relative)
        if path not in self._logs():
            return None
        try:
            with reading(path) as query:
                return list(query(sql, *args))
        except LogUnreadable:
            return None

    def _lines(self, path: str) -> Iterator[bytes]:
        splitter = Splitter(0, self._max_line_bytes)
        try:
            with opened(path) as file:
                for chunk in file.chunks(0):
                    yield from (line.content for line in splitter.feed(chunk) if line.content)
        except LogUnreadable:
            return  # it went away while being read: what was read still holds
        if rest := splitter.rest():
            yield rest.content


def _readable(path: str) -> bool:
    try:
        with opened(path) as file:
            file.head(1)
    except LogUnreadable:
        return False
    return True
