import json
from pathlib import Path

import click
import pytest

from dreamd.errors import ConfigError, UsageError
from tests.commands.dreamer import Dreamer


@pytest.fixture
def dreamer(tmp_path: Path) -> Dreamer:
    return Dreamer(tmp_path)


def test_a_goal_brings_what_was_said_about_it(dreamer: Dreamer) -> None:
    told = dreamer.run("recall", "where is the shop?")
    assert told.exit_code == 0
    assert "the shop moved to Berlin" in told.output
    assert told.output.startswith("<memories>")


def test_json_has_all_of_it(dreamer: Dreamer) -> None:
    answer = json.loads(dreamer.run("recall", "shop", "--agent", "cat", "--budget", "200", "--json").output)
    assert (answer["goal"], answer["records"][0]["agent"]) == ("shop", "cat")
    assert 0 < answer["tokens"] <= 200


@pytest.mark.parametrize(("then", "known"), [("2026-03-01", False), ("2026-03-02", True), ("2026-03-02T08:00", False),
                                             ("2026-03-02T12:00+02:00", True)])  # fmt: skip
def test_memory_answers_as_things_stood(dreamer: Dreamer, then: str, *, known: bool) -> None:
    told = dreamer.run("recall", "shop", "--as-of", then).output
    assert ("Berlin" in told) is known
    assert ("nothing in memory" in told) is not known


@pytest.mark.parametrize("words", [("--as-of", "soon"), ("--agent", "dog"), ("--budget", "3")])
def test_what_is_off_is_one_line(dreamer: Dreamer, words: tuple[str, ...]) -> None:
    assert isinstance(
        dreamer.run("recall", "shop", *words).exception, (UsageError, ConfigError, click.UsageError)
    )
