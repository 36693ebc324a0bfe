"""`dreamd eval`: how well the dream remembers, measured on invented worlds of which everything is known."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import anyio
import click
from msgspec.structs import replace

from dreamd.commands._show import json_option, loaded, print_json, progress
from dreamd.config import Config
from dreamd.eval import report
from dreamd.eval.measure import Figures, added
from dreamd.eval.nights import lived
from dreamd.eval.truth import World
from dreamd.eval.worlds import FEWEST_DAYS, Language, world
from dreamd.sections import Llm


@click.command("eval")
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="How many worlds.",
)
@click.option("--seed", metavar="N", type=int, help="This one world alone.")
@click.option(
    "--days",
    metavar="N",
    type=click.IntRange(FEWEST_DAYS, 366),
    default=30,
    show_default=True,
    help="How long a world lasts.",
)
@click.option(
    "--agents",
    metavar="N",
    type=click.IntRange(1, 100),
    default=2,
    show_default=True,
    help="How many agents live in it.",
)
@click.option(
    "--language",
    type=click.Choice(["en", "zh", "both"]),
    default="both",
    show_default=True,
    help="What is spoken.",
)
@click.option(
    "--words", metavar="DIR", help="What people say: en.toml and zh.toml there, laid over the shipped ones."
)
@click.option("--llm", "with_llm", is_flag=True, help="Dream with the configured LLM too, which costs.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, seeds: int, seed: int | None, days: int, agents: int, language: Language,
    words: str | None, with_llm: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Live through invented worlds night by night with the real dream, and count what it kept, lost and made up.

    The thresholds are those of the configuration. Nothing of this machine's agents is read or written. Exit code 1 when
    a figure misses its goal.
    """
    config = loaded(ctx)
    config = config if with_llm else replace(config, llm=Llm())
    chosen = range(seeds) if seed is None else (seed,)
    folder = Path(words).expanduser() if words else None
    worlds = [partial(world, one, days, agents, language, folder) for one in chosen]
    figures = _lived(config, worlds, nights=days)
    total = added(figures)
    if as_json:
        shares = {
            "precision": report.precision(total),
            "recall": report.recall(total),
            "good": report.good(total),
        }
        print_json({"seeds": list(chosen), **shares, "figures": total, "by_seed": figures})
    else:
        _show(total)
    return 0 if report.good(total) else 1


def _lived(config: Config, worlds: Sequence[Callable[[], World]], *, nights: int) -> list[Figures]:
    with progress(len(worlds) * nights, "nights") as step:
        return [anyio.run(partial(lived, drawn(), config, progress=step)) for drawn in worlds]


def _show(figures: Figures) -> None:
    for line in report.lines(figures):
        colour = {"+": "green", "-": "red"}.get(line[:1]) if sys.stdout.isatty() else None
        click.secho(line, fg=colour)


COMMAND: click.Command = command
