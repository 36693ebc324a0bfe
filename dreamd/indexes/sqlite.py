"""The default index: SQLite's full-text search in a file of its own, `recall.db` in the state folder.

Law: it holds nothing that the pool does not hold, and of what was taken out and scrubbed no byte is left.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from dreamd.indexes import _vectors
from dreamd.indexes._file import File
from dreamd.indexes._looking import SEQ, SHIFT, SPEAKER, TABLES, Range, looked_up
from dreamd.indexes._writing import Writing
from dreamd.indexes.base import Entry, Found, Hit, Index, Vector
from dreamd.stores._sql import listed
from dreamd.stores.base import Mark

_SEGMENTS = 4  # of a table, that are not worth merging
_PAGES = 100  # merged in a step
_STANDING_AT = (
    "FROM json_each(?) AS asked CROSS JOIN documents "
    "ON session = asked.value ->> 0 AND place BETWEEN asked.value ->> 1 AND asked.value ->> 2 AND session > 0"
)


class SqliteIndex(Index):
    def __init__(self, state: Path) -> None:
        """Nothing is opened or made before something is asked of it."""
        self._file = File(state / "recall.db")
        self._signs = _vectors.Signs()

    def mark(self) -> Mark:
        return self._file.read(lambda connection: Writing(connection).mark(), Mark())

    def write(self, entries: Sequence[Entry], gone: Sequence[int], *, before: Mark, after: Mark) -> bool:
        def follow(connection: sqlite3.Connection) -> bool:
            writing = Writing(connection)
            if writing.mark() != before:
                return False
            writing.apply(entries, gone, after)
            return True

        return self._file.change(follow, otherwise=False)

    def search(self, terms: Sequence[str], agents: Sequence[str], *, conclusions: bool, most: int) -> Found:
        nothing = Found(frequencies=(0.0,) * len(terms))

        def look(connection: sqlite3.Connection) -> Found:
            ranges, documents, size = _ranges(connection, agents, conclusion=conclusions)
            if not documents or not terms:
                return nothing
            frequencies, places = looked_up(connection, TABLES[conclusions], terms, ranges, most)
            hits = tuple(_hits(connection, places, terms))
            return Found(hits, tuple(frequencies), documents, size / documents)

        return self._file.read(look, nothing)

    def beside(self, places: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], int]:
        def look(connection: sqlite3.Connection) -> dict[tuple[int, int], int]:
            rows = connection.execute(f"SELECT session, place, n {_STANDING_AT}", (listed(_runs(places)),))
            return {(session, place): n & SEQ for session, place, n in rows}

        return self._file.read(look, {})

    def said_by(self, terms: Sequence[str], places: Sequence[tuple[int, int]]) -> set[int]:
        speakers = _speakers(terms)

        def look(connection: sqlite3.Connection) -> set[int]:
            rows = connection.execute(f"SELECT n, terms {_STANDING_AT}", (listed(_runs(places)),))
            return {n & SEQ for n, text in rows if _is_named(text, speakers)}

        return self._file.read(look, set())

    def standing(self, agents: Sequence[str], most: int) -> list[int]:
        sql = (
            f"SELECT standing, n & {SEQ} FROM documents WHERE n >> {SHIFT} = ? AND standing > 0 "  # noqa: S608
            "ORDER BY standing DESC LIMIT ?"
        )

        def look(connection: sqlite3.Connection) -> list[int]:
            numbers = _numbers(connection, agents)
            rows = [row for number in numbers for row in connection.execute(sql, (number, most))]
            return [seq for _, seq in sorted(rows, reverse=True)[:most]]

        return self._file.read(look, [])

    def unmeant(self, model: str, limit: int) -> list[int]:
        return self._file.read(lambda connection: _vectors.missing(connection, model, limit), [])

    def mean(self, model: str, vectors: Sequence[Vector]) -> None:
        self._file.change(lambda connection: _vectors.keep(connection, model, vectors), None)

    def closest(
        self, numbers: Sequence[float], agents: Sequence[str], *, conclusions: bool, most: int
    ) -> list[tuple[int, float]]:
        def look(connection: sqlite3.Connection) -> list[tuple[int, float]]:
            wanted = set(_numbers(connection, agents))
            kept = _vectors.signs(connection, self._signs)[conclusions]
            return _vectors.closest(connection, kept, numbers, wanted, most)

        return self._file.read(look, [])

    def likeness(
        self, numbers: Sequence[float], agents: Sequence[str], seqs: Sequence[int]
    ) -> Mapping[int, float]:
        def look(connection: sqlite3.Connection) -> dict[int, float]:
            places = [number << SHIFT | seq for number in _numbers(connection, agents) for seq in seqs]
            return _vectors.likeness(connection, numbers, places)

        return self._file.read(look, {})

    def clear(self) -> None:
        self._file.begin_anew()

    def tidy(self) -> bool:
        return self._file.change(
            lambda connection: any(_merged(connection, table) for table in TABLES), otherwise=False
        )

    def scrub(self) -> None:
        def merge(connection: sqlite3.Connection) -> None:
            for table in TABLES:
                connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608

        self._file.change(merge, None)
        self._file.compact()

    def close(self) -> None:
        self._file.close()


def _runs(places: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Session, first and last of places that follow each other: a look for all of them costs little more than for one."""
    runs: list[tuple[int, int, int]] = []
    for session, place in sorted(places):
        if runs and runs[-1][0] == session and place <= runs[-1][2] + 1:
            runs[-1] = (session, runs[-1][1], place)
        else:
            runs.append((session, place, place))
    return runs


