"""The sentences of a summary and the quotes they rest on: from a model's notes, and merged on the way up (pure).

Law: quotes are carried by code and never pass through a model, so numbers, dates and names survive every level. A
sentence stands only while its quotes bear it out; else the quotes stand alone. What a merge forgets stays if a human
said it or it holds a figure, as far as there is room.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import chain, zip_longest
from typing import TypeVar

from msgspec import Struct

from dreamd.dream.draft import Quote
from dreamd.dream.prompt import copied, weight
from dreamd.dream.reply import Note
from dreamd.dream.said import by_human, commands, found, speaker
from dreamd.dream.verify import Fault, of_form, of_sources
from dreamd.memories import Memory, derived_id
from dreamd.pool import tokens
from dreamd.pool.redaction import redacted
from dreamd.pool.speech import explicit, rule_like

Item = TypeVar("Item")
MOST_QUOTES = 4  # shown of one point; all its records stay among its refs


class Point(Struct, frozen=True):
    """One sentence ("" where its quotes stand alone), the quotes, and the raw memories under it, quoted or not any more."""

    text: str
    quotes: tuple[Quote, ...]
    refs: tuple[str, ...]


class Noted(Struct, frozen=True):
    """The points of one reply, and what was wrong with notes that gave none."""

    points: tuple[Point, ...]
    faults: tuple[Fault, ...] = ()


def named(label: str, labelled: Mapping[str, Item]) -> Item | None:
    """What a label of the model means; a bare number is one too."""
    letter = next(iter(labelled), "")[:1]
    return labelled.get(f"{letter}{label}" if label.isdigit() else label)


# --- from records ---


def noted(notes: Iterable[Note], records: Mapping[str, Memory]) -> Noted:
    """Points of notes on records, which are given by their labels."""
    points: list[Point] = []
    faults: list[Fault] = []
    for note in notes:
        quotes, wrong = quoted(note, records)
        points += _standing(note.text, quotes, _by_id(records.values())) if quotes else ()
        if not quotes:
            faults += ["example"] if copied(note.text) else wrong[:1] or ["unquoted"]
    return Noted(tuple(points), tuple(faults))


def quoted(note: Note, records: Mapping[str, Memory]) -> tuple[tuple[Quote, ...], list[Fault]]:
    """The quotes of a note as they stand in their records, and what is wrong with the others."""
    quotes: list[Quote] = []
    wrong: list[Fault] = []
    for cited in note.quotes:
        memory = named(cited.label, records)
        text = found(cited.text, memory) if memory else ""
        fault = _fault_of_quote(text, memory)
        if fault or memory is None:
            wrong.append(fault or "unknown")
        else:
            quotes.append(Quote(memory.memory_id, text))
    return tuple(dict.fromkeys(quotes)), wrong


def _fault_of_quote(text: str, memory: Memory | None) -> Fault | None:
    if memory is None:
        return "unknown"
    if not text:
        return "quote"
    if redacted(text):
        return "redacted"
    return "instruction" if commands(text) and speaker(memory) in ("tool", "agent") else None


def _standing(text: str, quotes: Sequence[Quote], inputs: Mapping[str, Memory]) -> Iterator[Point]:
    """The sentence on its quotes, or each quote alone."""
    if _borne_out(text, quotes, inputs):
        yield Point(text, tuple(quotes), _refs(quotes))
    else:
        yield from (Point("", (quote,), (quote.memory_id,)) for quote in quotes)


def _borne_out(text: str, quotes: Sequence[Quote], inputs: Mapping[str, Memory]) -> bool:
    sources = [f"{quote.text} ({inputs[quote.memory_id].window.isoformat()})" for quote in quotes]
    a_humans = any(by_human(inputs[quote.memory_id]) for quote in quotes)
    ordered = (rule_like(text) or commands(text)) and not a_humans
    return bool(text) and not ordered and not any(chain(of_form(text), of_sources(text, sources)))


def _refs(quotes: Iterable[Quote]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(quote.memory_id for quote in quotes))


def _by_id(memories: Iterable[Memory]) -> dict[str, Memory]:
    return {memory.memory_id: memory for memory in memories}


# --- on the way up ---


def merged(notes: Iterable[Note], points: Mapping[str, Point], inputs: Mapping[str, Memory]) -> Noted:
    """The notes' sentences on the united quotes of the points they name; then what they forgot and may not be lost."""
    kept: list[Point] = []
    faults: list[Fault] = []
    remembered: set[Point] = set()
    for note in notes:
        sources = [point for label in note.sources if (point := named(label, points))]
        remembered.update(sources)
        kept += _united(note.text, sources, inputs)
        faults += () if sources else ("unknown",)
    forgotten = [point for point in points.values() if point not in remembered]
    kept += [point for point in forgotten if importance(point, inputs)]
    return Noted(tuple(dict.fromkeys(kept)), tuple(faults))


