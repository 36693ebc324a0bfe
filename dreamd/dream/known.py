"""The insights an agent has, ready to be asked which of them a statement is close to (pure but for its own index)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from dreamd.dream.wording import loose, wording
from dreamd.memories import STATUSES, Memory, Status
from dreamd.pool.remembering import remembering

LIVE: tuple[Status, ...] = ("candidate", "long_term")


_LEAST = 0.2  # of the words of two statements, what they must share to be worth a closer look
_MOST = 100  # insights that are looked at closely, those that share most: a thousand look-alikes cost no million looks


class Known:
    """Insights by id, as they stand now, in the order they came; found by the words they share with a statement."""

    def __init__(self, insights: Iterable[Memory]) -> None:
        self._insights: dict[str, Memory] = {}
        self._order: dict[str, int] = {}
        self._by_word: dict[str, set[str]] = {}
        self._sizes: dict[str, int] = {}
        self._twins: dict[str, set[str]] = {}
        for insight in insights:
            self.put(insight)

    def put(self, insight: Memory) -> None:
        """Add it, or let it stand in its place as it is now."""
        former = self._insights.get(insight.memory_id)
        self._insights[insight.memory_id] = insight
        self._order.setdefault(insight.memory_id, len(self._order))
        if former is None or former.content != insight.content:
            self._index(insight, former.content if former else "")

    def drop(self, memory_id: str) -> None:
        """As if it had never been put."""
        insight = self._insights.pop(memory_id)
        del self._order[memory_id], self._sizes[memory_id]
        for word in _spoken_of(insight.content):
            self._by_word[word].discard(memory_id)
        self._twins[wording(insight.content).plain].discard(memory_id)

    def _index(self, insight: Memory, former: str) -> None:
        one = insight.memory_id
        for word in _spoken_of(former):
            self._by_word[word].discard(one)
        self._twins.get(wording(former).plain, set()).discard(one)
        for word in _spoken_of(insight.content):
            self._by_word.setdefault(word, set()).add(one)
        self._sizes[one] = len(_spoken_of(insight.content))
        self._twins.setdefault(wording(insight.content).plain, set()).add(one)

    def __getitem__(self, memory_id: str) -> Memory:
        return self._insights[memory_id]

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._insights

    def __iter__(self) -> Iterator[Memory]:
        return iter(tuple(self._insights.values()))

    def near(self, statement: str, statuses: tuple[Status, ...] = STATUSES) -> list[Memory]:
        """Those that share enough with it to be compared, in the order they came."""
        words = _spoken_of(statement)
        shared = Counter(chain.from_iterable(self._by_word.get(word, ()) for word in words))
        likeness = {one: 2 * count / (len(words) + self._sizes[one]) for one, count in shared.items()}
        close = (one for one, like in likeness.items() if like >= _LEAST)
        closest = sorted(close, key=lambda one: (-likeness[one], -self._order[one]))[:_MOST]
        ids = {*closest, *self._twins.get(wording(statement).plain, set())}
        found = (self._insights[one] for one in sorted(ids, key=self._order.__getitem__))
        return [insight for insight in found if insight.status in statuses]


@remembering(2048)
def _spoken_of(statement: str) -> frozenset[str]:
    """What it is about, and what it denies."""
    about = wording(statement)
    return loose(about.words | wording(about.denied).words)
