from functools import partial
from pathlib import Path

from anyio import to_thread

from dreamd.memories import Entity
from dreamd.parts import Parts
from dreamd.recall.following import follow
from dreamd.recall.meant import BATCH, mean
from tests.recall.pouring import house, insight, pour, record


class Lengths:
    model = "lengths"

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def of(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [[float(len(text)), 1.0] for text in texts]


async def test_memories_get_their_vectors_a_batch_at_a_time_conclusions_first(tmp_path: Path) -> None:
    server = Lengths()
    with house(tmp_path, meaning=server) as parts:
        assert parts.index is not None
        pour(
            parts,
            *(record(number, f"message {number}") for number in range(BATCH)),
            insight(1, "known", entities=(Entity("Ada", "person"),)),
        )
        await to_thread.run_sync(partial(follow, parts.store, parts.index, pages=9))
        assert await mean(parts) == BATCH
        assert "known\n\nAda" in server.texts
        assert await mean(parts) == 1
        assert await mean(parts) == 0
        assert len(server.texts) == BATCH + 1


async def test_where_nobody_asks_for_meaning_nothing_is_sent(parts: Parts) -> None:
    pour(parts, record(1, "x"))
    assert await mean(parts) == 0
