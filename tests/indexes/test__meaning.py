import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.indexes._meaning import cosine, nearest, packed, signs

NUMBERS = st.lists(st.floats(-1, 1).filter(lambda number: abs(number) > 0.01), min_size=3, max_size=40)


@given(NUMBERS)
def test_a_vector_is_like_itself_and_unlike_its_opposite(numbers: list[float]) -> None:
    assert cosine(numbers, packed(numbers)) == pytest.approx(1, abs=0.02)
    assert cosine([-number for number in numbers], packed(numbers)) == pytest.approx(-1, abs=0.02)


@given(NUMBERS)
def test_signs_take_a_bit_each_and_those_of_the_opposite_differ_everywhere(numbers: list[float]) -> None:
    here, there = (int.from_bytes(signs(each), "big") for each in (numbers, [-number for number in numbers]))
    assert len(signs(numbers)) == -(-len(numbers) // 8)
    assert (here ^ there).bit_count() == len(numbers)


def test_the_nearest_differ_in_the_fewest_signs() -> None:
    assert nearest(b"\xf0", [(5, 0xF1), (6, 0x0F), (7, 0xF0)], 2) == [7, 5]


def test_vectors_of_different_lengths_or_none_are_like_nothing() -> None:
    assert cosine([1.0, 0.0], packed([1.0])) == 0
    assert cosine([0.0], packed([0.0])) == 0
