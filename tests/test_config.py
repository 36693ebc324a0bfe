import contextlib
import os
import tomllib
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd import config, sections
from dreamd.config import Config
from dreamd.errors import ConfigError
from dreamd.sections import Agent

EXAMPLE = Path(__file__).parent.parent / "config.example.toml"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def plain(value: object) -> object:
    return msgspec.json.decode(msgspec.json.encode(value))


def test_the_example_holds_every_key_with_its_default() -> None:
    tree = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    assert tree == plain(Config(agents={"example": Agent()}))


def test_the_example_loads_as_it_stands() -> None:
    assert config.load(EXAMPLE, {}).agents["example"] == Agent()


def test_nothing_configured_is_all_defaults() -> None:
    assert config.load(None, {}) == Config()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[nigth]\nat='23:00'", "'nigth' in the top level; did you mean 'night'?"),
        ("[night]\nattt='23:00'", "'attt' in [night]; did you mean 'at'?"),
        ("[agents.a]\nworkspce='x'", "did you mean 'workspace'?"),
        ("[night]\nat='25:00'", "23:55"),
        ("[night]\nat='23:55+02:00'", "local to each agent"),
        ("[night]\njitter_s='soon'", "jitter_s"),
        ("[tail]\nmax_line_bytes=1", ">= 1024"),
        ("[agents.'a b']", "letters, digits"),
        ("[agents.a]\nzone='Mars/Base'", "unknown time zone 'Mars/Base'"),
        ("[deep_dream]\nprotected=['(']", "no regular expression"),
        ("[night", "not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_what_to_do(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        config.load(written(tmp_path, text), {})
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_the_environment_lies_over_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "[night]\nat='22:00'\n[agents.kettle]\nzone='UTC'")
    loaded = config.load(
        path,
        {
            "DREAMD_NIGHT__AT": "21:30",
            "DREAMD_NIGHT__JITTER_S": "10",
            "DREAMD_TAIL__WATCH": "false",
            "DREAMD_AGENTS__KETTLE__ZONE": "Asia/Shanghai",
            "DREAMD_AGENTS__KETTLE__LOGS": os.pathsep.join(["/a", "/b"]),
            "DREAMD_CONFIG": "ignored here",
        },
    )
    assert (loaded.night.at, loaded.night.jitter_s, loaded.tail.watch) == ("21:30", 10.0, False)
    assert config.zone_of(loaded.agents["kettle"]) == ZoneInfo("Asia/Shanghai")
    assert loaded.agents["kettle"].logs == ("/a", "/b")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DREAMD_NIGHT__CATCH_UP_DAYS", "soon", "night.catch_up_days: expected a whole number, got text"),
        ("DREAMD_NIGHT__AT", "99", 'write it as "23:55"'),
        ("DREAMD_LOGS__LEVEL", "loud", "logs.level: 'loud' is not known; known: debug, info, warning, error"),
        ("DREAMD_AGENTS__KETTLE__ZOEN", "UTC", "in [agents.kettle]; did you mean 'zone'?"),
        ("DREAMD_NIGTH__AT", "23:00", "did you mean 'night'?"),
        ("DREAMD_STATE__DIR__DEEP", "x", "'dir' is not a section"),
    ],
)
def test_a_wrong_variable_is_named_itself(tmp_path: Path, name: str, value: str, says: str) -> None:
    path = written(tmp_path, "[state]\ndir='/s'\n[agents.kettle]\nzone='UTC'")
    with pytest.raises(ConfigError) as error:
        config.load(path, {name: value})
    assert str(error.value).startswith(f"${name}: ")
    assert says in str(error.value)


def test_an_agent_whose_id_has_capitals_or_dashes_is_found_by_the_environment(tmp_path: Path) -> None:
    path = written(tmp_path, "[agents.My-Agent]\nzone='UTC'")
    loaded = config.load(path, {"DREAMD_AGENTS__MY_AGENT__ZONE": "Asia/Tokyo"})
    assert list(loaded.agents) == ["My-Agent"]
    assert loaded.agents["My-Agent"].zone == "Asia/Tokyo"


def test_a_named_configuration_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="dreamd init"):
        config.find(str(tmp_path / "none.toml"))


