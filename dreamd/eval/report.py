"""Figures in, lines for people out: what is measured, how it came out, what it should be (pure)."""

from collections.abc import Iterator
from typing import NamedTuple

from dreamd.eval.measure import Figures

_MOST_MISSES = 12


class Row(NamedTuple):
    """`good` None: a figure without a goal."""

    label: str
    value: str
    goal: str
    good: bool | None


def share(part: int, whole: int) -> float:
    """Of nothing, all is right."""
    return part / whole if whole else 1.0


def precision(figures: Figures) -> float:
    return share(figures.right, figures.promoted)


def recall(figures: Figures) -> float:
    return share(figures.found, figures.wanted)


RECALL = 0.95


def rows(figures: Figures) -> Iterator[Row]:
    yield _least("promotion: precision", figures.right, figures.promoted, 1.0)
    yield _least("promotion: recall", figures.found, figures.wanted, RECALL)
    for label, sorts in _NEVER.items():
        count = sum(n for sort, n in figures.wrong_by_sort.items() if set(sort.split("+")) & set(sorts))
        yield _none(f"promoted: {label}", count)
    yield _none("merged though not the same", figures.wrong_merged)
    yield _least("contradictions: both sides kept", figures.both_sides, figures.opposed, 1.0)
    yield _least("contradictions: linked", figures.linked, figures.opposed, 1.0)
    yield _none("contradictions: where there is none", figures.wrong_linked)
    yield _least("corrections carried out", figures.superseded, figures.corrected, 1.0)
    yield _least("references that resolve", figures.resolved, figures.references, 1.0)
    yield _least("exact values that survive", figures.exact_found, figures.exact_wanted, 1.0)
    yield _none("trust gained on the way", figures.wrong_trust)
    yield _none("secrets kept", figures.wrong_secrets)
    yield _none("rows changed by a second dream", figures.wrong_unsettled)
    yield Row("rows changed by a forced dream", f"{figures.redone:,}", "", None)
    yield Row("duplicates", f"{share(figures.duplicates, figures.found):.3f} per kept thing", "", None)
    thousand = figures.records / 1000 or 1.0
    yield Row("LLM calls per 1,000 records", f"{figures.calls / thousand:,.1f}", "", None)
    yield Row("LLM tokens per 1,000 records", f"{figures.tokens / thousand:,.0f}", "", None)


_NEVER = {
    "one-off bursts": ("burst", "passing"),
    "of a single task": ("single_task",),
    "copies": ("copy",),
    "scheduled and smuggled": ("scheduled", "smuggled"),
    "secrets": ("secret",),
    "asked, supposed, quoted": ("unmeant",),
    "work and small talk": ("filler",),
}


def _least(label: str, part: int, whole: int, goal: float) -> Row:
    return Row(
        label, f"{share(part, whole):.3f} ({part:,} of {whole:,})", f">= {goal:g}", share(part, whole) >= goal
    )


def _none(label: str, count: int) -> Row:
    return Row(label, f"{count:,}", "0", count == 0)


def good(figures: Figures) -> bool:
    """Every figure reaches its goal."""
    return all(row.good is not False for row in rows(figures))


def lines(figures: Figures) -> Iterator[str]:
    yield (
        f"{figures.records:,} records, {share(figures.planted, figures.records):.0%} of them planted; "
        f"{figures.insights:,} insights, {figures.promoted:,} ever long-term, {figures.refused:,} drafts refused"
    )
    for row in rows(figures):
        mark = " " if row.good is None else "+" if row.good else "-"
        yield f"{mark} {row.label:36} {row.value:28} {row.goal}".rstrip()
    for miss in figures.misses[:_MOST_MISSES]:
        yield f"    {miss.what}: {miss.text}{f' ({miss.plant})' if miss.plant else ''}"
    if len(figures.misses) > _MOST_MISSES:
        yield f"    and {len(figures.misses) - _MOST_MISSES} more: --json shows all"
