"""`dreamd insights`: what dreams have found, and how each finding stands."""

from collections.abc import Iterator

import click

from dreamd.commands import _show
from dreamd.dream.standing import Standing, standings
from dreamd.memories import Memory, Status
from dreamd.pool.plain import plain

_STATUSES = ("candidate", "long_term", "superseded", "archived")


@click.command("insights")
@_show.agent_option
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_STATUSES),
    multiple=True,
    help="Only of this status; may be given again. Default: candidate and long_term.",
)
@_show.json_option
@click.pass_context
def command(ctx: click.Context, agent: str | None, statuses: tuple[Status, ...], as_json: bool) -> None:
    """List the insights: long-term ones first, each with what it rests on and what it still lacks.

    `dreamd why ID` shows the records under one.
    """
    wanted = statuses or ("candidate", "long_term")
    with _show.opened(ctx) as parts:
        found = [
            standing
            for one in _show.agents_kept(parts, agent)
            for standing in standings(parts.store, one, parts.config, parts.clock.now())
            if standing.insight.status in wanted
        ]
    found.sort(key=lambda one: (one.insight.agent, -_STATUSES.index(one.insight.status), -one.sure))
    if as_json:
        _show.print_json(found)
        return
    for standing in found:
        for text in told(standing):
            click.echo(text)
    if not found:
        click.echo("no such insights; `dreamd dream` draws them from the records")


def told(standing: Standing) -> Iterator[str]:
    one = standing.insight
    yield (
        f"{one.memory_id[:8]}  {one.agent}  {one.status.replace('_', '-')} {standing.sure:.2f}  {one.kind or 'insight'}: "
        f"{plain(one.content)}{_time(one)}"
    )
    yield f"          {_show.some(one.windows, 'day')}, {_show.some(one.tasks, 'task')}, {_show.some(one.origins, 'record')}"
    for sentence in standing.lacks:
        yield f"          lacks: {sentence}"
    for other in standing.against:
        yield f"          against it: {other.memory_id[:8]} {plain(other.statement)} ({other.reason})"


def _time(one: Memory) -> str:
    if one.valid_until:
        return f" (until {one.valid_until:%Y-%m-%d})"
    return f" (since {one.valid_from:%Y-%m-%d})" if one.valid_from else ""


COMMAND: click.Command = command
