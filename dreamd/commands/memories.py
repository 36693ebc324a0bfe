"""`dreamd memories`: what is in the pool."""

import textwrap
from datetime import date, datetime
from typing import get_args
from zoneinfo import ZoneInfo

import click
import msgspec

from dreamd.commands import _show
from dreamd.config import Config, zone_of
from dreamd.memories import Memory, MemoryType
from dreamd.pool.plain import plain as seen
from dreamd.sections import Agent
from dreamd.stores.base import MemoryQuery


@click.command("memories")
@_show.agent_option
@click.option("--type", "type_", type=click.Choice(get_args(MemoryType)), help="Only this type.")
@click.option("--date", "day", metavar="YYYY-MM-DD", type=_show.Day(), help="Only this local day.")
@_show.json_option
@click.pass_context
def memories(
    ctx: click.Context, agent: str | None, type_: MemoryType | None, day: datetime | None, as_json: bool
) -> None:
    """List the pool: raw records, summaries, insights."""
    with _show.opened(ctx) as parts:
        if agent is not None:
            parts.config.agent(agent)
        query = MemoryQuery(agent=agent, types=(type_,) if type_ else (), window=day.date() if day else None)
        found = parts.store.memories(query)
        if as_json:
            _show.print_json([plain(memory) for memory in found])
            return
        zones: dict[str, ZoneInfo] = {}
        for memory in found:
            zone = zones.setdefault(memory.agent, _zone(parts.config, memory.agent))
            click.echo(line(memory, zone))
        if not zones:
            click.echo("no such memories; `dreamd sync` reads the logs into the pool")


def plain(memory: Memory) -> dict[str, object]:
    """All fields by name, bytes as hex."""
    fields = msgspec.structs.asdict(memory)
    if memory.span:
        fields["span"] = msgspec.structs.asdict(memory.span) | {"sha256": memory.span.sha256.hex()}
    return fields


def _zone(config: Config, agent: str) -> ZoneInfo:
    """The agent's; this machine's for one that is configured no more."""
    return zone_of(config.agents.get(agent, Agent()))


def line(memory: Memory, zone: ZoneInfo) -> str:
    when: date | str = _show.local_time(memory.timestamp, zone) if memory.timestamp else memory.window
    who = "/".join(part for part in (memory.role, memory.origin) if part) or memory.type
    said = textwrap.shorten(seen(memory.content or memory.tool), 120, placeholder=" ...")
    return f"{memory.memory_id[:8]}  {memory.agent}  {when}  {who}  {said}"


COMMAND: click.Command = memories
