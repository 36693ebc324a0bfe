"""The insights an agent has, ready to be asked which of them a statement is close to (pure but for its own index)."""

from collections.abc import Iterable, Iterator
from typing import get_args

from dreamd.dream.wording import wording
from dreamd.memories import Memory, Status

LIVE: tuple[Status, ...] = ("candidate", "long_term")


class Known:
    """Insights by id, as they stand now, in the order they came; found by any word they share with a statement."""

    def __init__(self, insights: Iterable[Memory]) -> None:
        self._insights: dict[str, Memory] = {}
        self._by_word: dict[str, dict[str, None]] = {}
        self._plain: dict[str, dict[str, None]] = {}
        for insight in insights:
            self.put(insight)

    def put(self, insight: Memory) -> None:
        """Add it, or let it stand in its place as it is now."""
        former = self._insights.get(insight.memory_id)
        self._insights[insight.memory_id] = insight
        if former is None or former.content != insight.content:
            self._index(insight)

    def _index(self, insight: Memory) -> None:
        about = wording(insight.content)
        self._plain.setdefault(about.plain, {})[insight.memory_id] = None
        for word in about.words | wording(about.denied).words:
            self._by_word.setdefault(word, {})[insight.memory_id] = None

    def __getitem__(self, memory_id: str) -> Memory:
        return self._insights[memory_id]

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._insights

    def __iter__(self) -> Iterator[Memory]:
        return iter(tuple(self._insights.values()))

    def near(self, statement: str, statuses: tuple[Status, ...] = get_args(Status)) -> list[Memory]:
        """Those that share a word with it, in the order they came."""
        about = wording(statement)
        words = about.words | wording(about.denied).words
        ids = set(self._plain.get(about.plain, ())).union(*(self._by_word.get(word, ()) for word in words))
        found = (insight for memory_id, insight in self._insights.items() if memory_id in ids)
        return [insight for insight in found if insight.status in statuses]
