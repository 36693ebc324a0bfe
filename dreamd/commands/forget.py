"""`dreamd forget`: take something out of all that dreamd keeps and wrote, for good; first what would go."""

import sys

import anyio
import click

from dreamd.commands._show import json_option, opened, print_json, some
from dreamd.errors import UsageError
from dreamd.hand.forget import Forgotten, Going, Plan, Wish, forget, plan_forget
from dreamd.pool.plain import plain

_LONGEST = 200  # characters of a text shown; --json has it all
_WHY = {
    "asked": "",
    "source": ", from which it would be drawn again",
    "copy": ", the same words",
    "rests": ", which rests on it",
}


@click.command("forget")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--matching", default="", metavar="TEXT", help="All that holds this text; capitals do not matter."
)
@click.option("--agent", metavar="ID", help="Of this agent alone.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, ids: tuple[str, ...], matching: str, agent: str | None, yes: bool, as_json: bool
) -> None:
    """Forget memories, and all that rests only on them, so that no byte stays and no log brings them back.

    Shows what would go and asks; without a terminal, and with --json, it only shows unless --yes is given. Of MEMORY.md,
    dailies and diaries only what dreamd wrote goes. The agents' own logs are theirs: dreamd does not touch them.
    """
    with opened(ctx) as parts:
        plan = anyio.run(plan_forget, parts, Wish(ids=ids, matching=matching, agent=agent))
        if not as_json:
            _show(plan)
        if not (yes or _agreed(plan, as_json=as_json)):
            if as_json:
                print_json(plan)
            return
        done = anyio.run(forget, parts, plan)
    if as_json:
        print_json(done)
    else:
        _tell(done)


def _agreed(plan: Plan, *, as_json: bool) -> bool:
    if plan.empty or as_json:
        return False
    if not _asks():
        click.echo("nothing was forgotten: add --yes to do it", err=True)
        return False
    return click.confirm("Forget all this for good?", err=True)


def _asks() -> bool:
    """There is somebody to be asked."""
    return sys.stdin.isatty()


def _show(plan: Plan) -> None:
    if plan.empty:
        raise UsageError("nothing of that is known", hint="`dreamd memories` lists what is")
    for going in plan.memories:
        click.echo(f"- {_memory(going)}{_WHY[going.why]}")
    for line in plan.lines:
        click.echo(f"- {line.file}:{line.line} {_cut(line.text)}")
    for words in plan.elsewhere:
        click.echo(f"- {words}")
    for weak in plan.weakened:
        click.echo(
            f"~ stays, on less evidence, {_status(weak.status)}: {_cut(weak.text)} [{weak.memory_id[:12]}]"
        )
    for line in plan.stays:
        click.echo(f"  stays, for dreamd did not write it: {line.file}:{line.line} {_cut(line.text)}")
    for going in plan.mentions:
        click.echo(f"  stays, though it tells of it: {_memory(going)}")


def _memory(going: Going) -> str:
    what = "record" if going.type == "raw" else going.type
    return f"{what} {going.memory_id[:12]} of {going.agent}: {_cut(going.text)}"


def _status(status: str) -> str:
    return status.replace("_", "-")


def _cut(text: str) -> str:
    line = " ".join(plain(text).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _tell(done: Forgotten) -> None:
    memories, lines = some(done.memories, "memory", "memories"), some(done.lines, "line")
    click.echo(f"forgotten: {memories}, {lines} in {some(len(done.files), 'file')}")


COMMAND: click.Command = command
