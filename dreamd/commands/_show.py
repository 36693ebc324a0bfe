"""Shared by the commands: opening the parts, printing data as JSON or plain lines, progress on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import TypeVar
from zoneinfo import ZoneInfo

import anyio
import click
import msgspec
from anyio import to_thread

from dreamd import config as configuration
from dreamd.clock import within_reach
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.errors import UsageError
from dreamd.events import CALL_RETRIED, DREAM_WAITS, Event
from dreamd.gate.order import asked_by_a_person
from dreamd.locks import DAEMON, holder, one_night
from dreamd.parts import NO_LLM, Parts
from dreamd.stores.base import LedgerRow, MemoryQuery

T = TypeVar("T")
WAITS_S = 3.0  # shorter pauses are not worth a line


class _Day(click.DateTime):
    """A local date, written as 2026-03-31."""

    name = "date"

    def __init__(self) -> None:
        super().__init__(["%Y-%m-%d"])

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        del param, ctx
        return "DATE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            day: datetime = super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"'{value}' is no date such as 2026-03-31", param, ctx)
        try:
            within_reach(day)
        except ValueError as error:
            self.fail(f"{day:%Y-%m-%d}: {error}", param, ctx)
        return day


DAY = _Day()

json_option = click.option("--json", "as_json", is_flag=True, help="Print data as JSON.")
agent_option = click.option("--agent", metavar="ID", help="Only this agent.")


def loaded(ctx: click.Context) -> Config:
    """The configuration that the command line names, checked."""
    return configuration.load(configuration.find((ctx.obj or {}).get("config")))


@contextmanager
def opened(ctx: click.Context, *, recalls: bool = True) -> Iterator[Parts]:
    """The parts for a verb; without recall's when it `recalls` nothing and must be quick. Raises ConfigError, StoreError."""
    config = loaded(ctx)
    unread = holder(configuration.state_dir(config) / DAEMON) is None
    with (
        asked_by_a_person(),
        open_parts(config, emit=partial(tell_waits, unread=unread), recalls=recalls) as parts,
    ):
        yield parts


def tell_waits(event: Event, /, *, unread: bool = False, **values: object) -> None:
    """A line on standard error for what a person waits for; all other events are told by what the command prints.

    `unread`: no daemon reads the logs meanwhile, so that the end of a turn goes unseen.
    """
    if event == DREAM_WAITS:
        look = "; if it has ended, `dreamd sync` sees it" if unread and values["why"] == "turn" else ""
        _told_beside(f"... waits for {values['what']}; {values['todo']}{look}")
    if event == CALL_RETRIED and float(str(values["pause_s"])) >= WAITS_S:
        _told_beside(
            f"... waits for the upstream: {values['reason']}; asks again in {values['pause_s']:.0f} s"
        )


def _told_beside(line: str) -> None:
    """On a terminal there may be a bar, which draws itself anew."""
    click.echo(f"\r\033[K{line}" if sys.stderr.isatty() else line, err=True)


def alone(parts: Parts, work: Callable[[], T]) -> T:
    """What `work` returns, done while no night runs: both would write the same files. Raises StateLocked."""

    async def done() -> T:
        async with one_night(parts.state, parts.clock):
            return await to_thread.run_sync(work)

    return anyio.run(done)


def agents_of(parts: Parts, agent: str | None) -> list[str]:
    """The named agent, or all enabled ones. Raises UsageError for an unknown name or when none is configured."""
    if agent is not None:
        parts.config.agent(agent)
        return [agent]
    if not parts.config.enabled:
        raise UsageError("no agent is configured", hint="run `dreamd init` to find those on this machine")
    return list(parts.config.enabled)


def agents_kept(parts: Parts, agent: str | None) -> list[str]:
    """As `agents_of`, but for one that is configured no more the pool still answers. Raises UsageError, StoreError."""
    if (
        agent
        and agent not in parts.config.agents
        and any(parts.store.memories(MemoryQuery(agent=agent, limit=1)))
    ):
        return [agent]
    return agents_of(parts, agent)


def local_time(at: datetime, zone: ZoneInfo) -> str:
    """`2026-03-02 10:00 +01:00`, to the minute."""
    local = at.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M} {local.isoformat()[-len('+01:00') :]}"


def some(count: int, thing: str, things: str = "") -> str:
    """`1 log`, `2 logs`; `things` where the plural is no mere s."""
    return f"{count} {thing if count == 1 else things or f'{thing}s'}"


def entries(count: int) -> str:
    """Of MEMORY.md."""
    return some(count, "entry", "entries")


def became(row: LedgerRow) -> str:
    """`done`, `failed (the disk is full)`."""
    by_rule = " by rule" if row.state == "done" and row.reason == NO_LLM else ""
    return f"{row.state}{by_rule}{f' ({row.reason})' if row.reason else ''}"


def print_json(value: object) -> None:
    """One JSON value, UTF-8, indented, with a newline."""
    encoded = msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2)
    sys.stdout.buffer.write(encoded + b"\n")
    sys.stdout.flush()


_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def print_diff(diff: str) -> None:
    """A unified diff; on a terminal green for what comes and red for what goes."""
    for line in diff.splitlines(keepends=True):
        click.secho(line, nl=False, fg=_DIFF_COLOURS.get(line[:1]) if sys.stdout.isatty() else None)


@contextmanager
def progress(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal, nothing elsewhere; call what it yields with the steps done since the last call."""
    if not sys.stderr.isatty():
        yield lambda _steps: None
        return
    with click.progressbar(length=total, label=label, file=sys.stderr) as bar:
        yield bar.update
