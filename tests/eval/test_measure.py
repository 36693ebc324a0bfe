import pytest
from msgspec.structs import replace

from dreamd.eval.measure import Dreams, Figures, added, measured
from dreamd.eval.report import good, precision, recall
from dreamd.eval.truth import Plant, Sort
from dreamd.eval.worlds import world
from dreamd.memories import Memory
from dreamd.records import Trust
from dreamd.stores.base import Changes, Contradiction, MemoryQuery, Store
from tests.eval.keeping import NOW, first, insight, kept_well

WORLD = world(1)


@pytest.fixture
def store() -> Store:
    return kept_well(WORLD)


def after(store: Store, *memories: Memory) -> Figures:
    store.write(Changes(memories=memories))
    return measured(WORLD, store)


def spoilt(store: Store, plant: Plant, **changes: object) -> Figures:
    store.write(Changes(replaced=[replace(insight(plant), **changes)]))
    return measured(WORLD, store)


def test_a_good_memory_reaches_every_goal(store: Store) -> None:
    figures = measured(WORLD, store)
    assert good(figures), figures.misses
    assert precision(figures) == recall(figures) == 1.0
    assert figures.misses == ()
    assert figures.opposed == figures.both_sides == figures.linked == 2
    assert figures.corrected == figures.superseded == 2


def test_an_empty_memory_is_precise_and_recalls_nothing() -> None:
    figures = measured(WORLD, kept_well(world(1, agents=1)))
    assert not good(figures)
    assert recall(figures) < 1.0


@pytest.mark.parametrize(
    "sort", ["burst", "passing", "single_task", "copy", "scheduled", "smuggled", "secret", "unmeant"]
)
def test_what_must_not_be_promoted_is_counted_by_its_sort(store: Store, sort: Sort) -> None:
    figures = after(store, insight(first(WORLD, sort)))
    assert figures.wrong_by_sort == {sort: 1}
    assert precision(figures) < 1.0
    assert not good(figures)


def test_the_same_as_a_candidate_is_no_fault(store: Store) -> None:
    assert precision(after(store, insight(first(WORLD, "burst"), "candidate"))) == 1.0


def test_what_was_long_term_for_a_night_counts_as_promoted(store: Store) -> None:
    one = insight(first(WORLD, "passing"), "archived")
    store.write(Changes(memories=(one,)))
    assert measured(WORLD, store, Dreams(promoted=frozenset({one.memory_id}))).wrong_by_sort == {"passing": 1}


def test_small_talk_that_became_long_term_is_filler(store: Store) -> None:
    planted = {one for plant in WORLD.plants for one in plant.memory_ids}
    talk = next(
        memory
        for memory in store.memories(MemoryQuery(types=("raw",)))
        if memory.role == "user" and memory.origin == "human" and memory.memory_id not in planted
    )
    one = insight(first(WORLD, "lasting"), text="Good morning", ref_ids=(talk.memory_id,), agent=talk.agent)
    assert after(store, one).wrong_by_sort == {"filler": 1}


def test_an_exact_value_that_was_lost_is_missed(store: Store) -> None:
    plant = first(WORLD, "figure")
    assert measured(WORLD, store).exact_found == measured(WORLD, store).exact_wanted
    figures = spoilt(store, plant, content=plant.says[0].replace(plant.exact, "much"))
    assert figures.exact_found == figures.exact_wanted - 1


def test_a_second_insight_about_the_same_is_a_duplicate(store: Store) -> None:
    plant = first(WORLD, "lasting")
    assert after(store, insight(plant, text=plant.says[1])).duplicates == 1


def test_one_insight_on_two_things_that_look_alike_is_merged_wrongly(store: Store) -> None:
    left = first(WORLD, "near")
    right = next(plant for plant in WORLD.plants if plant.name == left.other)
    figures = spoilt(store, left, ref_ids=(*left.memory_ids, *right.memory_ids))
    assert figures.wrong_merged == 1
    assert precision(figures) < 1.0


def test_a_side_that_was_overwritten_is_gone(store: Store) -> None:
    assert spoilt(store, first(WORLD, "opposed"), status="superseded", valid_until=NOW).both_sides == 1


def test_a_link_between_two_things_that_both_hold_is_wrong(store: Store) -> None:
    left, right = [plant for plant in WORLD.plants if plant.sort == "lasting" and plant.agent == "agent1"][:2]
    link = Contradiction(
        agent="agent1", left_id=insight(left).memory_id, right_id=insight(right).memory_id, reason="x", at=NOW
    )
    store.write(Changes(contradictions=(link,)))
    assert measured(WORLD, store).wrong_linked == 1


def test_a_correction_that_left_the_old_one_live_is_not_carried_out(store: Store) -> None:
    old = first(WORLD, "corrected")
    assert spoilt(store, old, status="long_term").superseded == 1


@pytest.mark.parametrize("ref", ["nowhere", ""])
def test_a_reference_that_leads_nowhere_is_counted(store: Store, ref: str) -> None:
    plant = first(WORLD, "explicit")
    figures = spoilt(store, plant, ref_ids=(*plant.memory_ids, ref))
    assert figures.resolved == figures.references - 1


def test_an_insight_without_references_is_counted_too(store: Store) -> None:
    figures = spoilt(store, first(WORLD, "explicit"), ref_ids=())
    assert figures.resolved == figures.references - 1


def test_trust_above_that_of_the_records_is_gained(store: Store) -> None:
    assert after(store, insight(first(WORLD, "smuggled"), "candidate")).wrong_trust == 1
    own = insight(first(WORLD, "scheduled"), "candidate", trust=Trust.UNTRUSTED, kind="preference")
    assert after(store, own).wrong_trust == 2


def test_a_secret_that_stands_anywhere_is_counted(store: Store) -> None:
    plant = first(WORLD, "secret")
    assert after(store, insight(plant, "candidate", text=f"The key is {WORLD.secrets[0]}")).wrong_secrets == 1


def test_rows_that_a_second_dream_changed_are_told(store: Store) -> None:
    figures = measured(WORLD, store, Dreams(unsettled=3, calls=2, tokens=50))
    assert (figures.wrong_unsettled, figures.calls, figures.tokens) == (3, 2, 50)
    assert not good(figures)


def test_figures_add_up_over_worlds(store: Store) -> None:
    one = after(store, insight(first(WORLD, "burst")))
    both = added([one, one])
    assert both.records == 2 * one.records
    assert both.wrong_by_sort == {"burst": 2}
    assert both.misses == one.misses * 2
    assert precision(both) == precision(one)