def test_the_state_folder_is_the_configured_one_then_systemds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/dreamd:/other")
    assert config.state_dir(Config()) == Path("/var/lib/dreamd")
    assert config.state_dir(Config(state=config.State(dir=str(tmp_path)))) == tmp_path


def test_an_unknown_agent_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'kettle'"):
        Config(agents={"kettle": Agent()}).agent("ketle")


@given(st.text(max_size=200))
def test_any_text_is_a_configuration_or_a_config_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("c") / "config.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with contextlib.suppress(ConfigError):
        assert isinstance(config.load(path, {}), Config)


def test_a_key_is_read_from_where_it_is_named_without_the_newline(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-file\n")
    assert config.api_key(sections.Llm(), {}) == ""
    assert config.api_key(sections.Llm(api_key_file=str(file)), {}) == "sk-file"
    assert config.api_key(sections.Llm(api_key_env="K"), {"K": " sk-env "}) == "sk-env"


@pytest.mark.parametrize(
    "text", [b"", b" \n", b"sk-one\nsk-two\n", b"sk one", "sk-\u4f60".encode(), b"\xff\xfe"]
)
def test_what_is_no_key_is_named_by_its_place_and_not_shown(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "key"
    file.write_bytes(text)
    with pytest.raises(ConfigError, match=str(file)) as caught:
        config.api_key(sections.Llm(api_key_file=str(file)), {})
    assert "sk" not in str(caught.value).replace(str(file), "")


def test_a_key_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\$NO_KEY is not set"):
        config.api_key(sections.Llm(api_key_env="NO_KEY"), {})
    with pytest.raises(ConfigError, match="cannot read the LLM key"):
        config.api_key(sections.Llm(api_key_file=str(tmp_path / "none")), {})


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ("workspace='{home}/a/../a'", "agents.a.memory_file and agents.b.memory_file are both"),
        ("workspace='{home}/link'\nmemory_file='B.md'", "agents.a.daily_dir and agents.b.daily_dir are both"),
        ("workspace='{home}/b'\ndiary_dir='memory'", "agents.b.daily_dir and agents.b.diary_dir are both"),
        ("workspace='\\u0000'", "is no path"),
    ],
)
def test_agents_that_would_write_the_same_files_are_refused_with_what_to_set(
    tmp_path: Path, second: str, says: str
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    second = second.format(home=tmp_path).replace("'\\u0000'", '"\\u0000"')
    text = f"[agents.a]\nworkspace='{tmp_path}/a'\n[agents.b]\n{second}"
    with pytest.raises(ConfigError) as error:
        config.load(written(tmp_path, text), {})
    assert says in str(error.value)
    assert list(config.load(written(tmp_path, f"{text}\nenabled=false"), {}).agents) == ["a", "b"]


def test_agents_of_one_workspace_may_have_files_of_their_own(tmp_path: Path) -> None:
    text = f"[agents.a]\nworkspace='{tmp_path}'\n[agents.b]\nworkspace='{tmp_path}'\n"
    environ = {
        "DREAMD_AGENTS__B__MEMORY_FILE": "b/MEMORY.md",
        "DREAMD_AGENTS__B__DAILY_DIR": "b",
        "DREAMD_AGENTS__B__DIARY_DIR": "b/dreams",
    }
    assert config.load(written(tmp_path, text), environ).agents["b"].daily_dir == "b"


@pytest.mark.parametrize(
    ("text", "environ", "folder"),
    [
        ("[state]\ndir='/s'\n[nihgt]\nat=1", {}, "/s"),
        ("[state]\ndir='/s'\n[nihgt]", {"DREAMD_STATE__DIR": "/e"}, "/e"),
        ("[state", {}, "/systemd"),
        ("state=1", {}, "/systemd"),
        ("[state]\ndir=1", {}, "/systemd"),
    ],
)
def test_a_broken_configuration_still_tells_where_the_state_is_if_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, environ: dict[str, str], folder: str
) -> None:
    monkeypatch.setenv("STATE_DIRECTORY", "/systemd")
    assert config.state_dir_told(written(tmp_path, text), environ) == Path(folder)
