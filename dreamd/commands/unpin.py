"""`dreamd unpin`: let a pinned insight fade again like any other."""

import anyio
import click

from dreamd.commands._show import json_option, opened, print_json
from dreamd.hand.pin import unpin


@click.command("unpin")
@click.argument("memory_id", metavar="ID")
@json_option
@click.pass_context
def command(ctx: click.Context, memory_id: str, as_json: bool) -> None:
    """Take the pin from an insight. It stays what it is, and fades when nothing new bears it out."""
    with opened(ctx) as parts:
        insight = anyio.run(unpin, parts, memory_id)
    if as_json:
        print_json(insight)
    else:
        click.echo(f"no longer pinned: {insight.content}")


COMMAND: click.Command = command
