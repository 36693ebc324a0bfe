from dreamd.gate.order import DREAM, NIGHT, PERSON, agent_of, asked_by_a_person, rank_of


def test_the_night_goes_before_dreams() -> None:
    assert rank_of("daily:kit:2026-03-02") == rank_of("deep_dream:kit:2026-03-02") == NIGHT
    assert rank_of("dream:kit") == DREAM


def test_what_a_person_asked_for_goes_first_and_only_that() -> None:
    with asked_by_a_person():
        assert rank_of("dream:kit") == PERSON
    assert rank_of("dream:kit") == DREAM


def test_a_jobs_name_tells_its_agent() -> None:
    assert agent_of("daily:kit:2026-03-02") == "kit"
    assert agent_of("dream:kit:dry") == "kit"
    assert agent_of("check") == ""
