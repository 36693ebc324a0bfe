"""The daemon's life is in acceptance/test_night.py; here is what stops it from beginning."""

from pathlib import Path

from tests.acceptance.house import Home


def test_a_configuration_that_cannot_be_used_ends_it_with_2_and_one_line(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.configure("[nihgt]\nat = '23:00'")
    done = home.run("run")
    assert done.returncode == 2
    assert "did you mean 'night'?" in done.stderr
    assert done.stderr.count("\n") == 1
