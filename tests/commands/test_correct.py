from pathlib import Path

from tests.commands.sleeper import Sleeper


def test_an_insight_is_put_right(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    one = cat.json("remember", "I love red", "--agent", "anna")["insight"]["memory_id"]
    told = cat.run("correct", one, "I love blue").output
    assert told.startswith("superseded: I love red\nnow: I love blue\n")
    now = {
        each["insight"]["content"]: each["insight"]["status"]
        for each in cat.json("insights", "--status", "superseded", "--status", "long_term")
    }
    assert now == {"I love red": "superseded", "I love blue": "long_term"}
    new = cat.json("correct", told.split("[")[1].split("]")[0], "I love green")
    assert (new["old"]["content"], new["new"]["content"]) == ("I love blue", "I love green")
