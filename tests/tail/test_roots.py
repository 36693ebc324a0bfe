from pathlib import Path

from dreamd.sections import Agent
from dreamd.tail.roots import Roots, roots
from dreamd.tail.sources import places
from tests.tail.house import NumbersFormat


def test_folders_are_watched_deep_or_flat_as_their_pattern_asks(tmp_path: Path) -> None:
    for name in ("deep", "flat", "file"):
        (tmp_path / name).mkdir()
    logs = ("deep", "flat/*.log", "file/x.log", "none/**/*.log")
    where = places(Agent(logs=tuple(str(tmp_path / log) for log in logs)), [NumbersFormat()], tmp_path)
    assert roots(where) == Roots(
        frozenset({str(tmp_path / "deep")}), frozenset({str(tmp_path / "flat"), str(tmp_path / "file")})
    )
