"""`dreamd read`: what dreamd understands of a session log."""

import textwrap
from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from dreamd.commands import _show
from dreamd.config import local_zone_name
from dreamd.daemon import empty_store
from dreamd.memories import Memory
from dreamd.pool.plain import plain
from dreamd.tail.reading import read_path


@click.command("read")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--format", "format_", metavar="NAME", help="Format of the log; guessed when not given.")
@_show.json_option
def read(path: Path, format_: str | None, as_json: bool) -> None:
    """Show what dreamd understands of a session log: a file, or a folder of them."""
    memories = read_path(
        path,
        format=format_,
        zone=ZoneInfo(local_zone_name()),
        store=empty_store(),
        passed_over=lambda bad, reason: click.echo(f"dreamd: {bad}: {reason}", err=True),
    )
    if as_json:
        _show.print_json([item(memory) for memory in memories])
        return
    for line in listing(memories):
        click.echo(line)


def item(memory: Memory) -> dict[str, object]:
    """The shape of the samples' expected files."""
    said = {"tool": memory.tool, "ok": memory.ok} if memory.role == "tool" else {"text": memory.content}
    return {
        "session_id": memory.session_id,
        "agent": memory.agent,
        "role": memory.role,
        "origin": memory.origin,
        **said,
        "timestamp": _timestamp(memory),
    }


def _timestamp(memory: Memory) -> str | None:
    if memory.timestamp is None:
        return None
    return memory.timestamp.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def listing(memories: Iterable[Memory]) -> Iterable[str]:
    """One line a record, a heading a session."""
    session = None
    for memory in memories:
        if memory.session_id != session:
            session = memory.session_id
            yield f"\n{memory.agent}  {session}" if session else f"\n{memory.agent}"
        yield f"  {_timestamp(memory) or '-':24}  {memory.role}/{memory.origin}  {_said(memory)}"


_WIDTH = 160  # characters of a record in the listing
_OUTCOME = {True: "ok", False: "failed", None: "no result"}


def _said(memory: Memory) -> str:
    if memory.role == "tool":
        return f"{memory.tool}: {_OUTCOME[memory.ok]}"
    return textwrap.shorten(plain(memory.content), _WIDTH, placeholder=" ...")


COMMAND: click.Command = read
