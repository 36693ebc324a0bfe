"""`dreamd why`: what an insight, a line of MEMORY.md or of a daily rests on, down to the log."""

import anyio
import click

from dreamd.clock import to_the_minute
from dreamd.commands._show import json_option, opened, print_json
from dreamd.hand.evidence import Node, evidence
from dreamd.pool.plain import plain

_LONGEST_QUOTE = 400  # characters; --json has it all


@click.command("why")
@click.argument("what", metavar="FILE:LINE|MEMORY_ID")
@json_option
@click.pass_context
def command(ctx: click.Context, what: str, as_json: bool) -> None:
    """Show what a line rests on: the daily lines and log records, quoted, with path and byte offset.

    FILE is a MEMORY.md, a daily or a diary; of a memory's id, as `dreamd memories` lists it, the beginning is enough.

    Each record is looked up in its log: "verified" means that the very bytes are still there; otherwise the pool's
    copy is quoted. Of an insight it says what it still lacks to be believed for good, and what contradicts it.
    """
    with opened(ctx) as parts:
        node = anyio.run(evidence, parts, what)
    if as_json:
        print_json(node)
    else:
        show(node)


def show(node: Node, depth: int = 0) -> None:
    """The tree as indented lines: the quote, then where it stands."""
    indent = "  " * depth
    quote = " ".join(plain(node.text).split())
    cut = quote if len(quote) <= _LONGEST_QUOTE else f"{quote[:_LONGEST_QUOTE]}…"
    who = f"{node.role}: " if node.role else ""
    click.echo(f"{indent}{who}{cut}" if cut else f"{indent}({node.memory_id})")
    told = ", ".join(part for part in (_where(node), _state(node), node.note) if part)
    if told:
        click.echo(f"{indent}  [{told}]")
    for sentence in node.lacks:
        click.echo(f"{indent}  lacks: {plain(sentence)}")
    for sentence in node.against:
        click.echo(f"{indent}  against it: {plain(sentence)}")
    for child in node.rests_on:
        show(child, depth + 1)


def _where(node: Node) -> str:
    if node.kind == "record":
        place = f"table {node.table} row {node.row}" if node.table else f"byte {node.offset} +{node.length}"
        at = f", {to_the_minute(node.at)}" if node.at else ""
        if node.standing == "told":
            return at.removeprefix(", ")
        return f"{node.file or 'log unknown'} {place}{at}"
    if node.kind == "insight":
        sure = f", confidence {node.confidence:.2f}" if node.confidence is not None else ""
        return f"{node.status.replace('_', '-')} insight {node.memory_id}{sure}"
    if node.kind == "summary":
        return f"summary of a dream, {node.memory_id}"
    return f"{node.file}:{node.line}" if node.file and node.line else node.file


def _state(node: Node) -> str:
    copy = "this is the archive's copy" if node.archived else "this is the pool's copy"
    words = {
        "verified": "verified",
        "changed": f"the log was rewritten since; {copy}",
        "gone": f"the log is gone; {copy}",
        "told": "told to dreamd directly",
    }
    return words.get(node.standing, "")


COMMAND: click.Command = command
