"""A model's reply in, its notes or insights out, as the model names them. Lenient in form, never in substance (pure).

Labels (R1, P1) are not resolved here. A reply that was cut off, is prose or has another shape is unusable as a whole.
"""

import re
from collections.abc import Iterator
from typing import get_args

from msgspec import Struct

from dreamd.calls import Reply
from dreamd.dream.said import fold
from dreamd.errors import ReplyUnusable
from dreamd.memories import Entity, Kind
from dreamd.pool.replies import json_of

MOST = 40  # notes or insights of one reply; a model that runs on says nothing new
_MOST_NAMED = 60  # labels of one of them
_LONGEST_TEXT = 2000  # characters
_KINDS: tuple[Kind, ...] = get_args(Kind)


class Cited(Struct, frozen=True):
    """A quote and the label of the record it is said to stand in."""

    label: str
    text: str


class Note(Struct, frozen=True, kw_only=True):
    """One sentence of a summary. `sources` are the labels of notes that it merges."""

    text: str
    quotes: tuple[Cited, ...] = ()
    sources: tuple[str, ...] = ()


class Proposal(Struct, frozen=True, kw_only=True):
    """One insight as the model has it."""

    statement: str
    kind: Kind = "fact"
    quotes: tuple[Cited, ...] = ()
    sources: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    applies_when: str = ""
    confidence: float = 1.0


def notes(reply: Reply) -> tuple[Note, ...]:
    """Raises ReplyUnusable."""
    return tuple(
        Note(text=_text(item, "text", "note"), quotes=_quotes(item), sources=_sources(item))
        for item in _items(reply, "notes")
    )


def proposals(reply: Reply) -> tuple[Proposal, ...]:
    """Raises ReplyUnusable."""
    return tuple(_proposal(item) for item in _items(reply, "insights"))


def _proposal(item: dict[str, object]) -> Proposal:
    kind = _text(item, "kind").casefold()
    return Proposal(
        statement=_text(item, "statement", "insight", "text"),
        kind=next((known for known in _KINDS if known == kind), "fact"),
        quotes=_quotes(item),
        sources=_sources(item),
        entities=tuple(_entities(item.get("entities"))),
        applies_when=_text(item, "applies_when"),
        confidence=_confidence(item.get("confidence")),
    )


def _items(reply: Reply, name: str) -> list[dict[str, object]]:
    """The objects of the list that was asked for. Raises ReplyUnusable."""
    if reply.stop != "end":
        raise ReplyUnusable(f"the reply was cut off ({reply.stop})")
    value = json_of(reply.text)
    if value is None:
        raise ReplyUnusable("the reply is not JSON")
    listed = value.get(name) if isinstance(value, dict) else value
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise ReplyUnusable(f"the reply has no list of {name}")
    return listed[:MOST]


def _text(item: dict[str, object], *keys: str) -> str:
    found = next((value for key in keys if isinstance(value := item.get(key), str)), "")
    return fold(found[:_LONGEST_TEXT])


_LABEL = re.compile(r"([RP])?\s*(\d{1,6})", re.IGNORECASE)
_RANGE = re.compile(r"([RP])\s*(\d{1,6})\s*(?:[-–~]|to|至|到)\s*[RP]?\s*(\d{1,6})", re.IGNORECASE)
_DRESS = " \t[](){}【】（）\"'`.:：#"


def _sources(item: dict[str, object]) -> tuple[str, ...]:
    value = next((item[key] for key in ("from", "sources", "refs", "ref_ids") if key in item), [])
    names = re.split(r"[,;，；、]", value) if isinstance(value, str) else value
    listed = names if isinstance(names, list) else [names]
    return tuple(dict.fromkeys(label for name in listed[:_MOST_NAMED] for label in _labels(name)))


def _labels(name: object) -> Iterator[str]:
    """`R1`, `[r1]`, `1` is R1, or P1 where notes are named; `R1-R3` is three; anything else stays as it is, to be refused."""
    text = str(name)[:80].strip(_DRESS) if isinstance(name, str | int) else ""
    span = _RANGE.fullmatch(text)
    if span and 0 <= int(span[3]) - int(span[2]) < _MOST_NAMED:
        yield from (f"{span[1].upper()}{number}" for number in range(int(span[2]), int(span[3]) + 1))
    elif found := _LABEL.fullmatch(text):
        yield f"{(found[1] or '').upper()}{int(found[2])}"
    else:
        yield text or "?"


def _quotes(item: dict[str, object]) -> tuple[Cited, ...]:
    value = next((item[key] for key in ("quotes", "quote", "evidence") if key in item), [])
    if isinstance(value, dict) and "text" not in value:
        value = [{"ref": label, "text": text} for label, text in value.items()]
    listed = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(cited for one in listed[:_MOST_NAMED] for cited in _cited(one)))


_PREFIXED = re.compile(r"\s*[\[(]?(R\s*\d{1,6})[\])]?\s*[:：]\s*(.+)", re.IGNORECASE | re.DOTALL)


def _cited(value: object) -> Iterator[Cited]:
    if isinstance(value, dict):
        text = _text(value, "text", "quote", "content")
        labels = list(_labels(next((value[key] for key in ("ref", "id", "record") if key in value), "")))
        yield Cited(labels[0], text)
    elif isinstance(value, str):
        found = _PREFIXED.fullmatch(value[:_LONGEST_TEXT])
        yield Cited(next(_labels(found[1])), fold(found[2])) if found else Cited("?", fold(value))


def _entities(value: object) -> Iterator[Entity]:
    for one in value[:_MOST_NAMED] if isinstance(value, list) else ():
        name, kind = (one, "") if isinstance(one, str) else ("", "")
        if isinstance(one, dict):
            name, kind = _text(one, "name"), _text(one, "type")
        if name := fold(name)[:80]:
            yield Entity(name, kind.casefold()[:40] or "other")


def _confidence(value: object) -> float:
    """0 to 1; what is no figure caps nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 1.0
    return min(max(float(value), 0.0), 1.0)
