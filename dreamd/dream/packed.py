"""Raw memories go in, a mapping by id comes out that holds them packed: a dream needs very many, few of them at once.

What is given for an id is the memory as it was when it was packed, whatever became of it since.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial

import msgspec

from dreamd.memories import Memory

UNPACKED = 1000  # memories held as they are, those asked for last
_WORTH = 1000  # bytes


class Packed(Mapping[str, Memory]):
    """In a quarter of the room. `held` are kept as they are, and count where an id is in both."""

    def __init__(self, memories: Iterable[Memory] = (), held: Mapping[str, Memory] | None = None) -> None:
        self._held = held or {}
        self._packed = {one.memory_id: _packed(one) for one in memories}
        self._unpacked = lru_cache(UNPACKED)(partial(_unpacked, self._packed))

    def beside(self, held: Mapping[str, Memory]) -> "Packed":
        """These and those."""
        both = Packed(held=held)
        both._packed, both._unpacked = self._packed, self._unpacked
        return both

    def __getitem__(self, memory_id: str) -> Memory:
        return self._held[memory_id] if memory_id in self._held else self._unpacked(memory_id)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._held or memory_id in self._packed

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._packed), **dict.fromkeys(self._held)})

    def __len__(self) -> int:
        return len({*self._packed, *self._held})


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Memory)


_ZLIB = b"x"  # the first byte of what is compressed; a map of msgpack never begins with it


def _packed(memory: Memory) -> bytes:
    """Compressed where it is worth the time that it takes."""
    plain = _ENCODER.encode(memory)
    return plain if len(plain) <= _WORTH else zlib.compress(plain, level=1)


def _unpacked(packed: Mapping[str, bytes], memory_id: str) -> Memory:
    found = packed[memory_id]
    return _DECODER.decode(zlib.decompress(found) if found.startswith(_ZLIB) else found)
