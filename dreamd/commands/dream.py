"""`dreamd dream`: one dream now: what the records say becomes insights."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import anyio
import click

from dreamd.commands import _show
from dreamd.dream.phase import Dreamt, dream
from dreamd.parts import Parts
from dreamd.stores.base import cost
from dreamd.tail.sync import sync


@click.command("dream")
@_show.agent_option
@click.option(
    "--force", is_flag=True, help="Dream of all records again, not of the new ones alone; nothing is doubled."
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show what would change and change nothing. Reads no logs; asks the LLM (which costs).",
)
@_show.json_option
@click.pass_context
def command(ctx: click.Context, agent: str | None, force: bool, dry_run: bool, as_json: bool) -> int:
    """Dream now: read the logs to their end, then draw insights from what no dream has seen.

    A dream with nothing new makes no call and changes nothing. Exits with 1 when groups of records had to be parked
    for the next dream.
    """
    with _show.opened(ctx) as parts:
        agents = _show.agents_of(parts, agent)
        if not dry_run:
            sync(parts, agents)
        dreams = [anyio.run(partial(_dreamt, parts, one, force=force, dry_run=dry_run)) for one in agents]
    if as_json:
        _show.print_json(dreams)
    else:
        for one in dreams:
            show(one, dry_run=dry_run)
        if not parts.config.dream.enabled:
            click.echo("dream.enabled is false: no dream comes by itself, and none in the night", err=True)
    return 1 if any(one.parked for one in dreams) else 0


async def _dreamt(parts: Parts, agent: str, *, force: bool, dry_run: bool) -> Dreamt:
    with Bar(agent) as bar:
        return await dream(parts, agent, force=force, dry_run=dry_run, progress=bar)


class Bar(AbstractContextManager["Bar"]):
    """A bar on a terminal, drawn once it is known how many groups there are."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._drawn: AbstractContextManager[Callable[[int], None]] | None = None
        self._advance: Callable[[int], None] = lambda _steps: None
        self._done = 0

    def __call__(self, done: int, of: int) -> None:
        if self._drawn is None:
            self._drawn = _show.progress(of, f"{self._agent} dreams")
            self._advance = self._drawn.__enter__()
        self._advance(done - self._done)
        self._done = done

    def __exit__(self, *_raised: object) -> None:
        if self._drawn is not None:
            self._drawn.__exit__(None, None, None)


def show(dreamt: Dreamt, *, dry_run: bool = False) -> None:
    row = dreamt.row
    reason = f" ({row.reason})" if row.reason else ""
    if not dreamt.new:
        click.echo(f"{row.agent}: nothing new to dream of")
        return
    click.echo(f"{row.agent}: {told(dreamt)}{reason}{', dry run: nothing is written' if dry_run else ''}")
    for shift in dreamt.shifts:
        if shift.before != shift.after and not shift.put_away:
            click.echo(f"  {shift.told}")
    if away := sum(shift.put_away for shift in dreamt.shifts):
        click.echo(f"  {_show.some(away, 'word')} of the moment put away until said again")
    for refused in dreamt.refused:
        click.echo(f"  refused: {refused}")
    for waits in dreamt.waits:
        click.echo(f"  waits: {waits}")
    for group in dreamt.parked:
        click.echo(f"  parked: {_show.some(len(group.ids), 'record')} of {group.key}: {group.reason}")


def told(dreamt: Dreamt) -> str:
    """`42 records, 30 kept: 3 new, 1 promoted; 4 LLM calls, 1200 + 300 tokens`."""
    counts = dreamt.counts
    became = (
        "new", "merged", "contradicted", "promoted", "superseded", "archived",
    )  # fmt: skip
    changes = [f"{getattr(counts, name)} {name}" for name in became if getattr(counts, name)]
    spent = cost(dreamt.spent)
    worth = f", {dreamt.cost:g} by your prices" if dreamt.cost else ""
    calls = (
        f"; {_show.some(spent['calls'], 'LLM call')}, {spent['input_tokens']} + {spent['output_tokens']} tokens{worth}"
        if spent["calls"]
        else ""
    )
    return f"{_show.some(counts.records, 'record')}: {', '.join(changes) or 'nothing to change'}{calls}"


COMMAND: click.Command = command
