"""`dreamd history`: what MEMORY.md once was."""

import click

from dreamd.commands._show import agent_option, agents_of, json_option, opened, print_json
from dreamd.deep_dream.history import versions
from dreamd.deep_dream.memory_file import lines_of

_AUTHORS = {
    "found": "found as it was",
    "dreamd": "dreamt",
    "undo": "taken back",
    "accepted": "held, then accepted",
}


@click.command("history")
@agent_option
@json_option
@click.pass_context
def command(ctx: click.Context, agent: str | None, as_json: bool) -> None:
    """List the versions of MEMORY.md, newest first: number, when, by whom, how many entries."""
    with opened(ctx) as parts:
        found = {one: versions(parts, one) for one in agents_of(parts, agent)}
    if as_json:
        print_json([version for one in found.values() for version in one])
        return
    for one, kept in found.items():
        click.echo(f"{one}{'' if kept else ': no versions yet'}")
        for version in kept:
            night = f", night of {version.day}" if version.day else ""
            note = f", {version.note}" if version.note else ""
            entries = len(lines_of(version.content))
            click.echo(
                f"  {version.version_id:>5}  {version.at:%Y-%m-%d %H:%M} UTC  {_AUTHORS[version.author]}{night}, "
                f"{entries} entries{note}"
            )


COMMAND: click.Command = command
