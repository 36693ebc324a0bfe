"""The SDK's own client at the server: what is offered, what goes wrong and how it is told, who is asked."""

import json
import logging
import signal
import subprocess
import sys
from contextlib import ExitStack
from subprocess import PIPE

import anyio
import pytest
from anyio import to_thread
from click.testing import CliRunner
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, ElicitResult, InputRequiredResult

from dreamd.cli import cli
from dreamd.errors import ConfigError
from dreamd.mcp import serving
from dreamd.mcp.tools import TOOLS, Tool
from tests.acceptance.house import Home
from tests.mcp.house import client_of, talked, text_of

ERAS = ("auto", "legacy")  # the protocol of 2026-07-28, and the handshake before it


@pytest.mark.parametrize("mode", ERAS)
async def test_the_tools_are_offered_with_their_schemas(tmp_path, mode):
    async with talked(tmp_path) as parts, client_of(parts, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["recall", "evidence", "remember", "forget", "status"]
        assert all(tool.input_schema["type"] == "object" for tool in tools)
        assert [tool.name for tool in tools if not tool.annotations.read_only_hint] == ["remember", "forget"]
        assert [tool.name for tool in tools if tool.annotations.destructive_hint] == ["forget"]
        assert "quoted data" in client.instructions


@pytest.mark.parametrize("mode", ERAS)
async def test_status_tells_of_the_pool(tmp_path, mode):
    async with talked(tmp_path, "Hello", "Hi") as parts, client_of(parts, mode=mode) as client:
        assert "anna: 2 records of 1 logs" in text_of(await client.call_tool("status", {}))


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("status", {"colour": "red"}, "unknown field `colour`"),
        ("recall", {}, "missing required field `goal`"),
        ("recall", {"goal": 3}, "Expected `str`, got `int`"),
        ("recall", {"goal": "x", "budget": 10**9}, "`int` <= 32000"),
        ("recall", {"goal": "x", "agent": "nobody"}, "no agent 'nobody'"),
        ("recall", {"goal": "x", "as_of": "yesterday"}, "Invalid RFC3339"),
        ("recall", {"goal": "x", "as_of": "0001-01-01"}, "years 1970 to 9000"),
        ("recall", {"goal": "x", "as_of": "9999-12-31"}, "years 1970 to 9000"),
        ("evidence", {"what": "a\0b:1"}, "matching regex"),
        ("evidence", {"what": "~nobody-of-that-name/MEMORY.md:1"}, "is no agent's MEMORY.md"),
        ("evidence", {"what": "/dev/zero:1"}, "is no agent's MEMORY.md"),
        ("evidence", {"what": "/nowhere:1"}, "is no agent's MEMORY.md"),
        ("remember", {"text": "x", "agent": "../.."}, "no agent"),
    ],
)
async def test_arguments_that_do_not_fit_are_told_in_one_line(tmp_path, mode, name, arguments, told):
    async with talked(tmp_path) as parts, client_of(parts, mode=mode) as client:
        text = text_of(await client.call_tool(name, arguments), failed=True)
        assert told in text
        assert "\n" not in text


@pytest.mark.parametrize("mode", ERAS)
async def test_an_unknown_tool_is_refused(tmp_path, mode):
    async with talked(tmp_path) as parts, client_of(parts, mode=mode) as client:
        with pytest.raises(MCPError, match="no tool of that name; known: recall"):
            await client.call_tool("shell", {"command": "rm"})


