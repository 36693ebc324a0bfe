import re

from dreamd import events
from dreamd.events import Event


def test_every_event_is_a_noun_and_what_happened_to_it_and_told_apart() -> None:
    told = [value for value in vars(events).values() if isinstance(value, Event)]
    assert len({event.name for event in told}) == len(told)
    assert all(re.fullmatch(r"[a-z_]+\.[a-z_]+", event.name) for event in told)


def test_silence_tells_nobody() -> None:
    assert events.silent(events.DAEMON_READY, pid=1) is None
