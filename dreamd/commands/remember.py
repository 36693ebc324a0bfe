"""`dreamd remember`: tell dreamd something for good."""

from functools import partial
from typing import get_args

import anyio
import click

from dreamd.commands._show import agents_of, json_option, opened, print_json
from dreamd.errors import UsageError
from dreamd.hand.remember import remember
from dreamd.memories import Kind
from dreamd.parts import Parts


@click.command("remember")
@click.argument("text")
@click.option("--agent", metavar="ID", help="For this agent; needed where there are several.")
@click.option("--kind", type=click.Choice(get_args(Kind)), help="What it is; by default told from the words.")
@click.option("--applies-when", metavar="WHEN", default="", help="The situation in which it matters.")
@click.option("--pin", "pinned", is_flag=True, help="Never let it fade, and always recall it.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    text: str,
    agent: str | None,
    kind: Kind | None,
    applies_when: str,
    pinned: bool,
    as_json: bool,
) -> None:
    """Keep TEXT for good, as your own word: it is believed at once and rests on your having said so."""
    with opened(ctx) as parts:
        one = _agent(parts, agent)
        kept = anyio.run(
            partial(remember, parts, text, agent=one, kind=kind, applies_when=applies_when, pinned=pinned)
        )
    if as_json:
        print_json(kept)
        return
    words = "remembered" if kept.new else "known already"
    click.echo(f"{words}: {kept.insight.content}")
    click.echo(f"  [{kept.insight.kind} {kept.insight.memory_id}{', pinned' if kept.insight.pinned else ''}]")


def _agent(parts: Parts, agent: str | None) -> str:
    known = agents_of(parts, agent)
    if known[1:]:
        raise UsageError("there are several agents", hint=f"say for whom: --agent {'|'.join(known)}")
    return known[0]


COMMAND: click.Command = command
