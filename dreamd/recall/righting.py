"""Records in; which of them say what was put right since, and what stands in its place, out."""

from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec import Struct

from dreamd.memories import Memory
from dreamd.recall.against import opposed_to, since
from dreamd.recall.choosing import Asked, holds
from dreamd.stores.base import Contradiction, MemoryQuery, Store

_CHAIN = 8  # corrections of corrections that are followed


class Righted(Struct, frozen=True):
    """`instead` is what is believed in place of what the record says; None when nothing is any more."""

    instead: Memory | None = None


def righted(store: Store, records: Sequence[Memory], asked: Asked) -> Mapping[str, Righted]:
    """By id, of those on which an insight rests that was superseded. Blocks; raises StoreError.

    A record that says what took its place too ("not 8080 but 8377") needs no putting right.
    """
    wrong = _wrong(store, records, asked)
    if not wrong:
        return {}
    agents = dict.fromkeys(insight.agent for insights in wrong.values() for insight in insights)
    pairs = list(chain.from_iterable(store.contradictions(agent) for agent in agents))
    found = {one: _last(store, insights, pairs, asked) for one, insights in wrong.items()}
    return {
        one: Righted(instead)
        for one, instead in found.items()
        if instead is None or one not in instead.ref_ids
    }


def _wrong(store: Store, records: Sequence[Memory], asked: Asked) -> dict[str, list[Memory]]:
    """By the id of the record, where there are any."""
    known = {record.memory_id: record.agent for record in records}
    query = MemoryQuery(types=("insight",), statuses=("superseded",), rests_on=tuple(known))
    found: dict[str, list[Memory]] = {}
    for insight in store.memories(query):
        if not holds(insight, asked) and _ended(insight, asked):
            for ref in dict.fromkeys(insight.ref_ids):
                if known.get(ref) == insight.agent:
                    found.setdefault(ref, []).append(insight)
    return found


def _ended(insight: Memory, asked: Asked) -> bool:
    """Not only later than the time that is asked of."""
    return asked.then is None or insight.valid_until is None or insight.valid_until <= asked.then


def _last(
    store: Store, wrong: Sequence[Memory], pairs: Sequence[Contradiction], asked: Asked
) -> Memory | None:
    """What took the place of these in the end."""
    known = {one.memory_id for one in wrong}
    layer = list(wrong)
    for _ in range(_CHAIN):
        others = opposed_to(store, layer, pairs)
        held = [one for one in others if holds(one, asked)]
        if held:
            return max(held, key=since)
        layer = [one for one in others if one.memory_id not in known and one.status == "superseded"]
        known |= {one.memory_id for one in layer}
    return None
