"""`dreamd status`: how things stand, at a glance."""

import click

from dreamd.commands._show import json_option, opened, print_json
from dreamd.locks import Holder
from dreamd.status import AgentStatus, Status, status


@click.command("status")
@click.option("--running", is_flag=True, help="Exit with 1 when no daemon runs (for health checks).")
@json_option
@click.pass_context
def command(ctx: click.Context, running: bool, as_json: bool) -> int:
    """Show the agents, the last and the next night, what waits, and what is wrong and what to do about it."""
    with opened(ctx) as parts:
        now = status(parts)
    if as_json:
        print_json(now)
    else:
        _print(now)
    return 1 if running and now.daemon is None else 0


def _print(now: Status) -> None:
    click.echo(f"daemon   {_who(now.daemon)}")
    if now.night:
        click.echo(f"night    under way, {now.night}")
    click.echo(f"llm      {now.llm if now.llm != 'none' else 'none: dailies by rule, no Deep Dream'}")
    click.echo(f"state    {now.state}")
    for agent in now.agents:
        _print_agent(agent)
    click.echo("wrong    nothing" if not now.wrong else "wrong")
    for sentence in now.wrong:
        click.echo(f"  - {sentence}")


def _who(daemon: Holder | None) -> str:
    return f"running, {daemon}" if daemon else "not running"


def _print_agent(agent: AgentStatus) -> None:
    off = "" if agent.enabled else " (disabled)"
    read = f", last read {agent.last_read:%Y-%m-%d %H:%M} UTC" if agent.last_read else ""
    click.echo(
        f"{agent.agent}{off}: {', '.join(agent.formats)}, {agent.logs} logs, {agent.records} records{read}"
    )
    for row in agent.last_night:
        reason = f" ({row.reason})" if row.reason else ""
        click.echo(f"  last {row.phase.replace('_', ' ')}  {row.day} {row.state}{reason}")
    if agent.next_night:
        click.echo(f"  next night  {agent.next_night.isoformat(sep=' ', timespec='minutes')} {agent.zone}")
    if agent.backlog.records:
        days = agent.backlog.days
        click.echo(
            f"  backlog  {agent.backlog.records} records of {len(days)} day(s) since {days[0]} in no daily yet"
        )
    if agent.held:
        click.echo(f"  held  {agent.held}")


COMMAND: click.Command = command