def _united(text: str, sources: Sequence[Point], inputs: Mapping[str, Memory]) -> Sequence[Point]:
    if len(set(sources)) < 2:  # noqa: PLR2004 - another wording of one note says nothing new
        return sources
    quotes = tuple(dict.fromkeys(quote for point in sources for quote in point.quotes))
    if not _borne_out(text, quotes, inputs):
        return sources
    refs = tuple(dict.fromkeys(ref for point in sources for ref in point.refs))
    return (Point(text, _most_telling(quotes, inputs), refs),)


def _most_telling(quotes: Sequence[Quote], inputs: Mapping[str, Memory]) -> tuple[Quote, ...]:
    """A few quotes of as many days as there are; of a day, a human's first."""
    days: dict[date, list[Quote]] = {}
    for quote in sorted(quotes, key=lambda quote: not by_human(inputs[quote.memory_id])):
        days.setdefault(inputs[quote.memory_id].window, []).append(quote)
    in_turn = chain.from_iterable(zip_longest(*days.values()))
    return tuple(quote for quote in in_turn if quote)[:MOST_QUOTES]


def importance(point: Point, inputs: Mapping[str, Memory]) -> int:
    """0: may be forgotten. A human's words count for more than a figure, words on purpose for most."""
    human = [quote.text for quote in point.quotes if by_human(inputs[quote.memory_id])]
    figure = any(re.search(r"\d", quote.text) for quote in point.quotes)
    return 4 * any(map(explicit, human)) + 2 * bool(human) + figure


def trimmed(points: Sequence[Point], most: int, inputs: Mapping[str, Memory]) -> tuple[Point, ...]:
    """The most important points that weigh no more than `most` together, in their order; one at least."""
    ranked = sorted(range(len(points)), key=lambda at: -importance(points[at], inputs))
    kept: set[int] = set()
    left = most
    for at in ranked:
        left -= weight(line(points[at], "P999", inputs, most))
        if left < 0 and kept:
            break
        kept.add(at)
    return tuple(points[at] for at in sorted(kept))


def line(point: Point, label: str, inputs: Mapping[str, Memory], most: int) -> str:
    """`P1 sentence | human 2026-03-02: "quote" | ...`, weighing at most `most` tokens."""
    told = [
        f'{speaker(inputs[quote.memory_id])} {inputs[quote.memory_id].window.isoformat()}: "{quote.text}"'
        for quote in point.quotes
    ]
    return tokens.cut(" | ".join((f"{label} {point.text}".rstrip(), *told)), max(most - 3, 1))


def summary(
    points: Sequence[Point],
    refs: Sequence[str],
    below: Sequence[Memory],
    inputs: Mapping[str, Memory],
    now: datetime,
) -> Memory:
    """The points as a memory of the pool that rests on `below`, whose lowest trust it has."""
    content = "\n".join(line(point, "-", inputs, 10**9) for point in points)
    last = max(below, key=lambda memory: memory.window)
    tasks = {memory.task_id for memory in below}
    return Memory(
        memory_id=derived_id("summary", last.agent, content, tuple(refs)),
        type="summary",
        content=content,
        agent=last.agent,
        window=last.window,
        received_at=now,
        task_id=tasks.pop() if len(tasks) == 1 else "",
        timestamp=max((memory.timestamp for memory in below if memory.timestamp), default=None),
        ref_ids=tuple(refs),
        trust=min(memory.trust for memory in below),
        status="dreamt",
    )
