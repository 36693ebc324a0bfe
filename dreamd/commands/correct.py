"""`dreamd correct`: put an insight right; what was wrong stays as history."""

import anyio
import click

from dreamd.commands._show import json_option, opened, print_json
from dreamd.hand.correct import correct


@click.command("correct")
@click.argument("memory_id", metavar="ID")
@click.argument("text")
@json_option
@click.pass_context
def command(ctx: click.Context, memory_id: str, text: str, as_json: bool) -> None:
    """Put TEXT in the place of an insight: believed at once, while the old one is superseded and keeps its dates.

    ID is as `dreamd insights` lists it; its beginning is enough.
    """
    with opened(ctx) as parts:
        done = anyio.run(correct, parts, memory_id, text)
    if as_json:
        print_json(done)
    else:
        click.echo(f"superseded: {done.old.content}\nnow: {done.new.content}\n  [{done.new.memory_id}]")


COMMAND: click.Command = command
