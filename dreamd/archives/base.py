"""Memories in; the blocks in which they are archived out. And what keeps such blocks, loaded only where there are any."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from dreamd.memories import Memory

CHARACTERS = 256 << 10  # of a block: what must be unpacked to read one memory
MEMORIES = 500
_BESIDE = 500  # characters of a memory beside its text


class Place(NamedTuple):
    """Bytes of a file in the archive's folder."""

    file: str
    offset: int
    length: int


class Blocks(Protocol):
    def write(self, blocks: Sequence[Sequence[Memory]]) -> list[Place]:
        """A new file of these blocks, durably; where each stands in it. Raises DiskFull, StoreError."""

    def read(self, place: Place) -> Mapping[str, Memory]:
        """The memories of a block, by id. Raises FileNotFoundError, StoreError, StoreCorrupt."""

    def sweep(self, named: Collection[str]) -> None:
        """Take away the files that are not named: a crash left them, or what they held was forgotten."""


def in_blocks(memories: Iterable[Memory]) -> list[list[Memory]]:
    """In order, each block small enough to be unpacked for one memory's sake."""
    blocks: list[list[Memory]] = []
    room = 0
    for memory in memories:
        if room <= 0 or len(blocks[-1]) >= MEMORIES:
            blocks.append([])
            room = CHARACTERS
        blocks[-1].append(memory)
        room -= len(memory.content) + _BESIDE
    return blocks
