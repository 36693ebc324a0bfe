"""The rules of the supervisor; its life as a process is in acceptance/test_night.py."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from dreamd.config import Config, load
from dreamd.errors import ConfigError
from dreamd.sections import Agent, Llm, State
from dreamd.supervisor.life import _usable, _warn
from tests.acceptance.house import Home
from tests.night.conftest import House, house  # noqa: F401 - a fixture

Build = Callable[..., House]


def test_no_agents_and_a_workspace_that_is_not_there_are_warned_of_in_the_log(house: Build) -> None:  # noqa: F811
    home = house("anna", "bert")
    (home.root / "bert").rename(home.root / "gone")
    _warn(home.parts)
    assert [line["agent"] for line in home.told.named("workspace.missing")] == ["bert"]
    assert home.told.named("agents.missing") == []
    _warn(replace(home.parts, config=Config()))
    assert "dreamd init" in str(home.told.named("agents.missing"))


def test_a_configuration_that_moves_the_state_or_names_no_provider_is_not_usable(tmp_path: Path) -> None:
    state = tmp_path / "state"
    good = Config(state=State(dir=str(state)))
    assert _usable(lambda: good, state) is good
    with pytest.raises(ConfigError, match=r"state\.dir"):
        _usable(lambda: Config(state=State(dir=str(tmp_path / "other"))), state)
    with pytest.raises(ConfigError, match="slumber"):
        _usable(lambda: replace(good, llm=Llm(provider="slumber")), state)
    with pytest.raises(ConfigError, match=r"agents\.anna\.format.*did you mean 'codex'"):
        _usable(lambda: replace(good, agents={"anna": Agent(format="kodex")}), state)
    home = Home(tmp_path)
    home.configure('[night]\nat = "never"')
    with pytest.raises(ConfigError, match=r"night\.at"):
        _usable(lambda: load(home.config), state)
