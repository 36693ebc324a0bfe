from collections.abc import Iterable

import pytest

from dreamd.eval.planting import opened
from dreamd.eval.truth import Line, Plant, Sort, World
from dreamd.eval.worlds import world
from dreamd.memories import raw_id

WORLDS = [world(seed) for seed in range(6)]


def planted(sort: Sort) -> list[tuple[World, Plant]]:
    return [(one, plant) for one in WORLDS for plant in one.plants if plant.sort == sort]


def lines_of(one: World, plant: Plant) -> list[Line]:
    return [line for line in one.lines if raw_id(line.agent, line.record.identity) in plant.memory_ids]


def tasks(lines: Iterable[Line]) -> set[str]:
    return {line.record.task_id for line in lines}


@pytest.mark.parametrize("sort", ["lasting", "figure", "near", "correction"])
def test_what_must_be_kept_is_said_on_several_days_in_several_tasks_in_other_words(sort: Sort) -> None:
    for one, plant in planted(sort):
        lines = lines_of(one, plant)
        assert plant.verdict == "must"
        assert len({line.day for line in lines}) == len(tasks(lines)) == len(set(plant.says)) >= 2


def test_a_burst_is_of_one_day_and_a_single_task_of_one_task() -> None:
    for one, plant in planted("burst"):
        assert len({line.day for line in lines_of(one, plant)}) == 1
    for one, plant in planted("single_task"):
        assert len(tasks(lines_of(one, plant))) == 1


def test_copies_hold_one_wording_in_several_tasks() -> None:
    for one, plant in planted("copy"):
        lines = lines_of(one, plant)
        assert len(plant.says) == 1
        assert all(plant.says[0] in line.record.text for line in lines)
        assert len(tasks(lines)) == len(lines) >= 3


def test_a_human_never_says_what_is_scheduled_and_only_pastes_what_is_smuggled() -> None:
    for one, plant in planted("scheduled"):
        assert all(line.record.origin != "human" for line in lines_of(one, plant))
    for one, plant in planted("smuggled"):
        said = [line.record for line in lines_of(one, plant) if line.record.role == "user"]
        assert all(record.text != plant.says[0] for record in said)


def test_a_correction_comes_after_what_it_corrects() -> None:
    for one, new in planted("correction"):
        old = next(plant for plant in one.plants if plant.name == new.other)
        assert max(line.at for line in lines_of(one, old)) < min(line.at for line in lines_of(one, new))
        assert old.exact in new.says[0]
        assert new.exact in new.says[0]


def test_secrets_stand_in_the_logs_so_that_they_can_leak() -> None:
    for one in WORLDS:
        assert all(any(secret in line.record.text for line in one.lines) for secret in one.secrets)


def test_a_sentence_opens_with_a_capital() -> None:
    assert opened("short answers") == "Short answers"
    assert opened("") == ""
