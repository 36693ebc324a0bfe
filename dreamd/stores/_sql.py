"""SQL files in, named queries and numbered migrations out."""

import functools
import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

_ENTRY = re.compile(r"^-- name: (\w+)\n-- (.+)\n((?:.*\n)*?)(?=^-- name: |\Z)", re.MULTILINE)
_FRAGMENT = re.compile(r"\{(\w+)\}")


def listed(values: Iterable[object] | None) -> str | None:
    """A list as one parameter, for `json_each`; None stays None."""
    return None if values is None else msgspec.json.encode(list(values)).decode()


class Migration(Struct, frozen=True):
    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def folder(backend: str) -> Path:
    """Where a backend's SQL lies."""
    return Path(__file__).parent / "sql" / backend


@functools.cache
def queries(home: Path) -> Mapping[str, str]:
    """The entries of `queries.sql` by name, with `{name}` in an entry replaced by the text of an earlier one.

    An entry is the line `-- name: insert_memory`, one line of comment that says what it is for, and the SQL.
    """
    texts: dict[str, str] = {}
    for name, _description, text in _ENTRY.findall((home / "queries.sql").read_text("utf-8")):
        texts[name] = _FRAGMENT.sub(lambda found: texts[found[1]], text.strip())
    return texts


def migrations(home: Path) -> list[Migration]:
    """The numbered files (`0001_initial.sql`, ...) in order."""
    files = sorted(home.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    return [Migration(int(file.name[:4]), file.stem[5:], file.read_text("utf-8")) for file in files]


def statements(text: str) -> Iterator[str]:
    """The single statements of a script, so that they can run inside one transaction of the caller's."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
