from pathlib import Path

import pytest

from dreamd.commands.replay import with_settings
from dreamd.errors import UsageError
from dreamd.sections import Promote
from tests.commands.sleeper import TABS, TEA, Sleeper


def test_stricter_and_laxer_thresholds_show_what_they_would_change_and_change_nothing(tmp_path: Path) -> None:
    cat = Sleeper(tmp_path)
    cat.lived()
    before = cat.json("insights")
    (strict,) = cat.json("replay", "--set", "promote.min_tasks=3")["changes"]
    assert strict["would_promote"] is False
    assert TABS.rstrip(".") in strict["insight"]["content"]
    lax = [f"--set=promote.{name}=1" for name in ("min_windows", "min_tasks", "min_records")]
    (more,) = cat.json("replay", *lax)["changes"]
    assert more["would_promote"] is True
    assert TEA.rstrip(".") in more["insight"]["content"]
    assert "would not be promoted: " in cat.run("replay", "--set", "promote.min_windows=9").output
    assert "change nothing" in cat.run("replay", "--set", "promote.min_tasks=2").output
    assert cat.json("insights") == before


@pytest.mark.parametrize(
    "setting", ["promote.min_task=3", "decay.archive_below=0", "promote.min_tasks", "min_tasks=3"]
)
def test_what_is_no_threshold_is_refused_with_the_nearest(setting: str) -> None:
    with pytest.raises(UsageError, match="no threshold") as refused:
        with_settings(Promote(), (setting,))
    assert refused.value.hint


@pytest.mark.parametrize("value", ["0", "many", "", "-1", "2.5", "9" * 30, "²"])
def test_a_value_that_cannot_be_is_refused_in_plain_words(value: str) -> None:
    with pytest.raises(UsageError, match=r"^--set promote\.min_tasks=.* is no whole number from 1 on"):
        with_settings(Promote(), (f"promote.min_tasks={value}",))


def test_a_threshold_may_be_set_among_others() -> None:
    assert with_settings(Promote(), ("promote.min_tasks=3", "promote.min_windows = 4")) == Promote(
        min_tasks=3, min_windows=4
    )
