from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.tokens import estimate
from dreamd.recall.packing import Items, packed

LINES = st.lists(
    st.text("ab 预算-!", min_size=1, max_size=120).map(lambda text: f"- {text.strip()}"), max_size=20
)


def items(lines: list[str]) -> Items[str]:
    return Items(lines, lambda line: line)


@given(LINES, LINES, LINES, st.integers(20, 600), st.floats(0, 1))
def test_nothing_exceeds_the_budget_and_the_standing_ones_not_their_share(
    bearing: list[str], standing: list[str], records: list[str], budget: int, share: float
) -> None:
    found = packed(items(bearing), items(standing), items(records), budget=budget, share=share, tongue="en")
    assert found.tokens == estimate(found.text) <= max(budget, 0)
    assert sum(estimate(standing[place]) for place in found.standing) <= budget * share
    told = [*(bearing[place] for place in found.bearing), *(standing[place] for place in found.standing), *(records[place] for place in found.records)]  # fmt: skip
    assert found.text.split("\n")[1:-1] == told or not told


def test_conclusions_leave_room_for_records_and_take_what_is_left() -> None:
    many = [f"- conclusion number {number} of a usual length" for number in range(40)]
    few = ["- one record"]
    found = packed(items(many), items([]), items(few), budget=400, share=0.25, tongue="en")
    assert found.records == (0,)
    assert 400 - found.tokens < 4 * estimate(many[0])
    with_records = packed(items(many), items([]), items(many), budget=400, share=0.25, tongue="en")
    assert len(with_records.records) >= 4


def test_a_long_line_is_passed_over_for_a_shorter_one() -> None:
    found = packed(
        items(["- " + "long " * 300, "- short"]), items([]), items([]), budget=100, share=0.25, tongue="en"
    )
    assert found.bearing == (1,)


def test_lines_that_cannot_fit_are_never_made() -> None:
    made = []
    lines = Items(list(range(1000)), lambda number: made.append(number) or f"- line {number} of some length")
    packed(lines, items([]), items([]), budget=100, share=0.25, tongue="en")
    assert len(made) < 20
