"""What is watched; that it is heard is in test_follower.py."""

from pathlib import Path

import pytest

from dreamd.config import Agent
from dreamd.tail import watcher
from dreamd.tail.sources import places
from dreamd.tail.watcher import Roots, Watcher, roots
from tests.tail.house import NumbersFormat


def test_folders_are_watched_deep_or_flat_as_their_pattern_asks(tmp_path: Path) -> None:
    for name in ("deep", "flat", "file"):
        (tmp_path / name).mkdir()
    logs = ("deep", "flat/*.log", "file/x.log", "none/**/*.log")
    where = places(Agent(logs=tuple(str(tmp_path / log) for log in logs)), [NumbersFormat()], tmp_path)
    assert roots(where) == Roots(
        frozenset({str(tmp_path / "deep")}), frozenset({str(tmp_path / "flat"), str(tmp_path / "file")})
    )


def test_a_folder_that_is_gone_meanwhile_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No path was found"):
        Watcher(Roots(deep=frozenset({str(tmp_path / "none")})))


def test_a_reached_limit_is_never_taken_for_a_forbidden_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bool] = []

    def refuse(
        _paths: object, _debug: object, _poll: object, _delay: object, _deep: object, forgive: bool
    ) -> None:
        tried.append(forgive)
        raise OSError("OS file watch limit reached") if len(tried) == 1 else PermissionError

    monkeypatch.setattr(watcher, "RustNotify", refuse)
    with pytest.raises(OSError, match="limit reached"):
        Watcher(Roots(deep=frozenset({"/x"})))
    assert tried == [False]
    with pytest.raises(PermissionError):
        Watcher(Roots(deep=frozenset({"/x"})))
    assert tried == [False, False, True]
