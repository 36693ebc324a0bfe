"""How insights stand, and would stand."""

from msgspec.structs import replace

from dreamd.config import Config
from dreamd.dream.standing import replayed, standing_of, standings
from dreamd.sections import Promote
from dreamd.stores.base import Changes, Contradiction
from tests.dream.conftest import House

TABS = "I prefer tabs over spaces in Makefiles."


async def test_a_candidate_says_what_it_lacks_and_fades(house: House) -> None:
    house.says(TABS)
    await house.dreams()
    (fresh,) = standings(house.store, "cat", Config(), house.clock.now())
    assert len(fresh.lacks) == 3
    house.next_day(30)
    (later,) = standings(house.store, "cat", Config(), house.clock.now())
    assert later.sure < fresh.sure
    assert standing_of(house.store, fresh.insight, Config(), house.clock.now()) == later


async def test_both_sides_know_what_is_against_them(house: House) -> None:
    house.says(TABS)
    house.says("The shop opens at nine, that is a fact to remember.")
    await house.dreams()
    left, right = house.insights()
    pair = Contradiction(
        agent="cat", left_id=left.memory_id, right_id=right.memory_id, reason="another name", at=house.at
    )
    house.store.write(Changes(contradictions=(pair,)))
    for one, other in ((left, right), (right, left)):
        (against,) = standing_of(house.store, one, Config(), house.clock.now()).against
        assert (against.memory_id, against.statement, against.reason) == (
            other.memory_id,
            other.content,
            "another name",
        )


async def test_other_thresholds_are_tried_on_candidates_and_long_term_insights_alone(house: House) -> None:
    house.says(TABS)
    await house.dreams()
    (insight,) = house.insights()
    lax = Promote(min_windows=1, min_tasks=1, min_records=1)
    (would,) = replayed(house.store, "cat", Promote(), lax)
    assert (would.insight, would.would_promote, would.lacks) == (insight, True, ())
    assert replayed(house.store, "cat", lax, lax) == []
    house.store.write(Changes(replaced=(replace(insight, status="superseded"),)))
    assert replayed(house.store, "cat", Promote(), lax) == []
