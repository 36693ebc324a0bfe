"""Entries for tests, made from their words."""

from collections.abc import Sequence

from dreamd.indexes.base import Entry, Index
from dreamd.stores.base import Mark


def entry(seq: int, words: str, agent: str = "ada", **fields: object) -> Entry:
    given = {"session": "s", **fields}
    return Entry(seq=seq, agent=agent, terms=words.split(), **given)  # type: ignore[arg-type]


def put(index: Index, *entries: Entry, gone: Sequence[int] = ()) -> None:
    before = index.mark()
    assert index.write(entries, gone, before=before, after=Mark(before.seq + 1))


def seqs(index: Index, words: str, *agents: str, conclusions: bool = False, most: int = 10) -> set[int]:
    found = index.search(words.split(), agents or ("ada",), conclusions=conclusions, most=most)
    return {hit.seq for hit in found.hits}
