"""Insights and the plants of a world in, which insight is about which plants out (pure).

An insight is about what the raw records under it say. A record may say two things, the plant and a request beside it:
then the nearer one counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from dreamd.eval.truth import Plant
from dreamd.memories import Memory
from dreamd.pool.similarity import overlap

FILLER = ""  # the name of what is no plant
_DEEPEST = 6


class Attribution:
    """`memories` are all of the store by id, `plants` those of the world."""

    def __init__(self, memories: Mapping[str, Memory], plants: Sequence[Plant]) -> None:
        self._memories = memories
        self.plants = {plant.name: plant for plant in plants}
        self._of_record = {ref: plant for plant in plants for ref in plant.memory_ids}
        insights = [memory for memory in memories.values() if memory.type == "insight"]
        self.names = {insight.memory_id: frozenset(self._names(insight)) for insight in insights}
        self.insights = insights

    def about(self, name: str) -> list[Memory]:
        """The insights about this plant, whatever else they are about."""
        return [insight for insight in self.insights if name in self.names[insight.memory_id]]

    def records(self, insight: Memory) -> list[Memory]:
        """The raw memories under it, each once, as far as they are there."""
        return list({one.memory_id: one for one in self._below(insight, _DEEPEST)}.values())

    def _below(self, memory: Memory, depth: int) -> Iterator[Memory]:
        found = [self._memories[ref] for ref in memory.ref_ids if ref in self._memories]
        yield from (one for one in found if one.type == "raw")
        if depth:
            yield from chain.from_iterable(self._below(one, depth - 1) for one in found if one.type != "raw")

    def _names(self, insight: Memory) -> Iterator[str]:
        for record in self.records(insight):
            plant = self._of_record.get(record.memory_id)
            yield plant.name if plant and _says(insight.content, plant, record.content) else FILLER


def _says(statement: str, plant: Plant, record: str) -> bool:
    """The statement is nearer to a wording of the plant than to what else stands in the record."""
    rest = record
    for wording in plant.says:
        rest = rest.replace(wording, " ")
    nearest = max(overlap(statement, wording) for wording in plant.says)
    return nearest >= overlap(statement, rest)
