from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from dreamd.indexes.base import Found, Hit
from dreamd.pool.terms import dated
from dreamd.recall.scoring import by_whom, fused, in_context, relevance, spoken_for, spread


def hit(seq: int, *counts: int, place: int = 0, session: int = 1, size: int = 10) -> Hit:
    return Hit(seq, session, place or seq, size, counts)


def test_rare_terms_and_short_texts_bring_more_and_all_terms_the_most() -> None:
    hits = (hit(1, 1, 0), hit(2, 0, 1), hit(3, 1, 1), hit(4, 1, 0, size=99))
    scores = relevance(Found(hits, (50, 2), 100, 10), ("one", "other"))
    assert scores[4] < scores[1] < scores[2] < scores[3] <= 1


def test_a_term_that_nothing_holds_tells_nothing_apart() -> None:
    assert relevance(Found((hit(1, 1, 0),), (1, 0), 1, 10), ("one", "other"))[1] > 0.5


def test_of_several_times_asked_for_one_is_enough_and_counts_more_than_a_word() -> None:
    saturday, sunday = (dated(date(2026, 3, day))[-1] for day in (14, 15))
    hits = (hit(1, 1, 0, 0), hit(2, 0, 1, 0), hit(3, 0, 0, 1), hit(4, 1, 0, 1))
    scores = relevance(Found(hits, (5, 5, 5), 100, 10), (saturday, sunday, "word"))
    assert scores[3] < scores[1] == scores[2] < scores[4]
    assert scores[4] > 0.5


@given(st.lists(st.integers(0, 50), min_size=2, max_size=2), st.integers(1, 500))
def test_relevance_is_a_share(counts: list[int], size: int) -> None:
    scores = relevance(Found((hit(1, *counts, size=size),), (3, 4), 10, 20), ("one", "other"))
    assert 0 <= scores[1] <= 1


def test_what_is_said_around_a_record_speaks_for_it_though_it_shares_no_word() -> None:
    hits = [hit(1, 1, place=5)]
    around = {(1, place): place * 10 for place in (3, 4, 6, 7)} | {(1, 5): 1}
    assert set(spoken_for(hits, {1: 0.5})) == {(1, place) for place in (3, 4, 5, 6, 7)}
    scores = in_context(hits, {1: 0.5}, around)
    assert scores[1] > scores[60] > scores[70] == scores[40] > scores[30] > 0


def test_a_conversation_about_the_matter_speaks_for_its_records() -> None:
    hits = [hit(1, 1, place=1), hit(2, 1, place=50), hit(3, 1, place=99), hit(4, 1, place=1, session=2)]
    scores = in_context(hits, dict.fromkeys((1, 2, 3, 4), 0.5), {})
    assert scores[1] == scores[2] == scores[3] > scores[4]


def test_meaning_adds_to_words_and_finds_without_them() -> None:
    scores = fused({1: 0.4, 2: 0.2}, {1: 0.1, 2: 0.1, 3: 0.9}, {})
    assert scores[1] > scores[2]
    assert scores[3] > scores[2]


def test_a_spread_goes_from_nothing_to_one() -> None:
    assert spread({1: 2.0, 2: 3.0, 3: 4.0}) == {1: 0, 2: 0.5, 3: 1}
    assert spread({1: 2.0}) == {1: 0}
    assert spread({}) == {}


def test_what_the_named_person_says_comes_before_what_others_say() -> None:
    scores = by_whom({1: 0.5, 2: 0.5, 3: 1.0}, {1})
    assert scores[3] > scores[1] > scores[2]
    assert by_whom({}, {1}) == {}
