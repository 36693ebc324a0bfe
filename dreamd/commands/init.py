"""`dreamd init`: finds the agents of this machine by their logs and writes a configuration one can keep."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import click
from msgspec import Struct

from dreamd import _plugins, files
from dreamd import config as configuration
from dreamd.commands._show import json_option, print_json
from dreamd.errors import UsageError, WorkspaceError
from dreamd.formats.base import Format
from dreamd.places import own as own_folder


class Found(Struct, frozen=True, kw_only=True):
    """An agent met on this machine: its logs as globs, how many there are, and where its memory would live."""

    agent: str
    format: str
    logs: tuple[str, ...]
    count: int
    workspace: str


def found_in(home: Path, formats: Iterable[Format]) -> list[Found]:
    """The agents whose logs lie in their formats' usual places under `home`, by name."""
    places: dict[tuple[str, str], dict[str, int]] = {}
    for one in formats:
        for place in one.places:
            for agent, glob, count in _agents_at(home, place, one.label):
                places.setdefault((agent, one.label), {})[glob] = count
    return [
        Found(
            agent=agent,
            format=label,
            logs=tuple(globs),
            count=sum(globs.values()),
            workspace=_workspace(home, agent, label, sole=sum(kind == label for _, kind in places) == 1),
        )
        for (agent, label), globs in sorted(places.items())
    ]


def _agents_at(home: Path, place: str, label: str) -> Iterable[tuple[str, str, int]]:
    """(agent id, glob, number of logs): one agent a place, or one a folder where a single `*` stands for agents."""
    folder, star, rest = place.partition("/*/")
    if not star:
        count = sum(1 for _ in home.glob(place))
        return [(label, str(home / place), count)] if count else []
    many = [(path, sum(1 for _ in path.glob(rest))) for path in sorted((home / folder).glob("*"))]
    return [(_agent_id(f"{label}-{path.name}"), str(path / rest), count) for path, count in many if count]


def _agent_id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)[:64]


def _workspace(home: Path, agent: str, label: str, *, sole: bool) -> str:
    """Where the agent itself keeps its memory, if it does and the folder is there; else a folder of dreamd's own.

    Of several OpenClaw agents each has a workspace with its name, and the main one that without.
    """
    own = {
        "openclaw": [home / f".openclaw/workspace-{agent.removeprefix('openclaw-')}"],
        "cowagent": [home / "cow"],
    }
    if sole or agent == "openclaw-main":
        own["openclaw"].append(home / ".openclaw/workspace")
    found = next((folder for folder in own.get(label, ()) if folder.is_dir()), None)
    return str(found or own_folder("data") / agent)


_EXAMPLE = """
# [agents.example]            # one section an agent; its id is yours to choose
# format = "trace"            # claude_code, codex, openclaw, cowagent, openai_chat, trace
# logs = ["/path/to/logs"]
# workspace = "/path/to/workspace"
"""


def rendered(agents: Sequence[Found], zone: str) -> str:
    """The configuration as TOML; with an example to fill in when no agent was found."""
    head = """\
# dreamd's configuration, written by `dreamd init`. config.example.toml shows every key.

[llm]
provider = "none"           # "openai" (any compatible server) or "anthropic"; without one the summaries are rule-based
# base_url = "http://127.0.0.1:11434/v1"
# model = ""
# api_key_env = "OPENAI_API_KEY"
"""
    return head + ("".join(_section(agent, zone) for agent in agents) or _EXAMPLE)


def _section(agent: Found, zone: str) -> str:
    logs = ", ".join(_quoted(log) for log in agent.logs)
    return f"""
[agents.{_quoted(agent.agent)}]  # {agent.count} logs found
format = {_quoted(agent.format)}
logs = [{logs}]
workspace = {_quoted(agent.workspace)}
zone = {_quoted(zone)}
language = "auto"
"""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _write(path: Path, text: str, agents: Sequence[Found], *, force: bool) -> None:
    """The configuration, and the folders it names for memories."""
    if path.exists() and not force:
        raise UsageError(f"{path} is there already", hint="choose another --output, or --force to replace it")
    for folder in (path.parent, *(Path(agent.workspace) for agent in agents)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WorkspaceError(f"cannot make {folder}: {error.strerror}", hint="choose another") from error
    files.replace(path, text, root=path.parent)


@click.command("init")
@click.option("--output", metavar="FILE", help="Where to write it. Default: the user's configuration file.")
@click.option("--force", is_flag=True, help="Replace a configuration that is there.")
@click.option("--dry-run", is_flag=True, help="Print it, write nothing.")
@json_option
@click.pass_context
def command(ctx: click.Context, output: str | None, force: bool, dry_run: bool, as_json: bool) -> None:
    """Find the agents of this machine and write a configuration."""
    named = output or (ctx.obj or {}).get("config")
    path = Path(named).expanduser() if named else own_folder("config") / "config.toml"
    formats = [cast("Format", _plugins.load("formats", name, "FORMAT")) for name in _plugins.names("formats")]
    agents = found_in(Path.home(), formats)
    text = rendered(agents, configuration.local_zone_name())
    if not dry_run:
        _write(path, text, agents, force=force)
    if as_json:
        print_json({"config": None if dry_run else str(path), "agents": agents})
    elif dry_run:
        click.echo(text, nl=False)
    else:
        _tell(path, agents)


def _tell(path: Path, agents: Sequence[Found]) -> None:
    for agent in agents:
        click.echo(f"{agent.agent}: {agent.count} logs, format {agent.format}, memory in {agent.workspace}")
    if not agents:
        click.echo(f"No agent's logs were found in the usual places: name yours in {path}.")
    click.echo(f"Written: {path}. Next: dreamd check")


COMMAND: click.Command = command
