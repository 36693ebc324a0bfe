import pytest

from dreamd.eval.worlds import FEWEST_DAYS, Language, world
from dreamd.memories import raw_id


def test_the_same_seed_draws_the_same_world_and_another_another() -> None:
    assert world(7) == world(7)
    assert world(7).lines != world(8).lines


@pytest.mark.parametrize(
    ("language", "tongues"), [("en", ["en", "en"]), ("zh", ["zh", "zh"]), ("both", ["en", "zh"])]
)
def test_agents_speak_the_language_that_was_asked_for(language: Language, tongues: list[str]) -> None:
    assert list(world(1, language=language).languages.values()) == tongues


def test_four_fifths_are_work_and_talk() -> None:
    drawn = world(3)
    planted = sum(len(plant.memory_ids) for plant in drawn.plants)
    assert 0.1 <= planted / len(drawn.lines) <= 0.2


def test_every_day_has_its_records_and_lines_are_in_order_of_time() -> None:
    drawn = world(2, days=20, agents=3)
    assert len({line.day for line in drawn.lines}) == 20
    assert [line.at for line in drawn.lines] == sorted(line.at for line in drawn.lines)


def test_every_plant_names_records_that_are_there_and_a_plant_that_is_there() -> None:
    drawn = world(5)
    ids = {raw_id(line.agent, line.record.identity) for line in drawn.lines}
    names = {plant.name for plant in drawn.plants}
    assert len(ids) == len(drawn.lines)
    assert len(names) == len(drawn.plants)
    for plant in drawn.plants:
        assert plant.memory_ids
        assert set(plant.memory_ids) <= ids
        assert not plant.other or plant.other in names


def test_more_agents_leave_the_others_days_as_they_were() -> None:
    few, many = world(1, agents=1), world(1, agents=3)
    assert [line for line in many.lines if line.agent == "agent1"] == list(few.lines)


@pytest.mark.parametrize(("days", "agents"), [(FEWEST_DAYS - 1, 1), (30, 0)])
def test_a_world_too_small_to_see_anything_twice_is_refused(days: int, agents: int) -> None:
    with pytest.raises(ValueError, match="at least"):
        world(1, days=days, agents=agents)


def test_the_smallest_world_can_be_drawn_with_any_seed() -> None:
    assert all(world(seed, days=FEWEST_DAYS).plants for seed in range(20))
