"""May this line be written on these sources? One fault, or none (pure).

Law: what a line states exactly (numbers, dates, times, names) stands in the sources it cites; it does not turn them
round; a preference or rule is the person's own, said on purpose or seen on two days. No model is asked.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from dreamd.deep_dream.sources import Source
from dreamd.memories import Memory
from dreamd.pool.claims import unspoken
from dreamd.pool.redaction import redacted
from dreamd.pool.similarity import contrary, covered, negated, overlap
from dreamd.pool.speech import asks, explicit, instruction, rule_like
from dreamd.pool.support import facts, unsupported

Fault = Literal[
    "uncited",  # names no source, or none that was shown
    "facts",  # a number, date, time or name that its sources do not have
    "words",  # too little of it stands in its sources
    "contrary",  # denies what its sources affirm, or the other way round
    "redacted",  # holds the mark of a removed secret
    "instruction",  # tells its reader what to do, and no person said so
    "untrusted",  # a preference or rule without any word of the person
    "one-window",  # a preference or rule seen on one day, and not said on purpose
    "undone",  # a person took it back before
    "shape",  # a fragment, longer than a line, or a mark that is a person's to set
    "lossy",  # replaces old entries and keeps too little of them
    "protected",  # a pinned or protected entry was to be retired
    "unfounded",  # an entry of another hand was to be retired without news or the person's words for it
    "successor",  # the entry's replacement was refused, so the entry stays
]
FAULTS: tuple[Fault, ...] = get_args(Fault)

LONGEST_LINE = 400  # characters
SAID = 0.34  # of a line's words that a person's sentence must hold to count as saying it
SUPPORTED = 0.5  # of a line's words that its sources must hold
REWORDED = 0.8  # the same where old entries are merged: they are no evidence for anything new
ALIKE = 0.9  # overlap of two lines that say the same
_MARK = re.compile(r"<!--|-->|\[pinned\]", re.IGNORECASE)  # would hide what follows, or pin itself


def fault_of(text: str, cites: Sequence[Source], undone: Sequence[str] = ()) -> Fault | None:
    """The first fault of a proposed line, or None. Without text it was to carry an entry that is not there."""
    if not text:
        return "uncited"
    if redacted(text):
        return "redacted"
    if len(text) > LONGEST_LINE or len(re.findall(r"\w", text)) < 2:  # noqa: PLR2004 - one letter is no statement
        return "shape"
    if _MARK.search(text):
        return "shape"
    if any(same(text, line) for line in undone):
        return "undone"
    return _unfounded(text, cites) or _unlawful(text, cites) or _unworded(text, cites)


def _unfounded(text: str, cites: Sequence[Source]) -> Fault | None:
    if not cites:
        return "uncited"
    stated = [source.stated for source in cites]
    if unsupported(text, stated):
        return "facts"
    return "contrary" if contrary(text, stated) else None


def _unworded(text: str, cites: Sequence[Source]) -> Fault | None:
    least = REWORDED if all(source.entry >= 0 for source in cites) else SUPPORTED
    stated = [source.stated for source in cites]
    borne_out = covered(text, " \n ".join(stated)) >= least and not unspoken(text, stated)
    return None if borne_out else "words"


def _unlawful(text: str, cites: Sequence[Source]) -> Fault | None:
    known = any(source.entry >= 0 and covered(text, source.text) >= REWORDED for source in cites)
    if known or not (rule_like(text) or instruction(text)):
        return None
    human = [record for source in cites for record in source.records if record.by_a_person]
    said = [record for record in human if _says(record, text)]
    if instruction(text) and not said:
        return "instruction"
    if not human:
        return "untrusted"
    return None if not rule_like(text) or _established(text, cites, said) else "one-window"


def _established(text: str, cites: Iterable[Source], said: Sequence[Memory]) -> bool:
    """Said on purpose, or on two days, or an insight that passed the frequency gate."""
    promoted = any(source.id.startswith("I") and covered(text, source.text) >= SUPPORTED for source in cites)
    purpose = any(_says_on_purpose(record, text) for record in said)
    return promoted or purpose or len({record.window for record in said}) > 1


def _says(record: Memory, text: str) -> bool:
    return covered(text, record.content) >= SAID


_SENTENCE = re.compile(r"[^.!?;。！？；\n]+[.!?;。！？；]*")


def _says_on_purpose(record: Memory, text: str) -> bool:
    """One of the person's sentences, not a question, states this for later."""
    return any(
        explicit(sentence) and not asks(sentence) and covered(text, sentence) >= SAID
        for sentence in _SENTENCE.findall(record.content)
    )


def same(a: str, b: str) -> bool:
    """Both lines say the same: the same words, facts and polarity."""
    if " ".join(a.casefold().split()).rstrip(".。") == " ".join(b.casefold().split()).rstrip(".。"):
        return True
    return overlap(a, b) >= ALIKE and facts(a) == facts(b) and negated(a) == negated(b)


def bears_out(waiting: str, text: str) -> bool:
    """An earlier candidate says much the same as a new line: no other facts, the same polarity, most of its words."""
    alike = covered(text, waiting) >= SUPPORTED and covered(waiting, text) >= SUPPORTED
    return alike and not unsupported(text, [waiting]) and negated(text) == negated(waiting)


def absorbs(text: str, old: str) -> bool:
    """`text` keeps all that `old` states exactly, its polarity and at least half of its words."""
    return not unsupported(old, [text]) and negated(old) == negated(text) and covered(old, text) >= SUPPORTED
