import json
from pathlib import Path

from click.testing import CliRunner, Result

from dreamd.cli import cli

SMALL = ("--seed", "1", "--days", "12", "--agents", "1", "--language", "en")


def told(tmp_path: Path, *arguments: str) -> Result:
    config = tmp_path / "config.toml"
    config.write_text(f'[state]\ndir = "{tmp_path / "state"}"\n')
    return CliRunner().invoke(
        cli, ["--config", str(config), "eval", *SMALL, *arguments], standalone_mode=False
    )


def test_the_figures_are_told_line_by_line_with_their_goals(tmp_path: Path) -> None:
    done = told(tmp_path)
    assert done.exception is None
    assert "promotion: precision" in done.stdout
    assert ">= 0.95" in done.stdout
    assert not (tmp_path / "state").exists()


def test_as_json_it_is_one_value_with_every_seed_and_what_was_missed(tmp_path: Path) -> None:
    done = told(tmp_path, "--json")
    value = json.loads(done.stdout)
    assert value["seeds"] == [1]
    assert value["by_seed"] == [value["figures"]]
    assert {"precision", "recall"} <= value.keys()
    assert done.return_value == (0 if value["good"] else 1)
