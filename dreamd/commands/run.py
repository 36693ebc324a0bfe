"""`dreamd run`: the daemon in the foreground, for systemd, a container or a terminal."""

from functools import partial

import anyio
import click

from dreamd.commands._show import loaded
from dreamd.supervisor.life import serve


@click.command("run")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Read the logs as they grow and run the nights, until SIGTERM or Ctrl-C.

    SIGHUP reads the configuration again; one that cannot be used is refused and the old one kept. Events go to
    standard error: JSON, or columns on a terminal (logs.format).
    """
    anyio.run(serve, partial(loaded, ctx))


COMMAND: click.Command = command
