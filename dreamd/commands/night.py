"""`dreamd night`: one night now, for all agents or one, without waiting for its moment."""

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from functools import partial
from pathlib import Path

import anyio
import click
from msgspec.structs import replace

from dreamd.commands._show import (
    DAY,
    agent_option,
    agents_of,
    became,
    entries,
    json_option,
    opened,
    print_json,
    some,
)
from dreamd.events import PHASE_FINISHED, Event
from dreamd.night.due import wanted
from dreamd.night.known import known
from dreamd.night.run import run_night, totals
from dreamd.parts import Outcome, Parts
from dreamd.tail.sync import sync


@click.command("night")
@agent_option
@click.option(
    "--date",
    "day",
    type=DAY,
    help="Local date of the night. Default: the latest day with records that are in no daily yet, else with any.",
)
@click.option(
    "--force", is_flag=True, help="Also what is done already: tell the whole day anew, dream again."
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show what would be written and write nothing. Reads no logs, asks the LLM (which costs), and Deep Dream sees "
    "only dailies that are on disk already.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context, agent: str | None, day: datetime | None, force: bool, dry_run: bool, as_json: bool
) -> int:
    """Run a night now: read the logs to their end, write the dailies (Phase 1), dream, rewrite MEMORY.md (Phase 2).

    A night that is done already makes no call and changes no byte. Phase 2 is for the agents whose turn it is; with
    --agent, for that one if it has news.
    """
    with opened(ctx) as parts:
        agents = agents_of(parts, agent)
        date_of_night = day.date() if day else _newest(parts, agents, dry_run=dry_run)
        telling = replace(parts, emit=_tell) if sys.stderr.isatty() else parts
        chosen = [agent] if agent else None
        run = partial(run_night, telling, date_of_night, agents=chosen, force=force, dry_run=dry_run)
        outcomes = anyio.run(run)
        if as_json:
            print_json({"day": date_of_night, "outcomes": outcomes, "totals": totals(outcomes)})
        else:
            show(date_of_night, outcomes, dry_run=dry_run)
    return exit_code(outcomes)


def _newest(parts: Parts, agents: Sequence[str], *, dry_run: bool) -> date:
    """The date of the night when none is named: the logs must have been read to know it."""
    if not dry_run:
        sync(parts, agents)
    return wanted(known(parts), agents)


def exit_code(outcomes: Sequence[Outcome]) -> int:
    states = {outcome.row.state for outcome in outcomes}
    return 1 if "failed" in states else 3 if "held" in states else 0


def _tell(event: Event, /, **values: object) -> None:
    """Progress on a terminal: a phase takes as long as its calls."""
    if event == PHASE_FINISHED:
        click.echo(f"... {values.get('agent')} {values.get('phase')} {values.get('state')}", err=True)


def show(day: date, outcomes: Sequence[Outcome], *, dry_run: bool) -> None:
    click.echo(f"Night of {day}{', dry run: nothing is written' if dry_run else ''}")
    if not outcomes:
        unread = "; a dry run reads no logs, `dreamd sync` does" if dry_run else ""
        click.echo(f"  no agent has records of that day{unread}")
    for outcome in outcomes:
        places = (_place(outcome, path) for path in outcome.files)
        wrote = "; ".join(filter(None, [*places, _retired(outcome), _cost(outcome)]))
        click.echo(f"  {_said(outcome)}{f': {wrote}' if wrote else ''}")
        for told in outcome.insights:
            click.echo(f"    {told}")
        for refused in outcome.refused:
            click.echo(f"    refused: {refused}")
        if dry_run:
            click.echo(outcome.diff, nl=False)
    if dry_run and {"daily", "deep_dream"} <= {one.row.phase for one in outcomes if one.new}:
        click.echo("  Deep Dream sees the dailies on disk alone, without what is new above")


def _said(outcome: Outcome) -> str:
    """`anna: daily done by rule (no LLM is configured)`."""
    row = outcome.row
    phase = f"{row.agent}: {row.phase_name}"
    if not row.attempts and row.state == "skipped":
        return f"{phase} {row.reason}"  # it waits its turn
    if not outcome.new and row.state != "skipped":
        return f"{phase} {row.state} already"
    return f"{phase} {became(row)}"


def _place(outcome: Outcome, path: Path) -> str:
    if not outcome.diff.startswith(f"--- {path}"):
        return str(path)  # the diary, whose text is no change of anything
    marks = Counter(line[:1] for line in outcome.diff.splitlines()[2:])
    changed = [f"{mark}{marks[mark]}" for mark in "+-" if marks[mark]]
    return f"{path} ({' '.join(changed)} {'line' if changed in (['+1'], ['-1']) else 'lines'})"


def _retired(outcome: Outcome) -> str:
    return f"{entries(outcome.retired)} retired" if outcome.retired else ""


def _cost(outcome: Outcome) -> str:
    spent = totals([outcome])
    if not spent["calls"] and not spent["resumed"]:
        return ""
    resumed = f", {spent['resumed']} resumed" if spent["resumed"] else ""
    calls = some(spent["calls"], "LLM call")
    return f"{calls}{resumed}, {spent['input_tokens']} + {spent['output_tokens']} tokens"


COMMAND: click.Command = command