def _merged(connection: sqlite3.Connection, table: str) -> bool:
    """Merge some pages of a table that is scattered over many segments, each of which every question has to look into.

    A merge that is under way goes on with a positive count, a negative one begins it (sqlite.org/fts5.html, 6.8).
    """
    under_way = f"merging {table}"
    begun = connection.execute("SELECT 1 FROM state WHERE key = ?", (under_way,)).fetchone() is not None
    segments = connection.execute(f"SELECT count(DISTINCT segid) FROM {table}_idx").fetchone()[0]  # noqa: S608
    if not begun and segments <= _SEGMENTS:
        return False
    before = connection.total_changes
    pages = _PAGES if begun else -_PAGES
    connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('merge', ?)", (pages,))  # noqa: S608
    more = connection.total_changes - before > 1
    if more:
        connection.execute("REPLACE INTO state (key, value) VALUES (?, '')", (under_way,))
    else:
        connection.execute("DELETE FROM state WHERE key = ?", (under_way,))
    return more


def _numbers(connection: sqlite3.Connection, agents: Sequence[str]) -> list[int]:
    sql = "SELECT no FROM agents WHERE agent IN (SELECT value FROM json_each(?)) ORDER BY no"
    return [number for (number,) in connection.execute(sql, (listed(agents),))]


def _ranges(
    connection: sqlite3.Connection, agents: Sequence[str], *, conclusion: bool
) -> tuple[list[Range], int, int]:
    """Where each agent's documents lie, how many there are, and how many terms they have, all together."""
    sizes = "SELECT documents, terms FROM sizes WHERE agent = ? AND conclusion = ? AND documents > 0"
    end = (
        "SELECT {}(n) FROM documents WHERE n BETWEEN ? AND ?"  # each alone is a step in the tree, both a scan
    )
    ranges, terms = [], 0
    for number in _numbers(connection, agents):
        for documents, size in connection.execute(sizes, (number, conclusion)):
            within = (number << SHIFT, number << SHIFT | SEQ)
            first, last = (
                connection.execute(end.format(way), within).fetchone()[0] for way in ("min", "max")
            )
            ranges.append(Range(first, last, documents))
            terms += size
    return ranges, sum(each.count for each in ranges), terms


def _hits(connection: sqlite3.Connection, places: Sequence[int], terms: Sequence[str]) -> Iterator[Hit]:
    sql = "SELECT n, session, place, size, terms FROM json_each(?) CROSS JOIN documents ON n = value"
    marked = [f" {term[:-1]}" if term.endswith("*") else f" {term} " for term in terms]
    speakers = _speakers(terms)
    for n, session, place, size, text in connection.execute(sql, (listed(sorted(places)),)):
        counts = tuple(map(text.count, marked))
        yield Hit(n & SEQ, session, place, size, counts, _is_named(text, speakers))


def _speakers(terms: Sequence[str]) -> list[str]:
    return [f" {SPEAKER}{term} " for term in terms]


def _is_named(text: str, speakers: Sequence[str]) -> bool:
    return text.startswith(f" {SPEAKER}") and any(each in text for each in speakers)


OPEN: Callable[[Path], Index] = SqliteIndex
