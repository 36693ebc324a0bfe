import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dreamd.cli import cli
from dreamd.commands.demo import STORY
from dreamd.errors import ConfigError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kettle").mkdir()
    (tmp_path / "config.toml").write_text(
        f"""
[state]
dir = "{tmp_path}/state"
[agents.kettle]
format = "claude_code"
logs = ["{STORY}/kettle"]
workspace = "{tmp_path}/kettle"
"""
    )
    monkeypatch.setenv("DREAMD_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path


def findings(*more: str) -> list[dict[str, str]]:
    return json.loads(CliRunner().invoke(cli, ["check", "--json", *more]).output)


def test_a_sound_set_up_has_no_error_and_reads_nothing_into_the_pool(home: Path) -> None:
    done = CliRunner().invoke(cli, ["check"])
    assert done.exit_code == 0, done.output
    assert "records understood" in done.output
    assert json.loads(CliRunner().invoke(cli, ["memories", "--json"]).output) == []


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("DREAMD_AGENTS__KETTLE__WORKSPACE", "/nowhere/kettle", "mkdir -p /nowhere/kettle"),
        ("DREAMD_AGENTS__KETTLE__LOGS", "/nowhere", "correct agents.kettle.logs"),
        ("DREAMD_AGENTS__KETTLE__WORKSPACE", "/dev/null", "set agents.kettle.workspace"),
        ("DREAMD_LLM__PROVIDER", "openai", "set llm.model"),
    ],
)
def test_each_finding_says_what_to_do(
    home: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str, says: str
) -> None:
    monkeypatch.setenv(key, value)
    assert any(says in finding["todo"] for finding in findings())


def test_a_memory_file_that_is_no_text_is_found_before_the_night(home: Path) -> None:
    (home / "kettle" / "MEMORY.md").write_bytes(b"\xff\xfe")
    assert any("not UTF-8" in finding["what"] for finding in findings("--no-llm"))


@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [("DREAMD_LLM__PROVIDER", "opnai", "openai"), ("DREAMD_AGENTS__KETTLE__FORMAT", "clawde", "claude_code")],
)
def test_a_configuration_that_cannot_be_used_is_said_before_anything_is_looked_at(
    home: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str, meant: str
) -> None:
    monkeypatch.setenv(key, value)
    done = CliRunner().invoke(cli, ["check"])
    assert isinstance(done.exception, ConfigError)
    assert meant in done.exception.hint


def test_a_server_that_is_not_there_is_an_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_LLM__PROVIDER", "openai")
    monkeypatch.setenv("DREAMD_LLM__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("DREAMD_LLM__MODEL", "m")
    monkeypatch.setenv("DREAMD_LLM__ATTEMPTS", "1")
    (llm,) = [finding for finding in findings() if finding["about"] == "llm"]
    assert llm["level"] == "error"
    assert findings("--no-llm")[-1]["about"] != "llm"


def test_a_key_that_is_named_and_missing_is_an_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DREAMD_LLM__PROVIDER", "openai")
    monkeypatch.setenv("DREAMD_LLM__MODEL", "m")
    monkeypatch.setenv("DREAMD_LLM__API_KEY_ENV", "NO_SUCH_KEY_HERE")
    (llm,) = [finding for finding in findings() if finding["about"] == "llm"]
    assert llm["level"] == "error"
    assert "NO_SUCH_KEY_HERE" in llm["what"]
