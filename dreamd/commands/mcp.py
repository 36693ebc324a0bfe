"""`dreamd mcp`: serves recall and the rest to an agent over MCP, on standard input and output."""

import signal

import anyio
import click

from dreamd.commands._show import opened
from dreamd.mcp.serving import stdio


@click.command("mcp")
@click.option(
    "--agent", metavar="ID", default="", help="The agent that asks; its memory is the default of every tool."
)
@click.pass_context
def command(ctx: click.Context, agent: str) -> None:
    """Serve an agent's MCP client. The agent starts this itself, e.g. `claude mcp add dreamd -- dreamd mcp --agent ID`.

    It works whether or not `dreamd run` does, and ends with the client.
    """
    with opened(ctx) as parts:
        if agent:
            parts.config.agent(agent)
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # ends at once; otherwise a thread would read on to the next line
        anyio.run(stdio, parts, agent)


COMMAND: click.Command = command
