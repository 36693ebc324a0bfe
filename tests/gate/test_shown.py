from datetime import timedelta

from dreamd.clock import StillClock
from dreamd.gate.limit import starting
from dreamd.gate.order import DREAM
from dreamd.gate.shown import KEY, is_news, publish, published, shown
from dreamd.gate.state import LaneState, Rules, came, told
from dreamd.stores.base import Changes
from dreamd.stores.inmemory import InMemoryStore

COOLING = told(LaneState(rules=Rules(2), limit=starting(1, 8)), 0, cooling_until=90).state


def test_the_lane_is_shown_with_who_waits_and_why(clock: StillClock) -> None:
    state = told(came(COOLING, 1, DREAM, 0).state, 30).state
    one = shown("http://x:80", state, clock.now(), made_way=3, refused=1)
    assert (one.limit, one.dreams, one.waiting, one.waits_s, one.why) == (1, 0, 1, 30, "cooling")
    assert one.cooling_until == clock.now() + timedelta(seconds=60)
    assert one.quota_until is None


def test_another_process_reads_what_was_published(clock: StillClock) -> None:
    store, one = InMemoryStore(), shown("http://x:80", COOLING, clock.now(), made_way=0, refused=0)
    assert published(store) is None
    publish(store, one)
    assert published(store) == one


def test_what_another_version_wrote_is_nothing(clock: StillClock) -> None:
    store = InMemoryStore()
    store.write(Changes(meta={KEY: '{"lane": 5}'}))
    assert published(store) is None


def test_time_alone_is_no_news(clock: StillClock) -> None:
    one = shown("http://x:80", COOLING, clock.now(), made_way=0, refused=0)
    assert not is_news(one, shown("http://x:80", COOLING, clock.now(), made_way=0, refused=0))
    assert is_news(one, shown("http://x:80", COOLING, clock.now(), made_way=1, refused=0))
    assert is_news(one, None)
