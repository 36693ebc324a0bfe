"""News of the pool in, entries of the index out: what can be recalled, and by which terms.

Law: the index may be behind the pool, never ahead of it; what was forgotten or withdrawn goes with the first write.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from dreamd.indexes.base import Entry, Index
from dreamd.memories import Memory
from dreamd.pool.readable import readable, unquoted
from dreamd.pool.terms import headed, terms, told
from dreamd.recall.standing import weight
from dreamd.stores.base import Mark, MemoryQuery, News, Store

PAGE = 500  # memories of one write
_COUNTED = 600  # terms of a text; what a long one says after that is found too, but counts once
_ORIGINS = ("human", "subagent", None)  # scheduled turns and injected text are nobody's words

_NAMED = re.compile(r"\s*([^\W\d_][\w .'’-]{0,30})[:：](?![/:])")
_LONGEST_NAME = 4  # terms


def follow(store: Store, index: Index, *, pages: int, page: int = PAGE) -> bool:
    """Bring the index nearer to the pool, by at most so many pages of so many memories; True when it has come up to it.

    Blocks. Raises StoreError, DiskFull.
    """
    for _ in range(pages):
        before = index.mark()
        news = store.news(before, page)
        if news.restart:
            index.clear()
        elif news.mark == before or (_taken_in(store, index, news, before) and not news.more):
            return True
    return False


def _taken_in(store: Store, index: Index, news: News, before: Mark) -> bool:
    """False when another process was quicker."""
    told = list(entries(store, news))
    silent = {memory.seq for memory in news.memories} - {entry.seq for entry in told}
    return index.write(told, sorted({*news.gone, *silent}), before=before, after=news.mark)


def entries(store: Store, news: News) -> Iterator[Entry]:
    """What of the news can be recalled."""
    said = _said(store, news.memories)
    for memory in news.memories:
        if memory.type == "insight":
            evidence = [said[ref] for ref in memory.ref_ids if ref in said]
            yield _entry(memory, described(memory), conclusion=True, standing=weight(memory, evidence))
        elif memory.type == "raw" and memory.origin in _ORIGINS and (text := spoken(memory)):
            yield _entry(memory, text)


def _said(store: Store, memories: Sequence[Memory]) -> Mapping[str, Memory]:
    """The records that the candidates among these rest on: how a thing was said decides whether it comes unasked."""
    wanted = {
        ref
        for memory in memories
        if memory.status == "candidate" and memory.kind == "preference"
        for ref in memory.ref_ids
    }
    if not wanted:
        return {}
    return {
        record.memory_id: record for record in store.memories(MemoryQuery(ids=tuple(wanted), types=("raw",)))
    }


def _entry(memory: Memory, text: str, *, conclusion: bool = False, standing: float = 0.0) -> Entry:
    found = told(text, memory.window)
    return Entry(
        seq=memory.seq,
        agent=memory.agent,
        session="" if conclusion else memory.session_id,
        terms=[*found[:_COUNTED], *(set(found[_COUNTED:]) - set(found[:_COUNTED]))],
        conclusion=conclusion,
        standing=standing,
        speaker=() if conclusion else speaker(text),
    )


def speaker(text: str) -> list[str]:
    """The terms of the name that a text begins with, as chats of several people are logged: `Ann: hello`, `小明：你好`."""
    named = _NAMED.match(text)
    found = terms(named[1]) if named else []
    return [term for term in found if not headed(term)] if len(found) <= _LONGEST_NAME else []


def spoken(record: Memory) -> str:
    """All that a raw memory says, once and readable: its text, and what its trace tells beyond it."""
    trace = record.trace
    action = (
        (
            trace.goal,
            trace.subgoal,
            unquoted(trace.arguments),
            readable(trace.result),
            readable(trace.error),
            trace.summary,
        )
        if trace
        else ()
    )
    said = readable(record.content)
    own = [part for part in action if part not in said]
    return "\n".join(part for part in (said, *own) if part)


def described(insight: Memory) -> str:
    """All by which an insight is found: its statement, when it applies, whom and what it is about."""
    return "\n".join((insight.content, insight.applies_when, *(entity.name for entity in insight.entities)))
