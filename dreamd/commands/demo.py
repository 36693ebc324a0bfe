"""`dreamd demo`: three days of two agents in two formats and two languages, slept over in a temporary folder."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from pathlib import Path

import anyio
import click
from msgspec.structs import replace

from dreamd import config as configuration
from dreamd.clock import StillClock
from dreamd.commands._show import json_option, loaded, print_json, some
from dreamd.config import Config
from dreamd.daemon import open_parts
from dreamd.errors import UsageError, WorkspaceError
from dreamd.night.run import run_night
from dreamd.parts import Outcome, Parts
from dreamd.sections import DeepDream, Llm

STORY = Path(__file__).parent.parent / "demo"
DAYS = (date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4))
_CONFIG = """\
[state]
dir = "{home}/state"
[agents.kettle]
logs = ["{home}/logs/kettle"]
workspace = "{home}/kettle"
zone = "Europe/Berlin"
[agents.pantry]
logs = ["{home}/logs/pantry"]
workspace = "{home}/pantry"
zone = "Asia/Shanghai"
"""
AFTER_THE_NIGHT_BEGAN = time(22, 58)  # UTC: 23:58 in Berlin, the next morning in Shanghai


@click.command("demo")
@click.option("--keep", metavar="DIR", help="Use this new folder and keep it.")
@click.option(
    "--scripted", is_flag=True, help="Play replies that were written beforehand instead of asking an LLM."
)
@click.option("--no-llm", is_flag=True, help="Rule-based, even when the configuration names an LLM.")
@json_option
@click.pass_context
def command(ctx: click.Context, keep: str | None, scripted: bool, no_llm: bool, as_json: bool) -> None:
    """A bundled story: two agents, three days, three nights; what is written, and why."""
    llm = _llm(ctx, scripted=scripted, no_llm=no_llm)
    with _folder(keep) as home, open_parts(_config(home, llm), clock=_clock(DAYS[0])) as parts:
        told = [_night(parts, home, day, quiet=as_json) for day in DAYS]
        if as_json:
            print_json({"llm": llm.provider, "folder": keep and str(home), "nights": told})
            return
        _explain(home, llm, kept=keep is not None)


def _llm(ctx: click.Context, *, scripted: bool, no_llm: bool) -> Llm:
    if scripted:
        return Llm(provider="scripted", script=str(STORY / "script.json"))
    return Llm() if no_llm else loaded(ctx).llm


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    if keep is not None:
        yield _made(Path(keep).expanduser().absolute())
        return
    with tempfile.TemporaryDirectory(prefix="dreamd-demo-") as folder_name:
        yield Path(folder_name)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(f"{folder} is there already", hint="name a new folder") from None
    except OSError as error:
        raise WorkspaceError(f"cannot make {folder}: {error.strerror}", hint="name another folder") from error
    return folder


def _config(home: Path, llm: Llm) -> Config:
    """The configuration that is kept with the folder, for two dreamers a night."""
    path = home / "config.toml"
    path.write_text(_CONFIG.format(home=home), encoding="utf-8")
    config = configuration.load(path, {})
    for agent in config.agents.values():
        Path(agent.workspace).mkdir()
    return replace(config, llm=llm, deep_dream=DeepDream(candidates=2))


def _clock(day: date) -> StillClock:
    return StillClock(datetime.combine(day, AFTER_THE_NIGHT_BEGAN, tzinfo=UTC))


def _night(parts: Parts, home: Path, day: date, *, quiet: bool) -> list[Outcome]:
    """The agents live through `day` (their logs grow), then sleep."""
    for agent in parts.config.agents:
        shutil.copytree(STORY / agent / day.isoformat(), home / "logs" / agent / day.isoformat())
    tonight = replace(parts, clock=_clock(day))
    outcomes = anyio.run(run_night, tonight, day)
    if not quiet:
        _tell(home, day, outcomes)
    return outcomes


def _tell(home: Path, day: date, outcomes: Sequence[Outcome]) -> None:
    click.secho(f"\nNight of {day}", bold=True)
    for outcome in outcomes:
        row = outcome.row
        calls = sum(usage.calls for usage in row.usage)
        paid = f", {some(calls, 'LLM call')}" if calls else ""
        reason = f": {row.reason}" if row.reason else ""
        click.echo(f"  {row.agent} {row.phase_name}: {row.state}{paid}{reason}")
        for path in outcome.files:
            click.secho(f"    {path.relative_to(home)}", fg="cyan")
        for told in outcome.insights:
            click.secho(f"    {told}", fg="green")
        for refused in outcome.refused:
            click.secho(f"    refused: {refused}", fg="yellow")
        click.echo("".join(f"      {line[1:]}\n" for line in _added(outcome.diff)), nl=False)


def _added(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]


def _explain(home: Path, llm: Llm, *, kept: bool) -> None:
    click.echo()
    if llm.provider == "none":
        click.echo(
            "No LLM is configured: dailies and dreams above are rule-based, and Deep Dream was skipped."
        )
        click.echo("`dreamd demo --scripted` shows it with replies written beforehand.")
    elif llm.provider == "scripted":
        click.echo(
            "The replies were written beforehand, not by a model; auditing, writing and evidence are real."
        )
    if kept:
        asked = f"dreamd --config {home}/config.toml why {home}/kettle/memory/{DAYS[-1]}.md:4"
        click.echo(f"Kept in {home}. Ask what a line or an insight rests on: {asked}")


COMMAND: click.Command = command
