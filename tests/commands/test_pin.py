from pathlib import Path

from dreamd.errors import NothingToDo
from tests.commands.sleeper import Sleeper


def test_an_insight_is_pinned_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    one = cat.json("remember", "I hate red", "--agent", "anna")["insight"]["memory_id"]
    assert cat.run("pin", one[:8]).output == "pinned: I hate red\n"
    assert isinstance(cat.run("pin", one).exception, NothingToDo)
    assert cat.json("insights")[0]["insight"]["pinned"]
