import pytest

from dreamd.errors import UsageError
from dreamd.hand.named import named
from dreamd.memories import STATUSES
from dreamd.stores.base import Changes
from dreamd.stores.inmemory import InMemoryStore
from tests.stores.making import raw, summary


def test_the_beginning_of_an_id_names_one_memory_or_none() -> None:
    store = InMemoryStore()
    one, other = raw(1, memory_id="aa1"), raw(2, memory_id="aa2")
    insight = summary("tea", ("aa1",), type="insight", memory_id="aa3", status="superseded")
    store.write(Changes(memories=[one, other, insight]))
    assert named(store, "aa1").memory_id == "aa1"
    assert named(store, "aa", ("insight",)).memory_id == "aa3"
    with pytest.raises(UsageError, match="more than one"):
        named(store, "aa")
    for unknown in ("", "b"):
        with pytest.raises(UsageError, match="no memory"):
            named(store, unknown)


def test_what_was_forgotten_has_no_name() -> None:
    store = InMemoryStore()
    store.write(Changes(memories=[raw(1, memory_id="aa1", status="forgotten")]))
    with pytest.raises(UsageError):
        named(store, "aa1")
    assert named(store, "aa1", statuses=STATUSES).memory_id == "aa1"
