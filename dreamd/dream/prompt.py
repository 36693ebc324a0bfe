"""Lines to be read and what is asked of them in, the prompt out, within its token limit (pure, but for the texts read at import).

Data stands between two lines that nothing in it can imitate, for they hold a hash of it; the rules follow it, for small
models do what they read last. The examples' numbers are no input's, so that what is copied from one is thrown away. A
tight limit drops what is known, the example, the schema and the finer rules, in that order. The same lines give the same prompt, so that
the journal knows it again.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from string import Template
from typing import Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dreamd.calls import Prompt, Purpose
from dreamd.dream.said import fold
from dreamd.memories import Kind
from dreamd.pool import tokens
from dreamd.pool.language import Tongue
from dreamd.pool.similarity import covered

Step = Literal[
    "distil", "merge", "insights", "conclude"
]  # of records, of notes; and the same for conclusions
PURPOSES: Mapping[Step, Purpose] = {
    "distil": "distil",
    "insights": "distil",
    "merge": "merge",
    "conclude": "merge",
}
_COMFORT = 384  # tokens of data before anything else that could be left out
_SHARE = 8  # the part of the limit that known insights may take, and the faults of the last answer


def _texts(tongue: Tongue) -> Mapping[str, Template]:
    text = (Path(__file__).parent / "prompts" / f"{tongue}.md").read_text(encoding="utf-8")
    pieces = re.split(r"^# (\w+)$", text, flags=re.MULTILINE)
    return {name: Template(part.strip()) for name, part in zip(pieces[1::2], pieces[2::2], strict=True)}


_TEXTS: Mapping[Tongue, Mapping[str, Template]] = {"en": _texts("en"), "zh": _texts("zh")}


# --- what a small model copies ---


def _said_in(value: object) -> Iterator[str]:
    """All sentences and quotes of an example's answer."""
    if isinstance(value, dict):
        yield from (_words(text) for name in ("text", "statement") if (text := value.get(name)))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    yield from chain.from_iterable(map(_said_in, parts))


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


_EXAMPLES = frozenset(
    chain.from_iterable(
        _said_in(msgspec.json.decode(answer))
        for texts in _TEXTS.values()
        for name, text in texts.items()
        if name.endswith("_example")
        for answer in re.findall(r"^\{.*\}$", text.template, re.MULTILINE)
    )
)


def copied(text: str) -> bool:
    """It stands in an example of the prompts, word for word."""
    return _words(text) in _EXAMPLES


# --- the shape of an answer ---


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_STRING: dict[str, object] = {"type": "string"}


