"""`dreamd held`: rewrites that wait for a person."""

from functools import partial

import click
import msgspec

from dreamd.commands._show import agent_option, agents_of, alone, json_option, opened, print_diff, print_json
from dreamd.deep_dream.review import accept, find, preview, reject
from dreamd.stores.base import Held

_number = click.argument("number", metavar="ID", type=click.IntRange(1))


@click.group("held", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Rewrites of MEMORY.md that were too bold to be written unasked."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_held)


@command.command("list")
@click.option("--all", "every", is_flag=True, help="Also those that were decided.")
@agent_option
@json_option
@click.pass_context
def list_held(
    ctx: click.Context, every: bool = False, agent: str | None = None, as_json: bool = False
) -> None:
    """List them, newest first."""
    with opened(ctx) as parts:
        agents = agents_of(parts, agent)
        found = [h for h in parts.store.held() if h.agent in agents and (every or h.state == "waiting")]
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("nothing is held")
    for held in found:
        click.echo(f"{held.held_id:>4}  {held.agent}  {held.day}  {held.state}: {held.reason}")


@command.command("show")
@_number
@json_option
@click.pass_context
def show(ctx: click.Context, number: int, as_json: bool) -> None:
    """Show what accepting would change in the file as it is now, and what its diary says.

    Of a decided one, what the night wanted to change.
    """
    with opened(ctx) as parts:
        held = find(parts, number)
    shown = preview(held)
    if as_json:
        print_json(msgspec.structs.asdict(held) | msgspec.structs.asdict(shown))
        return
    click.echo(f"{held.agent}, night of {held.day}, {held.state}: {held.reason}\n")
    if shown.conflicts:
        click.echo(_CONFLICTS.format(path=held.path, number=number))
    print_diff(shown.diff)
    if not shown.diff:
        click.echo(f"{held.path} is like that already: nothing would change")
    click.echo()
    click.echo(held.diary, nl=False)


_CONFLICTS = """\
conflicts: {path} was edited since at the same lines, so accepting would write nothing. This is what the night wanted;
take what you want of it by hand, then `dreamd held reject {number}`.
"""


@command.command("accept")
@_number
@json_option
@click.pass_context
def accept_held(ctx: click.Context, number: int, as_json: bool) -> None:
    """Write it. What was edited since is merged; a conflict writes nothing."""
    with opened(ctx) as parts:
        alone(parts, partial(accept, parts, number))
        held = find(parts, number)
    _told(held, f"written to {held.path}", as_json=as_json)


@command.command("reject")
@_number
@json_option
@click.pass_context
def reject_held(ctx: click.Context, number: int, as_json: bool) -> None:
    """Drop it; MEMORY.md stays as it is."""
    with opened(ctx) as parts:
        alone(parts, partial(reject, parts, number))
        held = find(parts, number)
    _told(held, "dropped", as_json=as_json)


def _told(held: Held, what: str, *, as_json: bool) -> None:
    if as_json:
        print_json(held)
    else:
        click.echo(f"held rewrite {held.held_id} {what}")


COMMAND: click.Command = command
