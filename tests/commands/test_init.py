import tomllib
from pathlib import Path, PurePath
from typing import Literal

import pytest
from click.testing import CliRunner

from dreamd import config
from dreamd.cli import cli
from dreamd.commands.init import found_in, rendered
from dreamd.formats.openclaw import FORMAT as OPENCLAW


class Chat:
    name = "chat"
    label = "chat"
    family: Literal["rows"] = "rows"
    places = (".chat/agents/*/logs/*.jsonl", ".chat/all/**/*.log")

    def claims(self, path: PurePath, head: bytes) -> int:
        return 0


def logs(home: Path, *names: str) -> None:
    for name in names:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("{}\n")


def test_one_agent_a_folder_where_the_star_stands_for_agents(tmp_path: Path) -> None:
    logs(
        tmp_path,
        ".chat/agents/ada/logs/1.jsonl",
        ".chat/agents/bob/logs/1.jsonl",
        ".chat/agents/bob/logs/2.jsonl",
    )
    logs(tmp_path, ".chat/all/deep/er/x.log", ".chat/agents/empty/logs/none.txt")
    agents = found_in(tmp_path, [Chat()])  # type: ignore[list-item]
    assert [(agent.agent, agent.count) for agent in agents] == [("chat", 1), ("chat-ada", 1), ("chat-bob", 2)]


def test_of_several_openclaw_agents_no_two_get_the_same_workspace(tmp_path: Path) -> None:
    for name in ("workspace", "workspace-work"):
        (tmp_path / ".openclaw" / name).mkdir(parents=True)
    logs(tmp_path, ".openclaw/agents/work/sessions/1.jsonl")
    assert [agent.workspace for agent in found_in(tmp_path, [OPENCLAW])] == [
        str(tmp_path / ".openclaw/workspace-work")
    ]
    (tmp_path / ".openclaw/workspace-work").rename(tmp_path / "gone")
    assert [agent.workspace for agent in found_in(tmp_path, [OPENCLAW])] == [
        str(tmp_path / ".openclaw/workspace")
    ]
    logs(tmp_path, *(f".openclaw/agents/{name}/sessions/1.jsonl" for name in ("main", "play")))
    agents = found_in(tmp_path, [OPENCLAW])
    (tmp_path / "config.toml").write_text(rendered(agents, "UTC"))
    loaded = config.load(tmp_path / "config.toml", {})
    assert loaded.agents["openclaw-main"].workspace == str(tmp_path / ".openclaw/workspace")


def test_what_init_writes_loads_and_finds_the_same_logs(tmp_path: Path) -> None:
    logs(tmp_path, '.chat/agents/a"b/logs/1.jsonl', ".chat/agents/ada/logs/1.jsonl")
    agents = found_in(tmp_path, [Chat()])  # type: ignore[list-item]
    (tmp_path / "config.toml").write_text(rendered(agents, "Asia/Shanghai"))
    loaded = config.load(tmp_path / "config.toml", {})
    assert loaded.agents["chat-ada"].logs == (str(tmp_path / ".chat/agents/ada/logs/*.jsonl"),)
    assert loaded.agents["chat-a-b"].logs == (str(tmp_path / '.chat/agents/a"b/logs/*.jsonl'),)
    assert loaded.agents["chat-ada"].zone == "Asia/Shanghai"


def test_init_writes_a_configuration_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    logs(tmp_path, ".claude/projects/-x/1.jsonl")
    target = tmp_path / "sub" / "config.toml"
    first = CliRunner().invoke(cli, ["init", "--output", str(target)])
    assert first.exit_code == 0, first.output
    assert "claude_code" in tomllib.loads(target.read_text())["agents"]
    again = CliRunner().invoke(cli, ["init", "--output", str(target)])
    assert again.exit_code != 0
