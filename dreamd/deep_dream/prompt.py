"""Material in, the one prompt of a dream out, within its token limit (pure, but for the texts read at import).

The rules follow the material, with an example behind them: small models do what they read last. The example's numbers
are no source's, so that a line copied from it is thrown away.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from dreamd.calls import Prompt
from dreamd.deep_dream.sources import Material, Source
from dreamd.errors import PromptTooLong
from dreamd.pool import tokens
from dreamd.pool.language import Tongue

_BETWEEN = "\n=====\n"  # the system text and what follows the material


def _texts(tongue: Tongue) -> tuple[str, str]:
    text = (Path(__file__).parent / "prompts" / f"{tongue}.md").read_text(encoding="utf-8")
    system, _, task = text.partition(_BETWEEN)
    return system, task


_TEXTS: dict[Tongue, tuple[str, str]] = {"en": _texts("en"), "zh": _texts("zh")}
LEAST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS = 2000, 8000


class _Words(Struct, frozen=True):
    memory: str
    empty: str
    dailies: str
    insights: str
    keep: str


_WORDS: dict[Tongue, _Words] = {
    "en": _Words(
        "# The file as it is", "(empty: there is no M yet)", "# The daily of", "# Insights", " (keep)"
    ),
    "zh": _Words("# 现有文件", "（空：还没有 M）", "# 日记", "# 洞察", "（保留）"),
}


class Composed(Struct, frozen=True, kw_only=True):
    """`shown` are the sources in the prompt: only these may be cited. `left_out` counts lines that did not fit."""

    prompt: Prompt
    shown: tuple[Source, ...]
    left_out: int


def compose(material: Material, *, max_input_tokens: int, max_entries: int) -> Composed:
    """The prompt. Entries of MEMORY.md are never cut; of the rest the newest dailies come first, then insights.

    Raises PromptTooLong when MEMORY.md alone is over the limit.
    """
    fixed = sum(map(tokens.estimate, (*_TEXTS[material.language], _memory(material))))
    if fixed > max_input_tokens:
        raise PromptTooLong(
            f"{material.place.memory} is too long for one prompt (about {fixed} tokens)",
            hint="raise deep_dream.max_input_tokens, or shorten the file",
        )
    offered = (*reversed(material.dailies), *material.insights)
    taken = set(_fitting(offered, max_input_tokens - fixed))
    shown = tuple(source for source in material.all if source.entry >= 0 or source.id in taken)
    return Composed(
        prompt=_prompt(material, shown, max_entries), shown=shown, left_out=len(offered) - len(taken)
    )


def _fitting(offered: Sequence[Source], room: int) -> Iterator[str]:
    for source in offered:
        room -= tokens.estimate(f"{source.id}: {source.text}\n") + 1
        if room < 0:
            return
        yield source.id


def _prompt(material: Material, shown: Sequence[Source], max_entries: int) -> Prompt:
    data = "\n".join((_memory(material), *_dailies(material, shown), *_insights(material, shown)))
    nonce = hashlib.sha256(data.encode()).hexdigest()[:12]
    system, task = (
        text.replace("{nonce}", nonce).replace("{max_entries}", str(max_entries))
        for text in _TEXTS[material.language]
    )
    return Prompt(
        purpose="deep-dream",
        system=system,
        user=f"<data-{nonce}>\n{data}\n</data-{nonce}>\n\n{task}",
        max_tokens=max(LEAST_OUTPUT_TOKENS, min(len(data), MOST_OUTPUT_TOKENS)),
    )


def _memory(material: Material) -> str:
    """Headings and numbered entries, in the file's order."""
    words = _WORDS[material.language]
    numbered = {source.entry: source for source in material.memories}
    lines = [words.memory]
    for index, block in enumerate(material.blocks):
        if block.kind == "heading":
            lines.append(f"## {block.text}")
        elif index in numbered:
            source = numbered[index]
            lines.append(f"{source.id}: {source.text}{words.keep if source.kept else ''}")
    return "\n".join(lines if material.memories else [*lines, words.empty]) + "\n"


def _dailies(material: Material, shown: Sequence[Source]) -> Iterator[str]:
    written = ""
    for source in shown:
        if source.day is None:
            continue
        heading = f"{_WORDS[material.language].dailies} {source.day.isoformat()}"
        yield from (f"{heading}\n",)[: heading != written]
        written = heading
        yield f"{source.id}: {source.text}"


def _insights(material: Material, shown: Sequence[Source]) -> Iterator[str]:
    lines = [f"{source.id}: {source.text}" for source in shown if source.id.startswith("I")]
    if lines:
        yield f"\n{_WORDS[material.language].insights}\n"
        yield from lines
