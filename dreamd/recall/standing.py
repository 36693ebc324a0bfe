"""An insight and its records in; whether it comes along unasked, and how soon, out (pure).

Law: a lasting preference or instruction of the person comes along whatever the question, for no question finds it. What was
seen once comes along only when the person said just that; what somebody concluded from it waits until it has passed the
gate ("in a hurry" once is no wish for fast delivery).
"""

from collections.abc import Iterable, Mapping

from dreamd.memories import Kind, Memory
from dreamd.pool.terms import terms
from dreamd.records import Trust

_PINNED = 2.0
_LASTING: Mapping[Kind, float] = {
    "preference": 1.0, "behaviour": 0.8, "procedure": 0.7, "fact": 0.6, "decision": 0.5,
}  # fmt: skip
_SAID_ONCE = 0.55  # a preference in the person's own words
_SPEAKER = frozenset(terms("user 用户"))  # who says "I"
_OWN_WORDS = 0.6  # of the insight's words that stand in the record


def weight(insight: Memory, evidence: Iterable[Memory]) -> float:
    """0: it comes only when the question finds it. Otherwise the greater the sooner."""
    if insight.status not in ("candidate", "long_term"):
        return 0.0
    sure = 0.5 + insight.confidence / 2
    if insight.pinned:
        return _PINNED * sure
    if insight.trust < Trust.HUMAN or insight.kind is None:
        return 0.0
    if insight.status == "long_term":
        return _LASTING.get(insight.kind, 0.0) * sure
    said = insight.kind == "preference" and any(_says(record, insight.content) for record in evidence)
    return _SAID_ONCE * sure if said else 0.0


def _says(record: Memory, statement: str) -> bool:
    if not record.by_a_person:
        return False
    words = set(terms(statement)) - _SPEAKER
    return len(words & set(terms(record.content))) >= _OWN_WORDS * max(len(words), 1)
