"""What deploy/ says fits what the program does; acceptance/test_deploy.py tries it for real."""

import configparser
import re
from pathlib import Path

import pytest

from dreamd import config
from dreamd.errors import ConfigError

DEPLOY = Path(__file__).parent.parent / "deploy"
UNITS = ("dreamd.service", "dreamd.user.service")


def unit(name: str) -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(interpolation=None, strict=False)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(DEPLOY / name)
    return parsed


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_waits_for_ready_is_watched_and_gives_up_on_a_bad_configuration(name: str) -> None:
    service = unit(name)["Service"]
    assert (service["Type"], service["WatchdogSec"], service["MemoryMax"]) == ("notify", "60s", "512M")
    assert service["RestartPreventExitStatus"] == str(ConfigError.exit_code)
    assert service["ExecStart"].endswith(" run")


def test_the_user_that_the_system_unit_names_is_made_and_the_persons_unit_names_none() -> None:
    user = unit("dreamd.service")["Service"]["User"]
    made = [
        line.split()[1] for line in (DEPLOY / "dreamd.sysusers").read_text().splitlines() if line[0] != "#"
    ]
    assert made == [user]
    assert "User" not in unit("dreamd.user.service")["Service"]


def test_nothing_is_installed_from_where_it_is_not_published() -> None:
    for path in DEPLOY.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"pip install( --?\w+)* dreamd\b|pypi\.org", text), path


def test_the_compose_file_runs_dreamd_alone_with_a_configuration_that_is_one() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    services = text.partition("\nservices:\n")[2].partition("\nvolumes:\n")[0]
    assert re.findall(r"^  (\w+):$", services, re.MULTILINE) == ["dreamd"]
    named = re.findall(r"^ +(?:# )?(DREAMD_\w+): (.+)$", text, re.MULTILINE)
    values = {name: value.replace("*format", "claude_code").replace("*zone", "UTC") for name, value in named}
    assert config.load(None, values).agents["anna"].workspace == "/workspace"
    for variable in ("AGENT_LOGS", "AGENT_WORKSPACE"):
        assert f"${{{variable}:?" in text
        assert variable in (DEPLOY / "README.md").read_text(encoding="utf-8")
