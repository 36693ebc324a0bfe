import re
from pathlib import Path

from tests.commands.dreamer import Dreamer


def test_the_versions_are_listed_newest_first(tmp_path: Path) -> None:
    cat = Dreamer(tmp_path)
    assert "cat: no versions yet" in cat.run("history").output
    cat.dreamt()
    lines = cat.run("history").output.splitlines()
    assert "dreamt, night of 2026-03-02, 2 entries" in lines[1]
    assert "found as it was, 1 entry" in lines[2]
    assert "UTC" not in lines[1]
    assert re.match(r"  +2  \d{4}-\d\d-\d\d \d\d:\d\d \+00:00  dreamt", lines[1])
    assert [version["author"] for version in cat.json("history", "--agent", "cat")] == ["dreamd", "found"]
