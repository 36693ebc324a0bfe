"""`dreamd diff`: what changed between two versions of MEMORY.md."""

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import Struct

from dreamd import files
from dreamd.commands._show import agent_option, agents_of, json_option, opened, print_diff, print_json
from dreamd.deep_dream.history import versions
from dreamd.errors import UsageError
from dreamd.parts import Parts
from dreamd.stores.base import FileVersion


class Difference(Struct, frozen=True):
    """`after` None: the file as it is now."""

    agent: str
    before: int | None
    after: int | None
    diff: str


@click.command("diff")
@click.argument("numbers", metavar="[VERSION [VERSION]]", nargs=-1, type=click.IntRange(1))
@agent_option
@json_option
@click.pass_context
def command(ctx: click.Context, numbers: tuple[int, ...], agent: str | None, as_json: bool) -> None:
    """Show what changed: between two versions, from one version to the file as it is, or (none named) last night.

    The numbers are those of `dreamd history`.
    """
    if len(numbers) > 2:  # noqa: PLR2004 - a difference has two sides
        raise UsageError("diff takes at most two versions")
    with opened(ctx) as parts:
        found = _named(parts, numbers, agent) if numbers else _latest(parts, agents_of(parts, agent))
    if as_json:
        print_json(found)
        return
    for difference in found:
        click.echo(_heading(difference))
        print_diff(difference.diff)
    if not found:
        click.echo("no versions yet: dreamd has written no MEMORY.md")


def _heading(difference: Difference) -> str:
    before = f"version {difference.before}" if difference.before else "no file"
    after = f"version {difference.after}" if difference.after else "the file as it is"
    return f"{difference.agent}: {before} -> {after}{'' if difference.diff else ': no difference'}"


def _latest(parts: Parts, agents: Sequence[str]) -> list[Difference]:
    """The newest version against the one before it."""
    found = []
    for one in agents:
        kept = versions(parts, one)
        if kept:
            before = kept[1] if kept[1:] else None
            found.append(_between(one, before, kept[0].content, Path(kept[0].path), kept[0].version_id))
    return found


def _named(parts: Parts, numbers: Sequence[int], agent: str | None) -> list[Difference]:
    known = {v.version_id: v for one in agents_of(parts, agent) for v in versions(parts, one)}
    unknown = [number for number in numbers if number not in known]
    if unknown:
        raise UsageError(f"no version {unknown[0]}", hint="see `dreamd history`")
    before = known[numbers[0]]
    path = Path(before.path)
    if len(numbers) == 1:
        return [_between(before.agent, before, files.read(path).text, path, None)]
    after = known[numbers[1]]
    return [_between(before.agent, before, after.content, path, after.version_id)]


def _between(agent: str, before: FileVersion | None, text: str, path: Path, after: int | None) -> Difference:
    diff = files.unified(before.content if before else "", text, path)
    return Difference(agent, before.version_id if before else None, after, diff)


COMMAND: click.Command = command
