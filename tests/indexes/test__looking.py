from collections.abc import Iterator

import pytest

from dreamd.indexes.base import Index, rarity
from dreamd.indexes.sqlite import OPEN
from tests.indexes.filling import entry, put, seqs

COUNT = 12_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """`every` stands in all, `third` in every third, `half` in the older half, `old` in the oldest and `rare` in ten."""
    index = OPEN(tmp_path_factory.mktemp("large"))
    put(
        index,
        *(
            entry(
                seq,
                f"every w{seq} {'third ' * (seq % 3 == 0)}{'half ' * (seq <= COUNT // 2)}{'old ' * (seq == 1)}{'rare' * (seq % 1200 == 0)}",
            )
            for seq in range(1, COUNT + 1)
        ),
    )
    yield index
    index.close()


def test_a_rare_term_is_found_however_old(large: Index) -> None:
    assert seqs(large, "old") == {1}
    assert seqs(large, "every old") >= {1}
    assert seqs(large, "rare", most=99) == {number * 1200 for number in range(1, 11)}


def test_how_common_a_term_is_follows_from_how_far_back_its_newest_reach(large: Index) -> None:
    found = large.search(["every", "third", "rare", "none"], ["ada"], conclusions=False, most=5)
    every, third, rare, none = found.frequencies
    assert every == pytest.approx(COUNT, rel=0.05)
    assert third == pytest.approx(COUNT / 3, rel=0.05)
    assert (rare, none) == (10, 0)


def test_of_a_common_term_the_newest_are_found(large: Index) -> None:
    assert seqs(large, "every", most=3) == {COUNT, COUNT - 1, COUNT - 2}


def test_two_common_terms_are_looked_for_together_further_back_than_either(large: Index) -> None:
    assert {seq for seq in seqs(large, "third half", most=50) if seq % 3 == 0 and seq <= COUNT // 2}


def test_the_rarest_terms_weigh_most(large: Index) -> None:
    assert seqs(large, f"third w{COUNT - 1}", most=1) == {COUNT - 1}


def test_rarity_falls_with_frequency_and_is_never_negative() -> None:
    figures = [rarity(frequency, 100) for frequency in range(101)]
    assert figures == sorted(figures, reverse=True)
    assert figures[-1] >= 0