@pytest.mark.parametrize("mode", ERAS)
async def test_a_bug_is_told_by_its_class_and_never_in_the_words_of_a_log(tmp_path, monkeypatch, capfd, mode):
    async def broken(_call, _arguments):
        raise KeyError("a secret of the log")

    tool = Tool(name="status", title="", description="", arguments=TOOLS[-1].arguments, run=broken)
    monkeypatch.setattr(serving, "TOOLS", (tool,))
    async with talked(tmp_path) as parts, client_of(parts, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("status", {})
    assert "a bug in dreamd: KeyError" in str(raised.value)
    assert "secret" not in str(raised.value) + "".join(capfd.readouterr())


@pytest.mark.parametrize("mode", ERAS)
async def test_resources_are_the_memory_and_the_diary(tmp_path, mode):
    async with talked(tmp_path) as parts, client_of(parts, mode=mode) as client:
        assert (await client.list_resources()).resources == []
        await to_thread.run_sync((tmp_path / "work/MEMORY.md").write_text, "- I hate red\n")
        (found,) = (await client.list_resources(cache_mode="refresh")).resources
        (content,) = (await client.read_resource(found.uri)).contents
        assert (found.uri, content.text) == ("dreamd://anna/MEMORY.md", "- I hate red\n")
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("dreamd://anna/../../config.toml")


def asking(monkeypatch):
    """A tool that does nothing but ask the person."""

    async def ask(call, _arguments):
        return f"answer: {await call.ask('Shall I?')}"

    tool = Tool(name="ask", title="", description="", arguments=TOOLS[-1].arguments, run=ask)
    monkeypatch.setattr(serving, "TOOLS", (tool,))


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(("action", "answer"), [("accept", True), ("decline", False), ("cancel", False)])
async def test_the_person_is_asked_where_the_client_can(tmp_path, monkeypatch, mode, action, answer):
    asking(monkeypatch)
    questions = []

    async def person(_context, params):
        questions.append(params.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    async with talked(tmp_path) as parts, client_of(parts, mode=mode, elicitation_callback=person) as client:
        assert text_of(await client.call_tool("ask", {})) == f"answer: {answer}"
    assert questions == ["Shall I?"]


async def test_a_yes_to_another_question_is_none(tmp_path, monkeypatch):
    asking(monkeypatch)
    async with talked(tmp_path) as parts, client_of(parts, elicitation_callback=never) as client:
        yes = {"confirm": ElicitResult(action="accept", content={})}
        for state in (None, "0" * 64):
            params = CallToolRequestParams(name="ask", arguments={}, input_responses=yes, request_state=state)
            told = await client.session.send_request(CallToolRequest(params=params), InputRequiredResult)
            assert told.request_state != state


async def never(_context, _params):
    raise AssertionError


@pytest.mark.parametrize("mode", ERAS)
async def test_where_the_client_cannot_ask_there_is_no_answer(tmp_path, monkeypatch, mode):
    asking(monkeypatch)
    async with talked(tmp_path) as parts, client_of(parts, mode=mode) as client:
        assert text_of(await client.call_tool("ask", {})) == "answer: None"


async def test_many_calls_at_once_are_all_answered(tmp_path):
    async with talked(tmp_path, "Hello", "Hi") as parts, client_of(parts) as client:
        answers = []

        async def call():
            answers.append(text_of(await client.call_tool("status", {})))

        async with anyio.create_task_group() as calls:
            for _ in range(50):
                calls.start_soon(call)
        assert len(answers) == 50


def run_beside(home):
    return StdioServerParameters(
        command=sys.executable, args=["-m", "dreamd", "--config", str(home.config), "mcp", "--agent", "anna"]
    )


async def test_the_command_speaks_over_standard_input_and_output(tmp_path):
    home = await to_thread.run_sync(Home, tmp_path)
    async with Client(await to_thread.run_sync(run_beside, home)) as client:
        assert "daemon: not running" in text_of(await client.call_tool("status", {}))


def test_garbage_on_the_wire_ends_nothing_while_its_end_or_an_interrupt_ends_the_command(tmp_path):
    parameters = run_beside(Home(tmp_path))
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    garbage = ["not json", "[]", '{"jsonrpc":"2.0"}', "[" * 100_000, '"\\ud800"', ping]
    with ExitStack() as ends:
        one, other = both = [
            ends.enter_context(
                subprocess.Popen(
                    [parameters.command, *parameters.args], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True
                )
            )
            for _ in range(2)
        ]
        for process in both:
            print(*garbage, sep="\n", file=process.stdin, flush=True)
        for process in both:
            assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        other.send_signal(signal.SIGINT)
        assert other.wait(30) == -signal.SIGINT
        rest, complaints = one.communicate()
    assert (one.returncode, rest) == (0, "")
    assert "Traceback" not in complaints


def test_an_unknown_agent_is_refused_before_anything_is_served(tmp_path):
    result = CliRunner().invoke(
        cli, ["--config", str(Home(tmp_path).config), "mcp", "--agent", "ann"], standalone_mode=False
    )
    assert result.stdout == ""
    assert isinstance(result.exception, ConfigError)
    assert "did you mean 'anna'?" in str(result.exception)


def test_the_sdks_own_log_is_silent_since_it_may_quote():
    assert not logging.getLogger("mcp.server.runner").isEnabledFor(logging.CRITICAL)
    assert CallToolRequestParams(name="x").input_responses is None
