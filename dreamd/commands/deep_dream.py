"""`dreamd deep-dream`: Phase 2 alone, now, for one agent or each of them."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime
from functools import partial

import anyio
import click

from dreamd.clock import local_date
from dreamd.commands._show import (
    Day,
    agent_option,
    agents_of,
    entries,
    json_option,
    opened,
    print_diff,
    print_json,
)
from dreamd.config import zone_of
from dreamd.deep_dream.phase import deep_dream
from dreamd.errors import HeldForReview
from dreamd.locks import one_night
from dreamd.parts import Outcome, Parts


@click.command("deep-dream")
@agent_option
@click.option(
    "--lookback", type=click.IntRange(1, 366), metavar="DAYS", help="How many days' dailies to take."
)
@click.option(
    "--date",
    "day",
    type=Day(),
    help="Local date of the dream. Default: that of the newest daily.",
)
@click.option("--force", is_flag=True, help="Dream again on the same input.")
@click.option("--dry-run", is_flag=True, help="Show the diff that would be written; change nothing.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    agent: str | None,
    lookback: int | None,
    day: datetime | None,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Rewrite MEMORY.md from itself and the recent dailies, and write the diary; dailies are not made here."""
    with opened(ctx) as parts:
        dreams = [
            partial(
                deep_dream, parts, one, day.date() if day else newest_daily(parts, one),
                lookback_days=lookback, force=force, dry_run=dry_run,
            )
            for one in agents_of(parts, agent)
        ]  # fmt: skip
        outcomes = anyio.run(partial(_one_by_one, parts, dreams, dry_run=dry_run))
    if as_json:
        print_json(outcomes)
    else:
        for outcome in outcomes:
            show(outcome, dry_run=dry_run)
    states = {outcome.row.state for outcome in outcomes}
    if "failed" in states:
        return 1
    if "held" in states and not dry_run:
        raise HeldForReview("a rewrite waits for a person", hint="see `dreamd held`")
    return 0


async def _one_by_one(
    parts: Parts, dreams: Sequence[Callable[[], Awaitable[Outcome]]], *, dry_run: bool
) -> list[Outcome]:
    """While no night runs, which could be asking the same; a dry run is beside everything."""
    if dry_run:
        return [await dream() for dream in dreams]
    async with one_night(parts.state, parts.clock):
        return [await dream() for dream in dreams]


def newest_daily(parts: Parts, agent_id: str) -> date:
    """The local date of the agent's newest daily; today when it has none."""
    agent = parts.config.agent(agent_id)
    rows = parts.store.ledger(agent_id, "daily")
    done = [row.day for row in rows if row.state == "done"]
    return max(done, default=local_date(parts.clock.now(), zone_of(agent)))


def show(outcome: Outcome, *, dry_run: bool = False) -> None:
    row = outcome.row
    reason = f": {row.reason}" if row.reason else ""
    done = "" if outcome.new else " already"
    click.echo(f"{row.agent} {row.day} {row.phase_name}{done} {row.state}{reason}")
    for file in () if dry_run else outcome.files:
        click.echo(f"  wrote {file}")
    if outcome.retired:
        click.echo(f"  retired {entries(outcome.retired)}")
    for refused in outcome.refused:
        click.echo(f"  refused {refused}")
    print_diff(outcome.diff)


COMMAND: click.Command = command
