"""Memories that the index knows by their words alone in, their vectors from the server of embeddings kept, a batch at a time."""

from anyio import to_thread

from dreamd.indexes.base import Index, Vector
from dreamd.memories import Memory
from dreamd.parts import Meaning, Parts
from dreamd.recall.following import described, spoken
from dreamd.stores.base import MemoryQuery

BATCH = 32  # texts of one request


async def mean(parts: Parts) -> int:
    """How many got a vector; 0 when none lacks one, or nobody asks for meaning. Raises ProviderError, StoreError, DiskFull."""
    if parts.meaning is None or parts.index is None:
        return 0
    memories = await to_thread.run_sync(_lacking, parts, parts.index, parts.meaning)
    if not memories:
        return 0
    vectors = await parts.meaning.of([_text(memory) for memory in memories])
    kept = [Vector(each.seq, each.agent, vector) for each, vector in zip(memories, vectors, strict=True)]
    await to_thread.run_sync(parts.index.mean, parts.meaning.model, kept)
    return len(kept)


def _lacking(parts: Parts, index: Index, meaning: Meaning) -> list[Memory]:
    seqs = index.unmeant(meaning.model, BATCH)
    return list(parts.store.memories(MemoryQuery(seqs=tuple(seqs)))) if seqs else []


def _text(memory: Memory) -> str:
    return described(memory) if memory.type == "insight" else spoken(memory)
