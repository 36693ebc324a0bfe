from pathlib import Path

from tests.commands.sleeper import Sleeper


def test_a_pin_is_taken_away_again(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    one = cat.json("remember", "I hate red", "--agent", "anna", "--pin")["insight"]["memory_id"]
    assert cat.run("unpin", one).output == "no longer pinned: I hate red\n"
    assert "pinned" not in cat.json("insights")[0]["insight"]
    cat.run("pin", one)
    assert cat.json("unpin", one)["memory_id"] == one
