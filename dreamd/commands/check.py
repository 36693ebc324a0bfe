"""`dreamd check`: configuration, paths, permissions, logs, sockets, limits, LLM; each finding with what to do."""

import anyio
import click

from dreamd.check import Finding, of_agents, of_gate, of_llm, of_state
from dreamd.commands._show import json_option, opened, print_json
from dreamd.daemon import empty_store
from dreamd.gateway.checking import of_gateway
from dreamd.http.checking import of_http

_MARK = {"ok": ("ok     ", "green"), "warning": ("warning", "yellow"), "error": ("error  ", "red")}


@click.command("check")
@click.option("--no-llm", is_flag=True, help="Do not call the LLM.")
@json_option
@click.pass_context
def command(ctx: click.Context, no_llm: bool, as_json: bool) -> int:
    """Look for what stands in the way, and say what to do. Exits with 1 when there is an error."""
    with opened(ctx) as parts:
        findings = [*of_state(parts), *of_agents(parts, empty_store), *of_http(parts), *of_gate(parts)]
        findings += anyio.run(of_gateway, parts)
        if not no_llm:
            findings.append(anyio.run(of_llm, parts))
    if as_json:
        print_json(findings)
    else:
        _print(findings)
    return 1 if any(finding.level == "error" for finding in findings) else 0


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        mark, colour = _MARK[finding.level]
        todo = f"; {finding.todo}" if finding.todo else ""
        click.echo(f"{click.style(mark, fg=colour)}  {finding.about}: {finding.what}{todo}")


COMMAND: click.Command = command
