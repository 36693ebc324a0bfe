"""Raw memories that the rules cannot decide about go in, those worth dreaming of come out: the LLM's second opinion.

The opinion decides only what is looked at more closely, never what is believed. Where it cannot be had they wait for it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from dreamd.calls import Prompt, Reply
from dreamd.dream.said import shown
from dreamd.errors import ProviderError
from dreamd.memories import Memory
from dreamd.pool import tokens
from dreamd.pool.language import Tongue
from dreamd.pool.replies import json_of
from dreamd.providers.base import Provider
from dreamd.sections import Dream

_EACH = 80  # tokens of a record that are shown
_MOST = 60  # records in one call: a small model loses its place in more
_OUTPUT = 300  # tokens
_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"keep": {"type": "array", "items": {"type": "integer"}}},
    "required": ["keep"],
    "additionalProperties": False,
}


def _text(tongue: Tongue) -> str:
    return (Path(__file__).parent / "prompts" / f"score.{tongue}.md").read_text(encoding="utf-8").strip()


_SYSTEM: Mapping[Tongue, str] = {"en": _text("en"), "zh": _text("zh")}


class Weighed(Struct, frozen=True):
    """The ids of those worth it; and of those that could not be asked about, why: they wait for the next dream."""

    kept: frozenset[str]
    unasked: tuple[str, ...] = ()
    reason: str = ""


async def weighed(
    provider: Provider, undecided: Sequence[Memory], settings: Dream, language: Tongue
) -> Weighed:
    """Asks about a few dozen a call. A call that fails ends the asking. Raises StoreError, DiskFull."""
    kept: set[str] = set()
    asked = 0
    for batch in batches(undecided, settings.max_input_tokens, language):
        try:
            reply = await provider.complete(prompt(batch, settings, language))
        except ProviderError as error:
            left = tuple(memory.memory_id for memory in undecided[asked:])
            return Weighed(frozenset(kept), left, str(error))
        kept |= chosen(reply, batch)
        asked += len(batch)
    return Weighed(frozenset(kept))


def batches(memories: Sequence[Memory], max_input_tokens: int, language: Tongue) -> Iterator[list[Memory]]:
    """In order, as many at once as fit."""
    room = max_input_tokens - tokens.estimate(_SYSTEM[language]) - 120  # the fences and the schema in words
    size = max(1, min(_MOST, room // (_EACH + 2)))
    for start in range(0, len(memories), size):
        yield list(memories[start : start + size])


def prompt(batch: Sequence[Memory], settings: Dream, language: Tongue) -> Prompt:
    lines = [shown(memory, f"R{number}", _EACH) for number, memory in enumerate(batch, 1)]
    # a line that the data cannot imitate
    mark = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    fence = f"=== data {mark} ==="
    return Prompt(
        purpose="score",
        system=_SYSTEM[language],
        user="\n".join((fence, *lines, fence)),
        max_tokens=min(_OUTPUT, settings.max_output_tokens),
        schema=_SCHEMA,
    )


def chosen(reply: Reply, batch: Sequence[Memory]) -> frozenset[str]:
    """The ids of the records that the reply numbers; numbers of no record are passed over."""
    said = json_of(reply.text)
    numbers = said.get("keep") if isinstance(said, dict) else said
    if not isinstance(numbers, list):
        return frozenset()
    found = (_number(one) for one in numbers)
    return frozenset(batch[number - 1].memory_id for number in found if 1 <= number <= len(batch))


def _number(one: object) -> int:
    """Of `3`, `"3"` and `"R3"`; else 0."""
    digits = str(one).strip().lstrip("Rr")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 0  # noqa: PLR2004
