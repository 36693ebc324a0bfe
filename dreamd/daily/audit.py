"""What a model says of a chunk against the chunk itself: lines that stand, and the rule's line where none does (pure).

Law: nothing in a daily that its events do not bear out, and nothing that the human said is missing from it.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from dreamd.daily import fallback
from dreamd.daily.reply import Line, Parsed
from dreamd.daily.transcript import Event
from dreamd.pool.claims import unspoken
from dreamd.pool.language import Tongue, detect
from dreamd.pool.redaction import redacted
from dreamd.pool.similarity import covered, negated
from dreamd.pool.support import facts, unsupported

MOST_CITED = 8  # events; a line over more says nothing of each
MOST_CHARACTERS = 500
# share of a side's words that its events hold: a paraphrase keeps more, a fancy less
ASKED, REPLIED = 0.3, 0.45


class Entry(Struct, frozen=True):
    """A line of the daily, without its bullet, and the events it rests on."""

    text: str
    events: tuple[Event, ...]
    by_rule: bool


class Audited(Struct, frozen=True):
    """Entries in order of their first event; for each line turned down the reason, without any of its text."""

    entries: tuple[Entry, ...]
    refused: tuple[str, ...] = ()


def by_rule(chunk: Sequence[Event], language: Tongue) -> tuple[Entry, ...]:
    """The rule's line for every event in which somebody waited for an answer."""
    return tuple(
        Entry(_harmless(fallback.line(event, language)), (event,), by_rule=True)
        for event in chunk
        if event.asked or event.awaited
    )


def audit(parsed: Parsed, chunk: Sequence[Event], language: Tongue) -> Audited:
    """What of a reply may be written. Events that no accepted line cites get the rule's line."""
    known = {event.number: event for event in chunk}
    entries: list[Entry] = []
    refused = [f"{parsed.uncited} x a line names no event"] if parsed.uncited else []
    for line in parsed.lines:
        cited = tuple(known[number] for number in sorted(line.cited) if number in known)
        reason = _fault(line, cited)
        if reason:
            refused.append(f"{_named(line)}: {reason}")
        else:
            entries.append(Entry(_harmless(_in_shape(line.text, language)), cited, by_rule=False))
    told = {event.number for entry in entries for event in entry.events}
    missing = [event for event in chunk if event.number not in told]
    together = sorted((*entries, *by_rule(missing, language)), key=lambda entry: entry.events[0].number)
    return Audited(tuple(together), tuple(refused))


def _named(line: Line) -> str:
    numbers = ", ".join(f"E{number}" for number in line.cited[:MOST_CITED])
    return numbers + ("…" if len(line.cited) > MOST_CITED else "")


def _fault(line: Line, cited: Sequence[Event]) -> str:
    """Why the line may not be written; "" when it may."""
    if len(cited) < len(line.cited):
        return "names an event that is not there"
    return next(_faults(line.text, cited), "")


def _faults(text: str, cited: Sequence[Event]) -> Iterator[str]:
    if len(cited) > MOST_CITED:
        yield f"rests on more than {MOST_CITED} events"
    if len(text) > MOST_CHARACTERS:
        yield f"is longer than {MOST_CHARACTERS} characters"
    sources = [said for event in cited for said in (event.asked, *event.answers) if said]
    if redacted(text) and not any(map(redacted, sources)):
        yield "held a secret that its events do not hold"
    missing = unsupported(text, sources)
    if missing:
        yield f"{len(missing)} of its numbers, dates or names stand in none of its events"
    yield from _faults_of_question(text, [event.asked for event in cited if event.asked])
    if unspoken(text, sources):
        yield "tells of a deed or outcome that its events do not speak of"
    shape = _SHAPE.fullmatch(text)
    if not _said(shape["reply"] if shape else text, sources, REPLIED) or not _anchored(text, sources):
        yield "says little that its events say"
    if _denies(text, sources):
        yield "denies what its events do not deny"


def _said(side: str, sources: Sequence[str], least: float) -> bool:
    """Enough of the side's words are the events' own. A translation cannot be told so."""
    return _script(side) not in map(_script, sources) or covered(side, "\n".join(sources)) >= least


def _anchored(text: str, sources: Sequence[str]) -> bool:
    """Something, if only a number, a name or a term, is the events' own: that much even a translation keeps."""
    return bool(facts(text)) or covered(text, "\n".join(sources)) > 0


def _denies(text: str, sources: Sequence[str]) -> bool:
    """Only told of what is written in English or Chinese."""
    plain = "kana" not in map(_script, (text, *sources))
    return plain and negated(_ALL_WELL.sub("", text)) and not any(map(negated, sources))


_ALL_WELL = re.compile(r"\b(?:no|without) (?:problems?|issues?|errors?)\b|无误|没问题", re.IGNORECASE)
_KANA = re.compile(r"[\u3040-\u30ff]")


def _script(text: str) -> str:
    return "kana" if _KANA.search(text) else detect([text])


def _faults_of_question(text: str, asked: Sequence[str]) -> Iterator[str]:
    """What the line puts into the human's mouth must be the human's own, not the assistant's or a web page's."""
    shape = _SHAPE.match(text)
    if not shape and _ASKED_ALONE.match(text):
        yield "does not say what came of it"
    question = shape["asked"] if shape else ""
    if not question:
        return
    if not asked:
        yield "has a question where nobody asked"
    elif unsupported(question, asked) or not _said(question, asked, ASKED):
        yield "has the human say what the human did not"


_ASKED_ALONE = re.compile(r"\**(?:user|human|用户)\**\s*[:：]", re.IGNORECASE)
_SHAPE = re.compile(
    r"\**(?:user|human|用户)\**\s*[:：]\**\s*(?P<asked>.*?)[\s,，;；]*(?:--?>|→|=+>|➜|➡)\s*"
    r"\**(?:reply|assistant|answer|agent|回复|助手|回答)\**\s*[:：]\**\s*(?P<reply>.*)",
    re.IGNORECASE | re.DOTALL,
)


def _in_shape(text: str, language: Tongue) -> str:
    """The line with this language's labels, where it has the two sides at all."""
    shape = _SHAPE.fullmatch(text)
    return fallback.joined(shape["asked"], shape["reply"].lstrip("# "), language) if shape else text


def _harmless(text: str) -> str:
    """A line may not open a comment: it would hide what stands below it in the file."""
    return text.replace("<!--", "<! --")
