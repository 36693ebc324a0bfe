"""What is told of the gateway outlives neither its process nor its meaning."""

from datetime import UTC, datetime

from msgspec.structs import replace

from dreamd.gate.passing import KEY, GatewayShown, Passing, UpstreamShown, publish, published
from dreamd.stores.base import Changes
from dreamd.stores.inmemory import InMemoryStore

NOW = datetime(2026, 3, 2, tzinfo=UTC)
ONE = GatewayShown("127.0.0.1:8377", 7, NOW, Passing(calls=3, upstreams=(UpstreamShown("up", 2, 1),)))


def test_what_was_published_is_read_back() -> None:
    store = InMemoryStore()
    publish(store, ONE)
    assert published(store, 7) == ONE


def test_of_another_process_or_in_another_shape_it_is_nothing() -> None:
    store = InMemoryStore()
    assert published(store, 7) is None
    publish(store, ONE)
    assert published(store, 8) is None
    publish(store, replace(ONE, listen=""))
    assert published(store, 7) is None
    store.write(Changes(meta={KEY: '{"listen": 3}'}))
    assert published(store, 7) is None
