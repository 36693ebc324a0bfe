"""Whether an entry may be retired for the reason that the model gives (pure).

Law: what dreamd wrote goes with any reason; a line by another hand goes only when an accepted new line takes its place,
or when the person's own words are named that speak of it.
"""

import re
from collections.abc import Iterable, Sequence

from dreamd.deep_dream.sources import Source
from dreamd.memories import Memory, memory_ids
from dreamd.pool.similarity import keywords


def founded(entry: Source, reasons: Sequence[Source], new: Iterable[tuple[str, Sequence[Source]]]) -> bool:
    """`reasons` are what the reason cites; `new` the accepted lines with what they rest on."""
    return (
        dreamt(entry)
        or any(_takes_the_place(entry, text, cites) for text, cites in new)
        or any(_speaks_of(entry, record) for one in reasons if one.entry < 0 for record in one.records)
    )


def dreamt(entry: Source) -> bool:
    """It is dreamd's: it rests on memories, not only on a place in a file that was found."""
    return bool(memory_ids(entry.refs))


def _takes_the_place(entry: Source, text: str, cites: Sequence[Source]) -> bool:
    """It names the entry and news, and is about the same."""
    named = any(source.id == entry.id for source in cites) and any(source.entry < 0 for source in cites)
    return named and bool(keywords(text) & keywords(entry.text))


_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")


def _speaks_of(entry: Source, record: Memory) -> bool:
    """The person says something of it; asking about it takes nothing back."""
    return record.by_a_person and any(
        keywords(sentence) & keywords(entry.text)
        for sentence in _SENTENCE.findall(record.content)
        if not sentence.rstrip().endswith(("?", "？", "吗"))
    )
