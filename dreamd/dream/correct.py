"""Two insights that contradict each other in; which one the human put right, and by which record, out (pure).

Law: an insight is superseded only when the human, later than all its evidence, corrects it or states its successor on
purpose, and that successor lives. Nobody else's words do that, nor does mere likeness. The old one stays, with the time
until which it held; a pinned one is left to the person.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from dreamd.dream.known import LIVE
from dreamd.dream.promote import evidence_of, own_words
from dreamd.dream.said import by_human
from dreamd.memories import Memory
from dreamd.pool.acts import corrects
from dreamd.pool.similarity import covered
from dreamd.pool.stated import sentences
from dreamd.records import Trust

_FROM_NOW_ON = re.compile(
    r"\b(?:from (?:now|today|here) on|henceforth|going forward|in (?:the )?future|as of|remember|keep in mind)\b|以后|今后|往后|从现在|从今|记住|记得",
    re.IGNORECASE,
)  # said on purpose, and for a time that begins: "we never do" may be as old as "we do"
_SPOKEN_OF = 0.5  # of the successor's words that the correcting sentence holds


class Correction(Struct, frozen=True):
    """`old` and `new` as they are to be: the one superseded, the other in its place. `at` is when the human said so."""

    old: Memory
    new: Memory
    at: datetime


def corrections(pairs: Iterable[tuple[Memory, Memory]], raws: Mapping[str, Memory]) -> list[Correction]:
    """Of each pair the correction that the human made, if any, in order of time."""
    found = (correction(*sides, raws) for pair in pairs for sides in (pair, pair[::-1]))
    return sorted((one for one in found if one), key=lambda one: (one.at, one.old.memory_id))


def correction(old: Memory, new: Memory, raws: Mapping[str, Memory]) -> Correction | None:
    """`new` supersedes `old`, or None."""
    if old.pinned or old.status not in LIVE or new.status not in LIVE:
        return None
    last = _last_seen(old, raws)
    records = sorted(evidence_of(new, raws), key=lambda one: (one.happened, one.seq))
    said = next((one for one in records if one.happened > last and _puts_right(one, new.content)), None)
    if said is None:
        return None
    at = said.happened
    status = "long_term" if "long_term" in (old.status, new.status) else new.status
    return Correction(
        replace(old, status="superseded", valid_until=at, contradictions_flag=True),
        replace(new, status=status),
        at,
    )


def _last_seen(insight: Memory, raws: Mapping[str, Memory]) -> datetime:
    times = [memory.happened for memory in evidence_of(insight, raws)]
    return max(times, default=insight.happened)


def _puts_right(record: Memory, statement: str) -> bool:
    if not by_human(record) or record.trust < Trust.HUMAN:
        return False
    return any(
        (corrects(sentence) or _FROM_NOW_ON.search(sentence)) and covered(statement, sentence) >= _SPOKEN_OF
        for sentence in sentences(own_words(record.content))
    )
