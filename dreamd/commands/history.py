"""`dreamd history`: what MEMORY.md once was."""

import click

from dreamd.commands._show import (
    agent_option,
    agents_of,
    entries,
    json_option,
    local_time,
    opened,
    print_json,
)
from dreamd.config import zone_of
from dreamd.deep_dream.history import versions
from dreamd.deep_dream.memory_file import lines_of
from dreamd.stores.base import FileVersion

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
        zones = {one: zone_of(parts.config.agent(one)) for one in found}
    if as_json:
        print_json([version for one in found.values() for version in one])
        return
    for one, kept in found.items():
        click.echo(f"{one}{'' if kept else ': no versions yet'}")
        for version in kept:
            click.echo(f"  {version.version_id:>5}  {local_time(version.at, zones[one])}  {_told(version)}")


def _told(version: FileVersion) -> str:
    size = entries(len(lines_of(version.content))) if version.sha256 else "no file"
    night = f"night of {version.day}" if version.day and version.author != "undo" else ""
    return ", ".join(filter(None, (_AUTHORS[version.author], night, size, version.note)))


COMMAND: click.Command = command
