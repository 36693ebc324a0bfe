from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream.odds import OF_ONE, linked, within

SIDES = st.sampled_from([f"i{number}" for number in range(9)])
PAIRS = st.lists(st.tuples(SIDES, SIDES).filter(lambda pair: pair[0] < pair[1]), unique=True)


@given(PAIRS, st.integers(0, 12))
def test_no_more_than_so_many_are_linked_and_few_of_one_insight(
    pairs: list[tuple[str, str]], most: int
) -> None:
    chosen = within(pairs, most)
    assert chosen <= set(pairs)
    assert len(chosen) <= most
    assert all(
        sum(side in pair for pair in chosen) <= OF_ONE for side in {one for pair in pairs for one in pair}
    )


@given(PAIRS)
def test_the_first_are_taken_and_few_are_all_taken(pairs: list[tuple[str, str]]) -> None:
    assert pairs[:1] == [] or pairs[0] in within(pairs, 1)
    assert within(pairs[:OF_ONE], OF_ONE) == frozenset(pairs[:OF_ONE])


def test_what_was_said_is_linked_by_what_is_the_same_in_turn() -> None:
    said = ["Please keep your answers short.", "I like red."]
    assert linked("I prefer short answers", said, 0.5) == ("I prefer short answers", said[0])
