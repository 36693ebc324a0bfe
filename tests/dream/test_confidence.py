import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream import confidence
from dreamd.dream.promote import Support
from dreamd.records import Trust

COUNTS = st.integers(0, 50)
TRUST = st.sampled_from(Trust)
SHARES = st.floats(0, 1)
SUPPORTS = st.builds(lambda w, t, r: Support(windows=w, tasks=t, records=r), COUNTS, COUNTS, COUNTS)


@pytest.mark.parametrize(
    ("counts", "figure"),
    [((1, 1, 1), 0.5), ((2, 2, 2), 0.6), ((5, 5, 5), 0.75), ((1, 1, 9), 0.5), ((0, 0, 0), 0.3333)],
)
def test_the_figure_is_that_of_the_formula(counts: tuple[int, int, int], figure: float) -> None:
    windows, tasks, records = counts
    found = Support(windows=windows, tasks=tasks, records=records)
    assert confidence.of(found, Trust.HUMAN, contradicted=False) == figure


@given(SUPPORTS, TRUST, st.booleans(), st.floats(0, 100), SHARES)
def test_confidence_is_a_share_below_its_cap(
    found: Support, trust: Trust, contradicted: bool, age: float, cap: float
) -> None:
    assert 0 <= confidence.of(found, trust, contradicted=contradicted, age=age, cap=cap) <= round(cap, 4)


@given(SUPPORTS, COUNTS, COUNTS, COUNTS, TRUST, st.booleans(), SHARES)
def test_more_support_never_makes_less_sure(
    found: Support, windows: int, tasks: int, records: int, trust: Trust, contradicted: bool, cap: float
) -> None:
    more = Support(
        windows=found.windows + windows, tasks=found.tasks + tasks, records=found.records + records
    )
    less = confidence.of(found, trust, contradicted=contradicted, cap=cap)
    assert confidence.of(more, trust, contradicted=contradicted, cap=cap) >= less


@given(SUPPORTS, TRUST, st.floats(0, 10), st.floats(0, 10))
def test_contradiction_distrust_and_age_never_make_surer(
    found: Support, trust: Trust, age: float, more: float
) -> None:
    figure = confidence.of(found, trust, contradicted=False, age=age)
    assert confidence.of(found, trust, contradicted=True, age=age) <= figure
    assert confidence.of(found, Trust.UNTRUSTED, contradicted=False, age=age) <= figure
    assert confidence.of(found, trust, contradicted=False, age=age + more) <= figure
