from pathlib import Path

import pytest

from dreamd.commands.dream import Bar, told
from dreamd.dream.decide import Shift
from dreamd.dream.phase import Counts, Dreamt
from dreamd.stores.base import LedgerRow, Usage
from tests.commands.sleeper import AGAIN, MONDAY, TABS, TEA, Sleeper


def test_it_reads_the_logs_dreams_and_says_what_became_of_what(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.says(0, TABS, TEA)
    cat.says(1, AGAIN)
    output = cat.run("dream").output
    assert output.startswith("anna: 6 records: 2 new, 1 promoted (no LLM is configured)\n")
    assert "new long-term" in output
    assert "new candidate" in output
    assert cat.run("dream").output == "anna: nothing new to dream of\n"


def test_a_dry_run_reads_no_logs_and_changes_nothing(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.says(0, TABS)
    assert "nothing new" in cat.run("dream", "--dry-run").output
    cat.run("sync")
    assert "dry run: nothing is written" in cat.run("dream", "--dry-run").output
    assert cat.json("insights") == []


def test_dreaming_of_all_again_doubles_nothing(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.lived()
    before = cat.json("insights")
    (again,) = cat.json("dream", "--force")
    assert (again["counts"]["records"], again["counts"]["new"]) == (6, 0)
    assert cat.json("insights") == before


def test_where_dreams_are_off_it_says_so_and_dreams_all_the_same(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.home.configure("[dream]\nenabled = false\n")
    cat.says(0, TABS)
    done = cat.run("dream")
    assert "1 new" in done.output
    assert "dream.enabled is false" in done.stderr
    assert "dream.enabled" not in cat.run("dream", "--json").stdout


def test_words_of_the_moment_are_counted_and_not_listed(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.says(0, "hurry up please")
    output = cat.run("dream").output
    assert "1 word of the moment put away until said again" in output
    assert "hurry" not in output
    (away,) = cat.json("insights", "--status", "archived")
    assert away["lacks"]


def test_what_calls_cost_is_said() -> None:
    row = LedgerRow(agent="anna", day=MONDAY.date(), phase="dream", state="done")
    spent = (Usage("distil", 3, 1000, 200), Usage("score", 1, 50, 5))
    dreamt = Dreamt(row=row, counts=Counts(records=1, new=1), spent=spent)
    assert told(dreamt) == "1 record: 1 new; 4 LLM calls, 1050 + 205 tokens"


def test_an_insight_that_changed_is_one_line() -> None:
    shift = Shift(
        memory_id="i" * 32,
        statement="It is\nso",
        before="candidate",
        after="long_term",
        confidence=0.7,
        records=2,
    )
    assert shift.told == "^ candidate -> long-term iiiiiiii  It is so"


def test_the_bar_shows_nothing_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar("anna") as bar:
        bar(0, 2)
        bar(2, 2)
    assert capsys.readouterr() == ("", "")
