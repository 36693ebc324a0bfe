from dreamd.eval.measure import Figures, Miss
from dreamd.eval.report import good, lines, precision, recall, rows

GOOD = Figures(
    records=2000, planted=400, insights=30, promoted=20, right=20, wanted=20, found=19, exact_wanted=9, exact_found=9,
    opposed=2, both_sides=2, linked=2, corrected=1, superseded=1, references=60, resolved=60, calls=4, tokens=9000,
)  # fmt: skip


def values(figures: Figures) -> dict[str, str]:
    return {row.label: row.value for row in rows(figures)}


def test_precision_and_recall_of_nothing_are_one() -> None:
    assert precision(Figures()) == recall(Figures()) == 1.0
    assert (precision(GOOD), recall(GOOD)) == (1.0, 0.95)


def test_every_figure_is_told_with_what_it_is_counted_from() -> None:
    told = values(GOOD)
    assert told["promotion: recall"] == "0.950 (19 of 20)"
    assert told["LLM calls per 1,000 records"] == "2.0"
    assert told["LLM tokens per 1,000 records"] == "4,500"
    assert good(GOOD)


def test_a_sort_that_was_merged_with_another_counts_for_both() -> None:
    told = values(Figures(wrong_by_sort={"copy+filler": 2, "burst": 1}))
    assert told["promoted: copies"] == told["promoted: work and small talk"] == "2"
    assert told["promoted: one-off bursts"] == "1"


def test_what_misses_its_goal_is_marked_and_what_went_wrong_is_told_to_a_bound() -> None:
    misses = tuple(Miss("not promoted", f"p{number}", "tea") for number in range(20))
    told = list(lines(Figures(wanted=20, found=0, misses=misses)))
    assert next(line for line in told if line.startswith("-")).startswith("- promotion: recall")
    assert "    not promoted: tea (p0)" in told
    assert told[-1] == "    and 8 more: --json shows all"
