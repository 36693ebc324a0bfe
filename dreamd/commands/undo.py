"""`dreamd undo`: puts back what stood in MEMORY.md before dreamd's last write."""

from functools import partial

import click

from dreamd.commands._show import agent_option, agents_of, alone, json_option, opened, print_json
from dreamd.deep_dream.history import undo, versions
from dreamd.errors import UsageError


@click.command("undo")
@agent_option
@json_option
@click.pass_context
def command(ctx: click.Context, agent: str | None, as_json: bool) -> None:
    """Take dreamd's last write to MEMORY.md back. What was edited since stays; lines taken back are not dreamt again.

    Undoing is itself a version. With several agents configured, name one.
    """
    with opened(ctx) as parts:
        agents = agents_of(parts, agent)
        if len(agents) > 1:
            raise UsageError(f"which agent? {', '.join(agents)}", hint="name it with --agent")
        alone(parts, partial(undo, parts, agents[0]))
        version = versions(parts, agents[0])[0]
    if as_json:
        print_json(version)
    else:
        click.echo(f"{version.path} is as before; {version.note}, kept as version {version.version_id}")


COMMAND: click.Command = command
