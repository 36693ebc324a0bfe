"""`dreamd pin`: keep an insight from fading, and always recall it."""

import anyio
import click

from dreamd.commands._show import json_option, opened, print_json
from dreamd.hand.pin import pin


@click.command("pin")
@click.argument("memory_id", metavar="ID")
@json_option
@click.pass_context
def command(ctx: click.Context, memory_id: str, as_json: bool) -> None:
    """Pin an insight: it neither fades nor gives way to another, and every recall brings it along.

    ID is as `dreamd insights` lists it; its beginning is enough.
    """
    with opened(ctx) as parts:
        insight = anyio.run(pin, parts, memory_id)
    if as_json:
        print_json(insight)
    else:
        click.echo(f"pinned: {insight.content}")


COMMAND: click.Command = command
