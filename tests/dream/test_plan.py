from hypothesis import given
from hypothesis import strategies as st

from dreamd.dream import plan

SIZES = st.lists(st.integers(1, 50), max_size=80)


@given(SIZES, st.integers(1, 120), st.integers(1, 12))
def test_chunks_are_a_partition_in_order_within_room_and_number(
    sizes: list[int], room: int, most: int
) -> None:
    cut = plan.chunks(sizes, room, most)
    assert [at for part in cut for at in part] == list(range(len(sizes)))
    assert all(1 <= len(part) <= most for part in cut)
    assert all(len(part) == 1 or sum(sizes[at] for at in part) <= room for part in cut)


def test_ten_records_make_three_even_subgroups() -> None:
    assert [len(part) for part in plan.chunks([1] * 10, 100, 4)] == [4, 4, 2]
    assert [len(part) for part in plan.chunks([1] * 9, 100, 8)] == [5, 4]


def test_nothing_makes_no_chunk() -> None:
    assert plan.chunks([], 100, 4) == []


def test_a_few_short_records_go_straight_to_conclusions() -> None:
    assert plan.straight([10] * 8, 100, 4)
    assert not plan.straight([10] * 9, 100, 4)
    assert not plan.straight([60, 60], 100, 4)


@given(st.integers(1, 100_000))
def test_calls_grow_no_faster_than_chunks(leaves: int) -> None:
    assert leaves <= plan.calls(leaves) <= leaves * 4 / 3 + 12


@given(st.lists(st.integers(1, 25), min_size=5, max_size=300))
def test_merging_summaries_of_a_quarter_of_the_room_always_comes_to_an_end(sizes: list[int]) -> None:
    rounds = 0
    while sum(sizes) > 100:
        cut = plan.chunks(sizes, 100, plan.MOST_MERGED)
        assert len(cut) < len(sizes)
        sizes = [25 for _ in cut]  # as large as they can be
        rounds += 1
    assert rounds <= 6
