"""`dreamd status`: how things stand, at a glance."""

import click

from dreamd import config as configuration
from dreamd.clock import to_the_minute
from dreamd.commands._show import became, json_option, opened, print_json, some
from dreamd.errors import ConfigError, DreamdError
from dreamd.gate.passing import GatewayShown
from dreamd.locks import DAEMON, Holder, holder
from dreamd.night.due import turn
from dreamd.status import AgentStatus, Status, listed, status


@click.command("status")
@click.option(
    "--running",
    is_flag=True,
    help="Exit with 1 when no daemon runs (for health checks), whatever else is wrong.",
)
@json_option
@click.pass_context
def command(ctx: click.Context, running: bool, as_json: bool) -> int:
    """Show the agents, the last and the next night, what waits, and what is wrong and what to do about it."""
    try:
        with opened(ctx, recalls=False) as parts:
            now = status(parts)
    except DreamdError as error:
        if not running:
            raise
        return _alive(ctx, error, as_json=as_json)
    if as_json:
        print_json(now)
    else:
        _print(now)
    return 1 if running and now.daemon is None else 0


def _alive(ctx: click.Context, trouble: DreamdError, *, as_json: bool) -> int:
    """Whether a daemon runs, by its lock alone: what was broken since it started says nothing about that."""
    try:
        path = configuration.find((ctx.obj or {}).get("config"))
    except ConfigError:
        path = None
    state = configuration.state_dir_told(path)
    daemon = holder(state / DAEMON)
    click.echo(f"dreamd: {trouble}", err=True)
    if as_json:
        print_json({"daemon": daemon, "state": state})
    else:
        click.echo(f"daemon   {_who(daemon)} ({state})")
    return 0 if daemon else 1


def _print(now: Status) -> None:
    click.echo(f"daemon   {_who(now.daemon)}")
    if now.night:
        click.echo(f"night    under way, {now.night}")
    click.echo(f"llm      {now.llm if now.llm != 'none' else 'none: dailies by rule, no Deep Dream'}")
    click.echo(f"calls    {_use(now)}")
    if now.gateway:
        click.echo(f"gateway  {_gateway(now.gateway)}")
    click.echo(f"state    {now.state}")
    for agent in now.agents:
        _print_agent(agent, when="" if now.daemon else " (when the daemon runs)")
    click.echo("wrong    nothing" if not now.wrong else "wrong")
    for sentence in now.wrong:
        click.echo(f"  - {sentence}")


def _use(now: Status) -> str:
    """What dreamd's own calls took of what they may."""
    whole = now.use[0]
    cost = "" if whole.cost_today is None else f", {whole.cost_today:.4f} spent"
    about = "about " if whole.estimated else ""
    flight = f", {now.calls} in flight" if now.calls else ""
    tokens = f"{about}{_of(whole.tokens_today, whole.tokens_per_day)} tokens today"
    return f"{_of(whole.calls_this_hour, whole.calls_per_hour)} in the last hour, {tokens}{cost}{flight}"


def _gateway(now: GatewayShown) -> str:
    seen = now.passing
    down = ", ".join(one.name for one in seen.upstreams if not one.reachable)
    told = f"listens at {now.listen}: {seen.calls:,} calls, {seen.under_way} under way, {seen.connections} connections"
    return f"{told}; not reachable: {down}" if down else told


def _of(used: int, most: int) -> str:
    return f"{used:,} of {most:,}" if most else f"{used:,}"


def _who(daemon: Holder | None) -> str:
    return f"running, {daemon}" if daemon else "not running"


def _print_agent(agent: AgentStatus, when: str) -> None:
    off = "" if agent.enabled else " (disabled)"
    read = f", last read {to_the_minute(agent.last_read)}" if agent.last_read else ""
    had = f"{some(agent.logs, 'log')}, {some(agent.records, 'record')}{read}"
    click.echo(f"{agent.agent}{off}: {', '.join(agent.formats)}, {had}")
    for row in agent.last_night:
        click.echo(f"  last {row.phase_name}  {row.day} {became(row)}")
    if agent.dreaming:
        click.echo(f"  dreams now  {agent.dreaming}")
    if agent.long_term or agent.candidates:
        waiting = f", {some(agent.candidates, 'candidate')}" if agent.candidates else ""
        click.echo(f"  insights  {agent.long_term} long-term{waiting}")
    if agent.next_night:
        local = agent.next_night.isoformat(sep=" ", timespec="minutes")
        click.echo(f"  next night  {local} {agent.zone}{when}")
    if agent.dreams_after is not None:
        told = turn(agent.dreams_after) if agent.dreams_after else "its turn is next"
        click.echo(f"  deep dream  {told}")
    if agent.backlog.records:
        click.echo(
            f"  backlog  {some(agent.backlog.records, 'record')} in no daily yet, of {listed(agent.backlog.days)}"
        )
    if agent.held:
        click.echo(f"  held  {agent.held}")


COMMAND: click.Command = command