def _list(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


_QUOTES = _list(_object(ref=_STRING, text=_STRING))
_CONCLUSION = {
    "statement": _STRING,
    "kind": {"type": "string", "enum": list(get_args(Kind))},
    "entities": _list(_object(name=_STRING, type=_STRING)),
    "applies_when": _STRING,
    "confidence": {"type": "number"},
}
SCHEMAS: Mapping[
    Step, Mapping[str, object]
] = {  # evidence before the words: a model then writes what it has read
    "distil": _object(notes=_list(_object(quotes=_QUOTES, text=_STRING))),
    "merge": _object(notes=_list(_object(**{"from": _list(_STRING)}, text=_STRING))),
    "insights": _object(insights=_list(_object(quotes=_QUOTES, **_CONCLUSION))),
    "conclude": _object(insights=_list(_object(**{"from": _list(_STRING)}, **_CONCLUSION))),
}
_IN_WORDS = 40  # tokens: what a provider says around a schema that it has to put into words


# --- the prompt ---


class Frame(Struct, frozen=True):
    """What holds for all calls of one group. `max_input_tokens` bounds the whole prompt, `max_tokens` the reply."""

    language: Tongue
    max_input_tokens: int
    max_tokens: int
    known: tuple[str, ...] = ()


class _Extras(Struct, frozen=True):
    known: bool = True
    example: bool = True
    schema: bool = True
    rules: bool = True


_TIERS = (
    _Extras(),
    _Extras(known=False),
    _Extras(known=False, example=False),
    _Extras(known=False, example=False, schema=False),
    _Extras(known=False, example=False, schema=False, rules=False),
)


def room(step: Step, frame: Frame) -> int:
    """Tokens for the lines of one call; `weight` says what a line takes."""
    return _tier(step, frame)[1]


def weight(line: str) -> int:
    return tokens.estimate(f"{line}\n") + 1


def prompt(step: Step, lines: Sequence[str], frame: Frame, faults: Sequence[str] = ()) -> Prompt:
    """`lines` begin with their labels and weigh no more than the room. `faults` say what was wrong with the last answer.

    Asked again a model sees no example: what it had at hand before, it may have copied.
    """
    extras, _ = _tier(step, frame)
    extras = replace(extras, example=extras.example and not faults)
    share = frame.max_input_tokens // _SHARE
    known = _fitting(_nearest(frame.known, lines), share) if extras.known and _concludes(step) else []
    return _composed(step, lines, frame, extras, known, _fitting(faults, share))


def _concludes(step: Step) -> bool:
    return step in ("insights", "conclude")


def _tier(step: Step, frame: Frame) -> tuple[_Extras, int]:
    tiers = [(extras, _left(step, frame, extras)) for extras in _TIERS]
    least = min(_COMFORT, frame.max_input_tokens // 4)
    return next((tier for tier in tiers if tier[1] >= least), tiers[-1])


def _left(step: Step, frame: Frame, extras: _Extras) -> int:
    """What is left of the limit when all that may come into the prompt has come."""
    share = frame.max_input_tokens // _SHARE
    with_known = extras.known and _concludes(step) and bool(frame.known)
    empty = _composed(step, ("R100", "R100"), frame, extras, [" "] if with_known else [], [" "])
    return frame.max_input_tokens - cost(empty) - share * (1 + with_known) - 8


def cost(prompt: Prompt) -> int:
    """Tokens of the whole, with the schema in words, as some providers have to put it."""
    schema = msgspec.json.encode(prompt.schema).decode() if prompt.schema else ""
    said = tokens.estimate(prompt.system) + tokens.estimate(prompt.user)
    return said + (tokens.estimate(schema) + _IN_WORDS if schema else 0)


def _composed(
    step: Step,
    lines: Sequence[str],
    frame: Frame,
    extras: _Extras,
    known: Sequence[str],
    faults: Sequence[str],
) -> Prompt:
    labels = [line.split(" ", 1)[0] for line in lines]
    everything = "\n".join((*lines, *known, *faults))
    fence = f"=== data {hashlib.sha256(everything.encode()).hexdigest()[:16]} ==="
    text = _filled(frame.language, fence, labels)

    def fenced(heading: str, data: Sequence[str]) -> tuple[str, ...]:
        title = (text[heading],) if extras.rules else ()
        return ("\n".join((*title, fence, *data, fence)),) if data else ()

    parts = (
        *fenced("known", known),
        *fenced("records" if step in ("distil", "insights") else "points", lines),
        text[step if extras.rules else f"{step}_tight"],
        *((text[f"{step}_example"],) if extras.example else ()),
        *fenced("again", faults),
        text[f"{step}_last"],
    )
    return Prompt(
        purpose=PURPOSES[step],
        system=f"[dreamd:{PURPOSES[step]}]\n{text['system' if extras.rules else 'system_tight']}",
        user="\n\n".join(parts),
        max_tokens=frame.max_tokens,
        schema=SCHEMAS[step] if extras.schema else None,
    )


def _filled(language: Tongue, fence: str, labels: Sequence[str]) -> Mapping[str, str]:
    texts = _TEXTS[language]
    items = "-".join(dict.fromkeys((labels[0], labels[-1])))
    common = texts["common"].template
    return {name: part.substitute(fence=fence, items=items, common=common) for name, part in texts.items()}


def _nearest(known: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Those first that speak of what the lines speak of."""
    data = "\n".join(lines)
    return sorted(map(fold, known), key=lambda statement: -covered(statement, data))


def _fitting(lines: Sequence[str], share: int) -> list[str]:
    """As many as fit, each at most half of the share."""
    found: list[str] = []
    for line in (f"- {tokens.cut(fold(line), share // 2)}" for line in lines):
        share -= weight(line)
        if share < 0:
            break
        found.append(line)
    return found
