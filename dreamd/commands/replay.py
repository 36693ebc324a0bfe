"""`dreamd replay`: what other thresholds would have promoted, without changing anything."""

import click
import msgspec

from dreamd.commands import _show
from dreamd.config import nearest
from dreamd.dream.standing import Replayed, replayed
from dreamd.errors import UsageError
from dreamd.pool.plain import plain
from dreamd.sections import Promote

_MOST_DIGITS = 10


@click.command("replay")
@_show.agent_option
@click.option(
    "--set",
    "settings",
    multiple=True,
    required=True,
    metavar="promote.KEY=VALUE",
    help="A threshold, such as promote.min_tasks=3; may be given again.",
)
@_show.json_option
@click.pass_context
def command(ctx: click.Context, agent: str | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Show which insights other thresholds would promote, or would not have promoted. Changes nothing."""
    with _show.opened(ctx) as parts:
        now = parts.config.promote
        other = with_settings(now, settings)
        found = [
            one
            for agent_id in _show.agents_kept(parts, agent)
            for one in replayed(parts.store, agent_id, now, other)
        ]
    if as_json:
        _show.print_json({"now": now, "other": other, "changes": found})
        return
    for one in found:
        click.echo(told(one))
    if not found:
        click.echo("these thresholds change nothing")


def with_settings(promote: Promote, settings: tuple[str, ...]) -> Promote:
    """Raises UsageError for what is no threshold or no fitting value."""
    values: dict[str, object] = msgspec.structs.asdict(promote)
    for setting in settings:
        key, sign, value = setting.partition("=")
        section, _, name = key.strip().partition(".")
        if not sign or section != "promote" or name not in values:
            known = [f"promote.{one}" for one in values]
            raise UsageError(f"--set {setting}: no threshold of that name", hint=nearest(key.strip(), known))
        values[name] = _count(setting, value.strip())
    return msgspec.convert(values, Promote)


def _count(setting: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < _MOST_DIGITS and int(value)):
        raise UsageError(
            f"--set {setting}: {value or 'nothing'} is no whole number from 1 on", hint="such as 3"
        )
    return int(value)


def told(one: Replayed) -> str:
    insight = one.insight
    verdict = "would be promoted" if one.would_promote else "would not be promoted"
    lacking = f": {'; '.join(one.lacks)}" if one.lacks else ""
    return f"{insight.memory_id[:8]}  {insight.agent}  {verdict}{lacking}\n          {plain(insight.content)}"


COMMAND: click.Command = command
