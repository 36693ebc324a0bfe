"""`dreamd sync`: reads all configured logs to their end, and exits."""

from collections import Counter
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
def sync(ctx: click.Context, agent: str | None, as_json: bool) -> int:
    """Read the agents' session logs to their end and exit: with 1 when one of them cannot be read."""
    with _show.opened(ctx) as parts:
        agents = _show.agents_of(parts, agent)
        with _show.progress(tail.backlog(parts, agents), "reading") as progress:
            result = tail.sync(parts, agents, progress)
    if as_json:
        _show.print_json(result.agents)
    else:
        for line in told(result):
            click.echo(line)
    return 1 if any(tally.unreadable for tally in result.agents.values()) else 0


def told(result: SyncResult) -> Iterator[str]:
    for agent, tally in result.agents.items():
        yield f"{agent}: {_summary(tally)}"
        for path, reason in tally.unreadable.items():
            yield f"  not read: {path}: {reason}"
        for path in tally.not_understood:
            yield f"  not understood: {path}: it grew, but no record in it was recognised"


_PASSED_OVER = {
    "seen before": ("repeated", "copied", "superseded"),
    "without anything said": ("unwanted", "metadata", "blank", "silent", "synthetic", "archive"),
    "damaged": ("damaged",),
    "taken back": ("withdrawn",),
    "dreamd's own": ("own",),
}


def _summary(tally: Tally) -> str:
    new = f"{_show.some(tally.records, 'new record')} from {_show.some(tally.files, 'log')}"
    read = f"({_show.some(tally.read, 'byte')}, {_show.some(tally.lines, 'line')})"
    more = [f"{_show.some(tally.amended, 'record')} completed by later lines"] if tally.amended else []
    more += [f"{_show.some(tally.truncated, 'over-long line')} cut"] if tally.truncated else []
    passed = Counter({"seen before": tally.duplicates})
    for kind, count in tally.skipped.items():
        passed[next((what for what, kinds in _PASSED_OVER.items() if kind in kinds), "not recognised")] += (
            count
        )
    over = [f"{count} {what}" for what, count in passed.items() if count]
    return "; ".join([f"{new} {read}", *more, *([f"passed over: {', '.join(over)}"] if over else [])])


COMMAND: click.Command = sync
