from hypothesis import given
from hypothesis import strategies as st

from dreamd.pool.tokens import cut, estimate


def test_chinese_counts_by_the_character_and_english_by_the_word() -> None:
    assert 10 <= estimate("预算有限每月八百元以内") <= 18
    assert 9 <= estimate("the quick brown fox jumps over the lazy dog") <= 18


@given(st.text(max_size=300), st.text(max_size=300))
def test_more_text_never_costs_less(left: str, right: str) -> None:
    assert estimate(left + right) >= max(estimate(left), estimate(right))


@given(st.text(max_size=300), st.integers(min_value=2, max_value=80))
def test_a_cut_text_fits_and_is_a_head_of_the_original(text: str, budget: int) -> None:
    short = cut(text, budget)
    assert estimate(short.removesuffix("…")) <= budget
    assert text.startswith(short.removesuffix("…")) or short == text
