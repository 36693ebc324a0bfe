import random

from dreamd.eval.drawing import Drawing, Moment
from dreamd.eval.phrases import phrases
from dreamd.memories import raw_id


def drawing(days: int = 12) -> Drawing:
    return Drawing(random.Random("x"), days, "ada", phrases("en"), " ")


def test_moments_are_on_different_days_in_order() -> None:
    days = [moment.day for moment in drawing().moments(6, 2, 10)]
    assert days == sorted(set(days))
    assert set(days) <= set(range(2, 10))


def test_a_record_becomes_the_memory_whose_id_was_told() -> None:
    life = drawing()
    told = life.say(Moment(3, "ada-3-0"), "Good morning!")
    assert told == raw_id("ada", life.lines[0].record.identity)
    assert life.lines[0].day == life.lines[0].at.date()


def test_what_follows_on_each_other_is_in_order() -> None:
    life = drawing()
    begins = life.now(Moment(3, "ada-3-0"))
    life.say(begins, "How long is it?")
    life.call(begins.after(5), "search", ok=True)
    life.say(begins.after(20), "320 metres.", "assistant")
    times = [line.at for line in life.lines]
    assert times == sorted(times)
    assert len(set(times)) == 3


def test_what_is_told_stands_word_for_word_in_the_message_even_beside_a_request() -> None:
    life = drawing()
    for number in range(40):
        life.tell(Moment(number % 12, "t"), "I prefer an aisle seat.")
    assert all("I prefer an aisle seat." in line.record.text for line in life.lines)
    assert any(line.record.text != "I prefer an aisle seat." for line in life.lines)


def test_some_is_never_more_than_there_are() -> None:
    assert 2 <= len(drawing().some([1, 2, 3], 2, 9)) <= 3
