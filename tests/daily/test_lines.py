from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from dreamd.daily.audit import Entry
from dreamd.daily.lines import MOST_LINES, listed, memories, standing
from dreamd.daily.material import Material
from dreamd.daily.transcript import Event
from dreamd.records import Trust

NOW = datetime(2026, 3, 2, 23, 0, tzinfo=UTC)
MATERIAL = Material(agent_id="cat", day=date(2026, 3, 2), zone=ZoneInfo("UTC"), language="en")


def event(number: int, *, session: str = "s", trust: Trust = Trust.AGENT) -> Event:
    return Event(
        number=number, session_id=session, task_id="t", at=NOW, asked="q", answers=(), tools=(),
        ref_ids=(f"m{number}", f"a{number}"), trust=trust, fresh=True, awaited=False,
    )  # fmt: skip


def test_a_line_rests_on_all_records_of_its_events_and_is_trusted_like_the_least() -> None:
    entry = Entry("a line", (event(1), event(2, session="s2", trust=Trust.UNTRUSTED)), by_rule=False)
    (summary,) = memories([entry], MATERIAL, NOW)
    assert summary.ref_ids == ("m1", "a1", "m2", "a2")
    assert (summary.trust, summary.session_id, summary.task_id) == (Trust.UNTRUSTED, "", "t")
    assert (summary.type, summary.role, summary.origin, summary.window) == (
        "summary",
        None,
        None,
        MATERIAL.day,
    )


def test_the_same_line_on_the_same_records_is_the_same_memory() -> None:
    entry = Entry("a line", (event(1),), by_rule=False)
    assert list(memories([entry], MATERIAL, NOW)) == list(memories([entry], MATERIAL, NOW))


def test_lines_found_in_the_file_rest_on_their_events_or_on_all() -> None:
    mine = Entry("mine", (event(1),), by_rule=True)
    found = standing(["mine", "another run's"], [mine], [event(1), event(2)])
    assert found == (mine, Entry("another run's", (event(1), event(2)), by_rule=False))


def test_a_days_section_is_bounded_and_the_models_lines_go_first() -> None:
    rules = [Entry(f"rule {number}", (event(1),), by_rule=True) for number in range(MOST_LINES)]
    told = [Entry(f"told {number}", (event(1),), by_rule=False) for number in range(5)]
    kept = listed([*rules, *told])
    assert len(kept) == MOST_LINES
    assert kept[-5:] == tuple(told)
    assert listed(told) == tuple(told)
