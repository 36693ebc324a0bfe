from pathlib import Path

from dreamd.config import Config
from dreamd.eval.nights import lived
from dreamd.eval.worlds import FEWEST_DAYS, world
from dreamd.sections import Promote

SMALL = world(1, days=FEWEST_DAYS, agents=1)
BOTH = (
    world(2, days=FEWEST_DAYS, agents=1, language="en"),
    world(2, days=FEWEST_DAYS, agents=1, language="zh"),
)
UNSEEN = world(1, days=20, words=Path(__file__).parent / "unseen")


async def test_a_world_is_lived_through_night_by_night_in_any_store() -> None:
    nights: list[int] = []
    inmemory = await lived(SMALL, Config(), progress=nights.append)
    sqlite = await lived(SMALL, Config(), store="sqlite", progress=lambda _nights: None)
    assert nights == [1] * FEWEST_DAYS
    assert inmemory == sqlite
    assert inmemory.records == len(SMALL.lines)
    assert inmemory.promoted > 0
    assert inmemory.calls == 0


async def test_the_thresholds_of_the_configuration_count() -> None:
    never = Config(promote=Promote(min_windows=100))
    strict = await lived(SMALL, never, progress=lambda _nights: None)
    usual = await lived(SMALL, Config(), progress=lambda _nights: None)
    assert strict.promoted < usual.promoted


async def test_what_must_never_be_is_not_and_a_second_dream_changes_nothing() -> None:
    for drawn in BOTH:
        figures = await lived(drawn, Config(), progress=lambda _nights: None)
        assert figures.wrong_by_sort == {}
        assert figures.wrong_merged == figures.wrong_trust == figures.wrong_secrets == 0
        assert figures.wrong_unsettled == 0
        assert figures.references == figures.resolved


async def test_in_words_that_no_rule_was_written_for_nothing_false_becomes_long_term() -> None:
    figures = await lived(UNSEEN, Config(), progress=lambda _nights: None)
    assert figures.promoted == figures.right > 0
    assert figures.wrong_merged == figures.wrong_linked == figures.wrong_trust == figures.wrong_secrets == 0
    assert figures.wrong_unsettled == 0
    assert figures.references == figures.resolved
