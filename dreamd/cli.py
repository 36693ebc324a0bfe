"""The command line: finds a command's file, runs it, turns an error into one line and an exit code.

Each command is one file in `commands/` (`deep_dream.py` is `dreamd deep-dream`) ending in `COMMAND: click.Command`;
only the one that is called is loaded.
"""

import sys
from typing import Any

import click

from dreamd import __version__, _plugins
from dreamd.errors import DreamdError


class Commands(click.Group):
    """Loads a command's file when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [name.replace("_", "-") for name in _plugins.names("commands")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        name = cmd_name.replace("-", "_")
        if name not in _plugins.names("commands"):
            return None
        command = _plugins.load("commands", name, "COMMAND")
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, from the files' first lines: loading all commands would take half a second."""
        names = self.list_commands(ctx)
        rows = [
            (name, _plugins.opening("commands", name.replace("-", "_")).partition(": ")[2]) for name in names
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dreamd")
@click.option("--config", "config_path", metavar="FILE", help="Configuration file.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.pass_context
def cli(ctx: click.Context, config_path: str | None, debug: bool) -> None:
    """Sleep for AI agents: reads the session logs they write anyway and keeps their memory."""
    ctx.obj = {"config": config_path, "debug": debug}


def _one_line(error: click.ClickException) -> str:
    """What is off and where to read on."""
    command = getattr(getattr(error, "ctx", None), "command_path", "dreamd")
    says = " ".join(error.format_message().split()).rstrip(".")
    return f"{says[:1].lower()}{says[1:]}; see `{command} --help`"


def main(args: list[str] | None = None) -> Any:
    """Run and exit: 0 done, 1 failed, 2 usage or configuration, 3 held for review."""
    arguments = sys.argv[1:] if args is None else args
    try:
        code = cli.main(arguments, prog_name="dreamd", standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"dreamd: {_one_line(error)}", err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except (DreamdError, OSError) as error:  # of the system's own, such as an output on a full disk
        if "--debug" in arguments:
            sys.excepthook(*sys.exc_info())  # the traceback module would cost every start 5 ms
        click.echo(f"dreamd: {error}", err=True)
        sys.exit(getattr(error, "exit_code", 1))
    sys.exit(code if isinstance(code, int) else 0)
