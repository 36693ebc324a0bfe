"""`dreamd sync`: reads all configured logs to their end, and exits."""

from collections.abc import Iterator

import click

from dreamd.commands import _show
from dreamd.tail import sync as tail
from dreamd.tail.sync import SyncResult
from dreamd.tail.tailer import Tally


@click.command("sync")
@_show.agent_option
@_show.json_option
@click.pass_context
def sync(ctx: click.Context, agent: str | None, as_json: bool) -> None:
    """Read the agents' session logs to their end and exit."""
    with _show.opened(ctx) as parts:
        agents = _show.agents_of(parts, agent)
        with _show.progress(tail.backlog(parts, agents), "reading") as progress:
            result = tail.sync(parts, agents, progress)
    if as_json:
        _show.print_json(result.agents)
        return
    for line in told(result):
        click.echo(line)


def told(result: SyncResult) -> Iterator[str]:
    for agent, tally in result.agents.items():
        yield f"{agent}: {_summary(tally)}"
        for path, reason in tally.unreadable.items():
            yield f"  not read: {path}: {reason}"
        for path in tally.not_understood:
            yield f"  not understood: {path}: it grew, but no record in it was recognised"


def _summary(tally: Tally) -> str:
    parts = [f"{tally.records} new records from {tally.files} logs ({tally.read} bytes, {tally.lines} lines)"]
    counts = {
        "seen before": tally.duplicates,
        "amended": tally.amended,
        "over-long lines cut": tally.truncated,
        **tally.skipped,
    }
    parts += [f"{name} {count}" for name, count in counts.items() if count]
    return ", ".join(parts)


COMMAND: click.Command = sync
