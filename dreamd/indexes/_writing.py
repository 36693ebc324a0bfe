"""Entries in, SQL out: the steps of one write of the index, inside a transaction that the caller holds."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from dreamd.indexes._looking import SHIFT, SPEAKER, TABLES
from dreamd.indexes.base import Entry
from dreamd.stores._sql import listed
from dreamd.stores.base import Mark

Row = tuple[Any, ...]  # of documents: n, conclusion, session, place, standing, size, terms
_mark = msgspec.json.Decoder(Mark).decode


class Writing:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute
        self._run_all = connection.executemany

    def mark(self) -> Mark:
        row = self._run("SELECT value FROM state WHERE key = 'mark'").fetchone()
        return _mark(row[0]) if row else Mark()

    def apply(self, entries: Sequence[Entry], gone: Iterable[int], after: Mark) -> None:
        agents = self._agents({entry.agent for entry in entries})
        stood = self._known([*gone, *(entry.seq for entry in entries)], agents.values())
        rows = list(
            self._rows(entries, agents, {row[0]: row for row in stood})
        )  # while all stand in their places
        self._take_out(stood)
        self._put_in(rows)
        mark = msgspec.json.encode(after).decode()
        self._run("REPLACE INTO state (key, value) VALUES ('mark', ?)", (mark,))

    def _agents(self, names: set[str]) -> dict[str, int]:
        """Everybody's number, newcomers' too."""
        self._run_all("INSERT OR IGNORE INTO agents (agent) VALUES (?)", ((name,) for name in sorted(names)))
        return dict(self._run("SELECT agent, no FROM agents").fetchall())

    def _known(self, seqs: Sequence[int], agents: Iterable[int]) -> list[Row]:
        """The documents of these seqs, whoever's they are."""
        places = [agent << SHIFT | seq for agent in agents for seq in seqs]
        sql = "SELECT * FROM documents WHERE n IN (SELECT value FROM json_each(?))"
        return self._run(sql, (listed(places),)).fetchall()

    def _rows(self, entries: Sequence[Entry], agents: dict[str, int], stood: dict[int, Row]) -> Iterator[Row]:
        """A record that stood in its session stays where it was; others come behind the last."""
        sessions: dict[tuple[int, str], int] = {}
        last: dict[int, int] = {}
        for entry in entries:
            agent, session, place = agents[entry.agent], 0, 0
            n = agent << SHIFT | entry.seq
            if not entry.conclusion:
                key = (agent, entry.session)
                session = sessions[key] = sessions.get(key) or self._session(*key)
                if n in stood:
                    place = stood[n][3]
                else:
                    place = last[session] = (last.get(session) or self._last(session)) + 1
            speaker = (f"{SPEAKER}{term}" for term in entry.speaker)
            terms = f" {'  '.join((*speaker, *entry.terms))} "
            yield n, int(entry.conclusion), session, place, entry.standing, len(entry.terms), terms

    def _session(self, agent: int, session: str) -> int:
        known = "SELECT no FROM sessions WHERE agent = ? AND session = ?"
        row = self._run(known, (agent, session)).fetchone()
        if row is None:
            self._run("INSERT INTO sessions (agent, session) VALUES (?, ?)", (agent, session))
            row = self._run(known, (agent, session)).fetchone()
        return int(row[0])

    def _last(self, session: int) -> int:
        sql = "SELECT coalesce(max(place), 0) FROM documents WHERE session = ? AND session > 0"
        return int(self._run(sql, (session,)).fetchone()[0])

    def _take_out(self, rows: Sequence[Row]) -> None:
        for conclusion, table in enumerate(TABLES):
            sql = f"INSERT INTO {table} ({table}, rowid, terms) VALUES ('delete', ?, ?)"  # noqa: S608 - of two names
            self._run_all(sql, ((row[0], row[6]) for row in rows if row[1] == conclusion))
        for table in ("documents", "vectors"):
            self._run_all(f"DELETE FROM {table} WHERE n = ?", ((row[0],) for row in rows))  # noqa: S608
        self._tally(rows, -1)

    def _put_in(self, rows: Sequence[Row]) -> None:
        self._run_all("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        for conclusion, table in enumerate(TABLES):
            sql = f"INSERT INTO {table} (rowid, terms) VALUES (?, ?)"  # noqa: S608
            self._run_all(sql, ((row[0], row[6]) for row in rows if row[1] == conclusion))
        self._tally(rows, 1)

    def _tally(self, rows: Iterable[Row], sign: int) -> None:
        documents, terms = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
        for row in rows:
            documents[row[0] >> SHIFT, row[1]] += sign
            terms[row[0] >> SHIFT, row[1]] += sign * row[5]
        sql = (
            "INSERT INTO sizes VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
            "SET documents = documents + excluded.documents, terms = terms + excluded.terms"
        )
        self._run_all(sql, ((*key, number, terms[key]) for key, number in documents.items()))
