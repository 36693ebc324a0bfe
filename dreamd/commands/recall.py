"""`dreamd recall`: what the agents' memory holds for a goal, conclusions first, as text for a prompt."""

from contextlib import suppress
from datetime import date, datetime, time, timedelta
from functools import partial

import anyio
import click
from anyio import to_thread

from dreamd.clock import instant
from dreamd.commands import _show
from dreamd.config import zone_of
from dreamd.errors import DiskFull, StoreError, UsageError
from dreamd.parts import Parts
from dreamd.recall.answer import Recalled
from dreamd.recall.following import follow
from dreamd.recall.recalling import recall

_TO_THE_END = 1 << 30  # pages


@click.command("recall")
@click.argument("goal")
@_show.agent_option
@click.option(
    "--budget",
    type=click.IntRange(50, 32000),
    metavar="TOKENS",
    help="At most so many; default recall.budget.",
)
@click.option("--as-of", metavar="DATE", help="As things stood at the end of that day, or at that time.")
@_show.json_option
@click.pass_context
def command(
    ctx: click.Context, goal: str, agent: str | None, budget: int | None, as_of: str | None, as_json: bool
) -> None:
    """Show what the agents' memory holds for a GOAL: conclusions first, then records that fill the gaps.

    Lasting preferences and instructions come along unasked. `dreamd why ID` shows what a line rests on.
    """
    with _show.opened(ctx) as parts:
        agents = _show.agents_of(parts, agent)
        then = _moment(parts, agents[0], as_of) if as_of else None
        answer = anyio.run(partial(_recalled, parts, goal, agents, budget, then))
    if as_json:
        _show.print_json(answer)
    else:
        click.echo(answer.text or "nothing in memory bears on it")


async def _recalled(
    parts: Parts, goal: str, agents: list[str], budget: int | None, then: datetime | None
) -> Recalled:
    """A person waits for the whole answer: the index is brought up to the pool first."""
    if parts.index is not None:
        with suppress(DiskFull, StoreError):  # recall says so when it knows nothing
            await to_thread.run_sync(partial(follow, parts.store, parts.index, pages=_TO_THE_END))
    return await recall(parts, goal, agents=agents, budget=budget, as_of=then)


def _moment(parts: Parts, agent: str, text: str) -> datetime:
    """A day means its end, a time that time, in the agent's zone unless it says another. Raises UsageError."""
    zone = zone_of(parts.config.agent(agent))
    try:
        if len(text) <= len("2026-03-02"):
            return instant(date.fromisoformat(text) + timedelta(days=1), time(), zone)
        at = datetime.fromisoformat(text)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"--as-of {text!r} is no date", hint="write it as 2026-03-02") from error
    return at if at.tzinfo else at.replace(tzinfo=zone)


COMMAND: click.Command = command
