from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from dreamd.clock import local_date
from dreamd.night.due import (
    Known,
    Schedule,
    Sleeper,
    back_off,
    dreamers,
    lookback,
    next_look,
    nights,
    turn,
    waiting,
    wanted,
)
from dreamd.stores.base import LedgerRow, Phase, RunState, WindowCount

BERLIN = ZoneInfo("Europe/Berlin")
TOKYO = ZoneInfo("Asia/Tokyo")
# fall and spring by an hour, by half an hour, at midnight; none; the ends of the world
ZONES = [
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Havana",
    "Asia/Kathmandu",
    "Pacific/Kiritimati",
    "Etc/GMT+12",
]
SCHEDULE = Schedule(at=time(23, 55), jitter_s=300, catch_up_days=7, max_attempts=5, seed="s")
MONDAY = date(2026, 3, 2)


def at(day: date, hour: int, minute: int = 0, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.combine(day, time(hour, minute), tzinfo=zone).astimezone(UTC)


def row(
    agent: str,
    day: date,
    state: RunState,
    *,
    phase: Phase = "daily",
    attempts: int = 1,
    ended: datetime | None = None,
) -> LedgerRow:
    ended = ended or at(day, 23, 56)
    return LedgerRow(agent=agent, day=day, phase=phase, state=state, attempts=attempts, finished_at=ended)


def sleeper(agent: str = "anna", *days: date, zone: ZoneInfo = BERLIN, unfiled: int = 3) -> Sleeper:
    return Sleeper(agent=agent, zone=zone, windows=[WindowCount(agent, day, 5, unfiled) for day in days])


def known(
    now: datetime, sleepers: Sequence[Sleeper], rows: Sequence[LedgerRow] = (), candidates: int = 1
) -> Known:
    return Known(now=now, schedule=SCHEDULE, sleepers=sleepers, rows=rows, candidates=candidates)


def days_due(now: datetime, sleepers: Sequence[Sleeper], rows: Sequence[LedgerRow] = ()) -> list[date]:
    return [night.day for night in nights(known(now, sleepers, rows)) if night.agents]


def test_today_is_not_due_before_its_moment_and_is_after_it() -> None:
    assert days_due(at(MONDAY, 23, 49), [sleeper("anna", MONDAY)]) == []
    assert days_due(at(MONDAY, 23, 55), [sleeper("anna", MONDAY)]) == [MONDAY]


def test_a_night_that_crosses_midnight_keeps_its_date() -> None:
    (night,) = nights(
        known(at(MONDAY + timedelta(1), 0, 1), [sleeper("anna", MONDAY, MONDAY + timedelta(1))])
    )
    assert (night.day, night.agents, night.missed) == (MONDAY, ("anna",), ())


def test_missed_nights_come_oldest_first_and_not_beyond_the_catch_up_days() -> None:
    days = [MONDAY - timedelta(days=back) for back in range(10)]
    found = nights(known(at(MONDAY, 12), [sleeper("anna", *days)]))
    assert [night.day for night in found] == [MONDAY - timedelta(days=back) for back in range(7, 0, -1)]
    assert all(night.missed == ("anna",) for night in found)


def test_a_day_that_is_done_is_not_due_again_until_late_records_meet_the_next_night() -> None:
    done = [row("anna", MONDAY, "done")]
    late = [sleeper("anna", MONDAY)]
    tuesday = MONDAY + timedelta(1)
    assert days_due(at(MONDAY, 23, 59), late, done) == []
    assert days_due(at(tuesday, 23, 49), late, done) == []
    assert days_due(at(tuesday, 23, 55), late, done) == [MONDAY]
    filed = [row("anna", MONDAY, "done", ended=at(tuesday, 23, 56))]
    assert days_due(at(tuesday, 23, 57), late, filed) == []


def test_a_day_without_unfiled_records_is_never_due() -> None:
    assert days_due(at(MONDAY, 23, 55), [sleeper("anna", MONDAY, unfiled=0)]) == []


def test_a_failed_day_rests_longer_after_each_failure_and_is_given_up_in_the_end() -> None:
    failed_at = at(MONDAY, 23, 56)
    for attempts in range(1, 5):
        failed = [row("anna", MONDAY, "failed", attempts=attempts, ended=failed_at)]
        rest = back_off(attempts)
        assert days_due(failed_at + rest - timedelta(seconds=1), [sleeper("anna", MONDAY)], failed) == []
        assert days_due(failed_at + rest, [sleeper("anna", MONDAY)], failed) == [MONDAY]
    given_up = [row("anna", MONDAY, "failed", attempts=5, ended=failed_at)]
    assert days_due(at(MONDAY + timedelta(3), 12), [sleeper("anna", MONDAY)], given_up) == []
    assert [back_off(n) for n in (1, 2, 9)] == [
        timedelta(minutes=10),
        timedelta(minutes=30),
        timedelta(hours=6),
    ]


def test_who_has_no_budget_rests_until_it_has() -> None:
    failed_at = at(MONDAY, 23, 56)
    free_at = failed_at + timedelta(hours=1)
    failed = row("anna", MONDAY, "failed", attempts=0, ended=failed_at)
    for after, due in ((timedelta(minutes=30), False), (timedelta(hours=1), True)):
        seen = Known(
            now=failed_at + after,
            schedule=SCHEDULE,
            sleepers=[sleeper("anna", MONDAY)],
            rows=[failed],
            candidates=0,
            short={"anna": free_at},
        )
        assert bool(nights(seen)) == due
        if not due:
            assert next_look(seen) == free_at


def test_what_a_crash_left_running_is_run_again_at_once() -> None:
    assert days_due(at(MONDAY, 23, 57), [sleeper("anna", MONDAY)], [row("anna", MONDAY, "running")]) == [
        MONDAY
    ]
    exhausted = [row("anna", MONDAY, "running", attempts=5)]
    assert days_due(at(MONDAY, 23, 57), [sleeper("anna", MONDAY)], exhausted) == []


def test_a_failure_that_lies_in_the_future_does_not_rest() -> None:
    tomorrow = [row("anna", MONDAY, "failed", ended=at(MONDAY + timedelta(400), 12))]
    assert days_due(at(MONDAY, 23, 57), [sleeper("anna", MONDAY)], tomorrow) == [MONDAY]


def test_each_agent_has_the_night_of_its_own_zone() -> None:
    sleepers = [sleeper("anna", MONDAY), sleeper("yuki", MONDAY, zone=TOKYO)]
    (night,) = nights(known(at(MONDAY, 23, 55, TOKYO), sleepers))
    assert (night.agents, night.begun) == (("yuki",), ("yuki",))


def test_an_hour_before_noon_means_the_small_hours_after_the_day() -> None:
    small_hours = replace(SCHEDULE, at=time(3, 0))
    seen = Known(now=at(MONDAY, 3), schedule=small_hours, sleepers=[sleeper("anna", MONDAY)], rows=())
    assert nights(seen) == []
    (night,) = nights(replace(seen, now=at(MONDAY + timedelta(1), 3)))
    assert night.day == MONDAY


def test_the_next_look_is_the_next_moment_of_any_zone_or_the_end_of_a_rest() -> None:
    now = at(MONDAY, 12)
    both = [sleeper("anna"), sleeper("yuki", zone=TOKYO)]
    assert next_look(known(now, both)) == SCHEDULE.moment(MONDAY, TOKYO)
    failed = row("anna", MONDAY - timedelta(1), "failed", ended=now - timedelta(minutes=4))
    assert next_look(known(now, both, [failed])) == now + timedelta(minutes=6)
    assert next_look(known(now, [])) > now


def test_the_longest_undreamt_agent_has_its_turn_and_one_without_news_has_none() -> None:
    tuesday = MONDAY + timedelta(1)
    rows = [
        row("anna", tuesday, "done"), row("bert", tuesday, "done"), row("cleo", MONDAY, "done"),
        row("anna", MONDAY, "done", phase="deep_dream"),
        row("cleo", MONDAY, "done", phase="deep_dream", ended=at(MONDAY, 23, 58)),
    ]  # fmt: skip
    everybody = [sleeper("anna"), sleeper("bert"), sleeper("cleo")]
    names = ("anna", "bert", "cleo")
    now = at(tuesday, 23, 57)
    assert dreamers(tuesday, known(now, everybody, rows), begun=names) == ["bert"]
    assert dreamers(tuesday, known(now, everybody, rows, candidates=3), begun=names) == ["bert", "anna"]
    assert dreamers(tuesday, known(now, everybody, rows, candidates=0), begun=names) == []


def test_a_turn_taken_is_gone_a_skipped_one_is_not_and_a_failed_one_may_be_repeated() -> None:
    now, names = at(MONDAY, 23, 59), ("anna", "bert")
    dailies = [row("anna", MONDAY, "done"), row("bert", MONDAY, "done")]
    everybody = [sleeper("anna"), sleeper("bert")]

    def after(state: RunState, later: timedelta = timedelta(0)) -> list[str]:
        turn = row("anna", MONDAY, state, phase="deep_dream", ended=at(MONDAY, 23, 57))
        return dreamers(MONDAY, known(now + later, everybody, [*dailies, turn]), begun=names)

    assert after("done") == after("held") == after("failed") == []
    assert after("skipped") == ["bert"]
    assert after("running") == after("failed", timedelta(minutes=10)) == ["anna"]


def test_who_fails_every_night_does_not_keep_the_others_from_their_turn() -> None:
    rows: list[LedgerRow] = []
    had: list[str] = []
    for day in (MONDAY + timedelta(n) for n in range(6)):
        rows += [row("anna", day, "done"), row("bert", day, "done")]
        (agent,) = dreamers(
            day, known(at(day, 23, 57), [sleeper("anna"), sleeper("bert")], rows), begun=("anna", "bert")
        )
        had.append(agent)
        state: RunState = "failed" if agent == "anna" else "done"
        rows.append(row(agent, day, state, phase="deep_dream", attempts=5, ended=at(day, 23, 58)))
    assert Counter(had) == {"anna": 3, "bert": 3}


def test_an_agent_whose_night_has_not_begun_keeps_its_place() -> None:
    rows = [
        row("anna", MONDAY - timedelta(1), "done"),
        row("yuki", MONDAY, "done", ended=at(MONDAY, 23, 56, TOKYO)),
    ]
    rows.append(row("yuki", MONDAY - timedelta(1), "done", phase="deep_dream"))
    seen = known(at(MONDAY, 23, 57, TOKYO), [sleeper("anna"), sleeper("yuki", zone=TOKYO)], rows)
    assert dreamers(MONDAY, seen, begun=("yuki",)) == []
    assert dreamers(MONDAY, seen, begun=("anna", "yuki")) == ["anna"]


def test_force_gives_the_turn_again_to_who_had_it() -> None:
    rows = [row("anna", MONDAY, "done"), row("bert", MONDAY, "done", ended=at(MONDAY, 23, 55))]
    rows.append(row("bert", MONDAY, "done", phase="deep_dream", ended=at(MONDAY, 23, 59)))
    seen = known(at(MONDAY, 23, 59), [sleeper("anna"), sleeper("bert")], rows)
    assert dreamers(MONDAY, seen, begun=("anna", "bert"), force=True) == ["bert"]


def test_a_dream_looks_back_to_the_first_daily_that_none_has_read() -> None:
    dailies = [row("anna", MONDAY + timedelta(n), "done") for n in range(5)]
    friday = MONDAY + timedelta(4)
    dreamt = row(
        "anna", MONDAY + timedelta(1), "done", phase="deep_dream", ended=at(MONDAY + timedelta(1), 23, 58)
    )
    assert lookback("anna", friday, [*dailies, dreamt], 1) == 3
    assert lookback("anna", friday, [*dailies, replace(dreamt, state="skipped")], 1) == 5
    assert (
        lookback("anna", friday, [*dailies, replace(dreamt, day=friday, finished_at=at(friday, 23, 59))], 2)
        == 2
    )


@pytest.mark.parametrize("name", ZONES)
def test_every_date_of_three_years_has_one_night_that_falls_on_it(name: str) -> None:
    zone = ZoneInfo(name)
    days = [date(2025, 1, 1) + timedelta(days=n) for n in range(3 * 365)]
    moments = [SCHEDULE.moment(day, zone) for day in days]
    assert [local_date(moment, zone) for moment in moments] == days
    assert moments == sorted(set(moments))


steps = st.lists(
    st.one_of(
        st.integers(1, 3 * 3600),  # the clock goes
        st.sampled_from(
            [-3600, 3600, 25 * 3600, -25 * 3600, int(8.5 * 3600), 1800, -1800, 60]
        ),  # or is set, or slept
    ),
    min_size=1,
    max_size=60,
)
# days around the changes of the clocks in autumn and spring
starts = st.sampled_from(
    [
        datetime(2026, 10, 24, 8, tzinfo=UTC),
        datetime(2026, 3, 28, 8, tzinfo=UTC),
        datetime(2026, 4, 4, tzinfo=UTC),
    ]
)


@given(st.sampled_from(ZONES), starts, steps, st.times(min_value=time(0, 0), max_value=time(23, 59)))
@example("Europe/Berlin", datetime(2026, 10, 24, 8, tzinfo=UTC), [3600] * 60, time(2, 30))
def test_each_day_is_summarised_once_whatever_the_clock_does(
    name: str, start: datetime, walk: list[int], hour: time
) -> None:
    """Every day has records from its beginning on; the daemon looks at each step, works a minute and writes its row."""
    zone = ZoneInfo(name)
    schedule = replace(SCHEDULE, at=hour, catch_up_days=14)
    first = local_date(start, zone)
    rows: dict[date, LedgerRow] = {}
    runs: Counter[date] = Counter()
    now = start
    for step in [*walk, *[3600] * 26]:
        now += timedelta(seconds=step)
        lived = [first + timedelta(n) for n in range(max(0, (local_date(now, zone) - first).days + 1))]
        windows = [WindowCount("anna", day, 1, 0 if day in rows else 1) for day in lived]
        anna = Sleeper(agent="anna", zone=zone, windows=windows)
        due = nights(
            Known(now=now, schedule=schedule, sleepers=[anna], rows=list(rows.values()), candidates=0)
        )
        assert [night.day for night in due] == sorted(night.day for night in due)
        for night in due:
            assert schedule.moment(night.day, zone) <= now
            runs[night.day] += 1
            now += timedelta(minutes=1)
            rows[night.day] = row("anna", night.day, "done", ended=now)
        over = schedule.over(now - timedelta(minutes=len(due)), zone)
        assert all(day in rows for day in lived if over - timedelta(days=14) < day <= over)
    assert set(runs.values()) <= {1}


@given(st.sampled_from(ZONES), starts, st.integers(0, 30 * 24 * 3600), st.times())
def test_the_next_night_is_always_ahead_and_is_the_first_one_ahead(
    name: str, start: datetime, later: int, hour: time
) -> None:
    zone, schedule = ZoneInfo(name), replace(SCHEDULE, at=hour.replace(tzinfo=None))
    now = start + timedelta(seconds=later)
    ahead = schedule.next(now, zone)
    assert schedule.moment(schedule.over(now, zone), zone) <= now < ahead
    assert ahead - now < timedelta(hours=26)


def test_a_night_without_a_date_is_that_of_the_latest_unfiled_day_else_of_the_latest() -> None:
    now = at(MONDAY, 12)
    days = [MONDAY - timedelta(3), MONDAY - timedelta(1)]
    assert wanted(known(now, [sleeper("anna", *days)]), ["anna"]) == MONDAY - timedelta(1)
    assert wanted(known(now, [sleeper("anna", *days, unfiled=0)]), ["anna"]) == MONDAY - timedelta(1)
    assert wanted(
        known(now, [sleeper("anna", *days), sleeper("bert", MONDAY)]), ["anna"]
    ) == MONDAY - timedelta(1)
    assert wanted(known(now, [sleeper("anna", *days), sleeper("bert", MONDAY)]), ["anna", "bert"]) == MONDAY
    assert wanted(known(now, [sleeper("anna", MONDAY + timedelta(1))]), ["anna"]) == MONDAY - timedelta(1)


def test_who_has_no_place_in_a_night_waits_for_those_before_them() -> None:
    agents = [sleeper(name) for name in ("anna", "bert", "carl")]
    dailies = [row(name, MONDAY, "done") for name in ("anna", "bert", "carl")]
    assert waiting(MONDAY, known(at(MONDAY, 23, 58), agents, dailies)) == {
        "bert": ("anna",),
        "carl": ("anna", "bert"),
    }
    dreamt = [*dailies, row("anna", MONDAY, "done", phase="deep_dream", ended=at(MONDAY, 23, 57))]
    assert waiting(MONDAY, known(at(MONDAY, 23, 58), agents, dreamt))["bert"] == ("anna",)
    assert waiting(MONDAY + timedelta(1), known(at(MONDAY, 23, 58), agents, dreamt)) == {"carl": ("bert",)}
    assert waiting(MONDAY, known(at(MONDAY, 23, 58), agents, dailies, candidates=0)) == {}
    assert turn(("anna",)) == "waits its turn: anna dreams first"
    assert turn(("anna", "bert")) == "waits its turn: anna, bert dream first"
