from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from dreamd.clock import instant, local_date, night_moment, to_the_minute, within_reach

BERLIN = ZoneInfo("Europe/Berlin")


def test_a_wall_time_in_the_spring_gap_falls_on_its_far_side() -> None:
    assert instant(date(2026, 3, 29), time(2, 30), BERLIN) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


def test_a_time_is_shown_to_the_minute_with_its_zone() -> None:
    assert to_the_minute(datetime(2026, 3, 2, 10, 0, 59, tzinfo=BERLIN)) == "2026-03-02 09:00 UTC"


def test_a_wall_time_in_the_autumn_fold_is_the_first_of_the_two() -> None:
    assert instant(date(2026, 10, 25), time(2, 30), BERLIN) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_the_night_begins_within_its_window_and_always_at_the_same_moment() -> None:
    day = date(2026, 3, 2)
    moments = {night_moment(day, time(23, 55), 300, BERLIN, "seed") for _ in range(3)}
    (moment,) = moments
    assert datetime(2026, 3, 2, 22, 50, tzinfo=UTC) <= moment <= datetime(2026, 3, 2, 22, 55, tzinfo=UTC)
    assert local_date(moment, BERLIN) == day


def test_the_ends_of_the_calendar_are_out_of_reach() -> None:
    within_reach(date(1970, 1, 1))
    within_reach(date(9000, 12, 31))
    for day in (date.min, date(1969, 12, 31), date(9001, 1, 1), date.max):
        with pytest.raises(ValueError, match="years 1970 to 9000"):
            within_reach(day)
