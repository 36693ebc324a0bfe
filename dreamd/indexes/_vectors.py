"""The vectors in an index's file: which are missing, keeping them, and the nearest to one."""

import sqlite3
from collections.abc import Sequence

from msgspec import Struct

from dreamd.indexes import _meaning
from dreamd.indexes._looking import SEQ, SHIFT
from dreamd.indexes.base import Vector
from dreamd.stores._sql import listed

MOST_RECORDS = 100_000  # of an agent, the newest; older ones are found by their words
_LOOKED_AT = 8  # times as many as are wanted are weighed by their numbers
_KINDS = (1, 0)  # conclusions first


class Signs(Struct):
    """All signs, kept in memory until others are written: about 100 bytes a vector. By kind, (place, signs)."""

    generation: str = ""
    kept: dict[int, list[tuple[int, int]]] = {}


def missing(connection: sqlite3.Connection, model: str, limit: int) -> list[int]:
    """Seqs."""
    sql = (
        "SELECT n FROM (SELECT n FROM documents WHERE n BETWEEN ? AND ? AND conclusion = ? ORDER BY n DESC LIMIT ?) "
        "WHERE NOT ? OR n NOT IN (SELECT n FROM vectors) LIMIT ?"
    )
    known = _state(connection, "model") == model
    agents = [number << SHIFT for (number,) in connection.execute("SELECT no FROM agents")]
    asked = ((first, first | SEQ, kind, MOST_RECORDS, known, limit) for kind in _KINDS for first in agents)
    rows = [n & SEQ for each in asked for (n,) in connection.execute(sql, each)]
    return rows[:limit]


def keep(connection: sqlite3.Connection, model: str, vectors: Sequence[Vector]) -> None:
    if _state(connection, "model") != model:
        connection.execute("DELETE FROM vectors")
    agents = dict(connection.execute("SELECT agent, no FROM agents").fetchall())
    rows = (
        (
            _meaning.signs(each.numbers),
            _meaning.packed(each.numbers),
            agents.get(each.agent, 0) << SHIFT | each.seq,
        )
        for each in vectors
    )
    unless_gone = "REPLACE INTO vectors SELECT n, conclusion, ?, ? FROM documents WHERE n = ?"
    connection.executemany(unless_gone, rows)
    generation = str(int(_state(connection, "generation") or 0) + 1)
    state = (("model", model), ("generation", generation))
    connection.executemany("REPLACE INTO state (key, value) VALUES (?, ?)", state)


def closest(
    connection: sqlite3.Connection,
    kept: Sequence[tuple[int, int]],
    numbers: Sequence[float],
    agents: set[int],
    most: int,
) -> list[tuple[int, float]]:
    """`kept` are (place, signs) of all agents; `agents` are numbers."""
    places = _meaning.nearest(
        _meaning.signs(numbers), (each for each in kept if each[0] >> SHIFT in agents), most * _LOOKED_AT
    )
    weighed = likeness(connection, numbers, places)
    return sorted(weighed.items(), key=lambda each: -each[1])[:most]


def likeness(
    connection: sqlite3.Connection, numbers: Sequence[float], places: Sequence[int]
) -> dict[int, float]:
    sql = "SELECT n, numbers FROM vectors WHERE n IN (SELECT value FROM json_each(?))"
    rows = connection.execute(sql, (listed(places),))
    return {n & SEQ: _meaning.cosine(numbers, kept) for n, kept in rows}


def signs(connection: sqlite3.Connection, known: Signs) -> dict[int, list[tuple[int, int]]]:
    """Those that went meanwhile are still there, and have no numbers any more."""
    generation = _state(connection, "generation")
    if generation != known.generation:
        kept: dict[int, list[tuple[int, int]]] = {0: [], 1: []}
        for n, kind, bits in connection.execute("SELECT n, conclusion, signs FROM vectors"):
            kept[kind].append((n, int.from_bytes(bits, "big")))
        known.generation, known.kept = generation, kept
    return known.kept or {0: [], 1: []}


def _state(connection: sqlite3.Connection, key: str) -> str:
    row = connection.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""
