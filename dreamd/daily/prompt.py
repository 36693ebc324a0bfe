"""A chunk of events goes in, the prompt of its summary comes out (pure; the words are in `prompts/*.md`).

The record stands between two lines that nothing in it can imitate, for they hold a hash of the record; what to do is
said again after it, with an example, because small models follow what they read last. Some copy the example: it
names an event and values that no record has, so that the audit knows it. The same chunk gives the same prompt, so
that the journal knows it again.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from string import Template
from zoneinfo import ZoneInfo

from msgspec import Struct

from dreamd.calls import Prompt
from dreamd.daily.transcript import LEAST_TOKENS, Event, shown
from dreamd.pool import tokens
from dreamd.pool.language import Tongue

MARKER = "[dreamd:daily-summary]"  # how dreamd knows its own calls in an agent's log


def _texts(path: Path) -> Mapping[str, Template]:
    pieces = re.split(r"^# (\w+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: Template(text.strip()) for name, text in zip(pieces[1::2], pieces[2::2], strict=True)}


_FOLDER = Path(__file__).parent / "prompts"
_WORDS: Mapping[Tongue, Mapping[str, Template]] = {
    "en": _texts(_FOLDER / "en.md"),
    "zh": _texts(_FOLDER / "zh.md"),
}


class Day(Struct, frozen=True):
    """What holds for every chunk of one agent's day. `max_input_tokens` bounds the whole prompt, `max_tokens` the reply.

    `chosen`: a person set the language. Else it is a guess between two, and the notes follow the user's own.
    """

    day: date
    zone: ZoneInfo
    offset: str
    language: Tongue
    max_input_tokens: int
    max_tokens: int
    chosen: bool = True


def room(day: Day) -> int:
    """The tokens left for the record; never less than one event takes."""
    return max(_left(day, example=_has_example(day)), LEAST_TOKENS)


def prompt(chunk: Sequence[Event], day: Day) -> Prompt:
    budget = room(day)
    record = "\n".join(shown(event, day.zone, budget) for event in chunk)
    numbers = dict.fromkeys(f"E{event.number}" for event in (chunk[0], chunk[-1]))
    return _framed(record, day, events=list(numbers), example=_has_example(day))


def _has_example(day: Day) -> bool:
    """A tight budget goes to the record instead."""
    return _left(day, example=True) >= LEAST_TOKENS


def _left(day: Day, *, example: bool) -> int:
    frame = _framed("", day, events=["E100", "E999"], example=example)
    return day.max_input_tokens - tokens.estimate(frame.system) - tokens.estimate(frame.user) - 4


def _framed(record: str, day: Day, *, events: Sequence[str], example: bool) -> Prompt:
    nonce = hashlib.sha256(f"{day.day.isoformat()}\n{record}".encode()).hexdigest()[:16]
    filled = {
        "fence": f"=== record {nonce} ===",
        "day": day.day.isoformat(),
        "offset": day.offset,
        "events": "-".join(events),
        "first": events[0],
        "tongue": "English" if day.chosen else "the user's language",
    }
    text = {name: words.substitute(filled) for name, words in _WORDS[day.language].items()}
    data = f"{filled['fence']}\n{record}\n{filled['fence']}"
    example_too = (text["example"],) if example else ()
    return Prompt(
        purpose="daily-summary",
        system=f"{MARKER}\n{text['system']}",
        user="\n\n".join((text["before"], data, text["after"], *example_too, text["last"])),
        max_tokens=day.max_tokens,
    )
