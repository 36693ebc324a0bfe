from datetime import UTC, date, datetime

from dreamd.daily import material
from dreamd.daily.material import gather
from dreamd.stores.base import Changes, LedgerRow

DAY = date(2026, 3, 2)


def taken(house, *, whole: bool = False):
    return gather(house.store, house.agent, "cat", DAY, whole=whole)


def test_an_empty_day_has_nothing(house) -> None:
    material = taken(house)
    assert (material.events, material.unfiled, material.prior) == ((), (), None)


def test_the_day_is_what_its_records_are_and_no_other_agents_or_days(house) -> None:
    said = house.talk("hello", "hi")
    house.talk("tomorrow", "yes", at=datetime(2026, 3, 3, 9, tzinfo=UTC))
    house.tell(house.record("user", "not mine", agent="dog"))
    material = taken(house)
    assert material.unfiled == tuple(one.memory_id for one in said)
    assert (material.records, len(material.events)) == (2, 1)


def test_withdrawn_records_are_not_told(house) -> None:
    asked, _ = house.talk("a secret", "noted")
    house.store.write(Changes(statuses=[(asked.memory_id, "withdrawn")]))
    assert [event.asked for event in taken(house).events] == [""]


def test_the_hash_is_of_the_content(house) -> None:
    house.talk("hello", "hi")
    first = taken(house).input_hash
    assert taken(house).input_hash == first
    house.talk("more", "yes")
    assert taken(house).input_hash != first


def test_of_a_huge_day_only_what_a_line_may_need_is_held_and_the_hash_is_the_same(house, monkeypatch) -> None:
    house.talk("a" * 5000, "b" * 5000)
    whole = taken(house)
    monkeypatch.setattr(material, "_DAY_CHARACTERS", 1)
    held = taken(house)
    assert held.input_hash == whole.input_hash
    assert [len(event.asked) for event in (*whole.events, *held.events)] == [5000, 253]
    assert held.events[0].asked.isascii()  # one wide character would double what English text takes


def test_filed_records_are_told_again_only_when_the_whole_day_is_asked_for(house) -> None:
    said = house.talk("hello", "hi")
    house.store.write(Changes(filed=[one.memory_id for one in said]))
    house.talk("late", "yes")
    assert [event.asked for event in taken(house).events] == ["late"]
    assert [event.asked for event in taken(house, whole=True).events] == ["hello", "late"]


def test_an_unfinished_run_that_left_nothing_unfiled_was_telling_the_whole_day(house) -> None:
    said = house.talk("hello", "hi")
    row = LedgerRow(agent="cat", day=DAY, phase="daily", state="running")
    house.store.write(Changes(filed=[one.memory_id for one in said], ledger=[row]))
    material = taken(house)
    assert (material.whole, len(material.events)) == (True, 1)


def test_the_question_before_midnight_comes_with_its_answer_and_is_not_filed_here(house) -> None:
    house.talk("a later one", session="s2", at=datetime(2026, 3, 1, 22, 58, tzinfo=UTC))
    house.talk("first?", "one", at=datetime(2026, 3, 1, 22, 50, tzinfo=UTC))
    house.talk("second?", at=datetime(2026, 3, 1, 22, 59, tzinfo=UTC))
    answer = house.record("assistant", "two")
    house.tell(answer)
    (event,) = taken(house).events
    assert (event.asked, event.answers) == ("second?", ("two",))
    assert taken(house).unfiled == (answer.memory_id,)


def test_the_language_is_that_of_the_humans_words_or_the_configured_one(house) -> None:
    house.talk("怎么部署？", "Use docker compose up, then check the logs.")
    assert taken(house).language == "zh"
    house.configure(language="en")
    assert taken(house).language == "en"


def test_hours_are_those_of_the_conversations_in_the_agents_zone(house) -> None:
    house.talk("hello", "hi")
    house.tell(house.record("user", "[SCHEDULED]", "scheduled", at=datetime(2026, 3, 2, 3, tzinfo=UTC)))
    assert (taken(house).hours, taken(house).offset) == ("09:01-09:02 UTC+01:00", "UTC+01:00")


def test_records_without_a_time_leave_the_offset_alone(house) -> None:
    house.talk("hello", "hi", at=None)
    assert taken(house).hours == "UTC+01:00"


def test_lone_surrogates_do_not_stop_the_hash(house) -> None:
    house.talk("broken \ud83d", "hi")
    assert len(taken(house).input_hash) == 64
