"""`dreamd undo`: puts back what stood in MEMORY.md before dreamd's last write."""

from functools import partial

import click

from dreamd.commands._show import agent_option, agents_of, alone, json_option, opened, print_json
from dreamd.deep_dream.history import restore, undo, versions
from dreamd.errors import UsageError


@click.command("undo")
@click.option("--to", "version_id", metavar="VERSION", type=click.IntRange(1), help="Put back this version.")
@agent_option
@json_option
@click.pass_context
def command(ctx: click.Context, version_id: int | None, agent: str | None, as_json: bool) -> None:
    """Take dreamd's last write to MEMORY.md back, or with --to put back a version that `dreamd history` lists.

    What was edited since stays; lines taken back are not dreamt again. Undoing is itself a version; undoing again
    takes back the write before. With several agents configured, name one.
    """
    with opened(ctx) as parts:
        agents = agents_of(parts, agent)
        if len(agents) > 1:
            raise UsageError("there are several agents", hint=f"say for whom: --agent {'|'.join(agents)}")
        one = agents[0]
        alone(parts, partial(restore, parts, one, version_id) if version_id else partial(undo, parts, one))
        version = versions(parts, one)[0]
    if as_json:
        print_json(version)
    else:
        how = "is as before" if version.sha256 else "is gone: there was no file"
        click.echo(f"{version.path} {how}; {version.note}, kept as version {version.version_id}")


COMMAND: click.Command = command
