"""Raw memories that left the database, in compressed files: blocks of JSON lines, each found by file, offset and length.

Law: a file is whole and on the disk before the database names it, and goes only when the database names it no more.
"""

import os
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import zstandard

from dreamd.archives.base import Blocks, Place
from dreamd.errors import DiskFull, StoreCorrupt, StoreError
from dreamd.memories import Memory

_KEPT = 16  # blocks unpacked at once
_SUFFIX = ".jsonl.zst"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Memory).decode


class Archive(Blocks):
    """The folder is made with the first file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unpacked: dict[Place, Mapping[str, Memory]] = {}

    def write(self, blocks: Sequence[Sequence[Memory]]) -> list[Place]:
        packed = [zstandard.compress(b"".join(_encode(one) + b"\n" for one in block)) for block in blocks]
        name = f"{blocks[0][0].window.isoformat() if blocks[0] else 'empty'}-{secrets.token_hex(4)}{_SUFFIX}"
        try:
            self._write(name, b"".join(packed))
        except OSError as error:
            raise _told(error, self._folder / name) from error
        ends = [sum(map(len, packed[: number + 1])) for number in range(len(packed))]
        return [Place(name, end - len(block), len(block)) for end, block in zip(ends, packed, strict=True)]

    def _write(self, name: str, data: bytes) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        path = self._folder / name
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            path.unlink(missing_ok=True)
            raise
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def read(self, place: Place) -> Mapping[str, Memory]:
        known = self._unpacked.get(place)
        if known is None:
            known = {memory.memory_id: memory for memory in self._read(place)}
            while len(self._unpacked) >= _KEPT:
                with suppress(KeyError, StopIteration, RuntimeError):  # another thread was quicker
                    self._unpacked.pop(next(iter(self._unpacked)))
            self._unpacked[place] = known
        return known

    def _read(self, place: Place) -> list[Memory]:
        path = self._folder / place.file
        try:
            with path.open("rb") as file:
                file.seek(place.offset)
                lines = zstandard.decompress(file.read(place.length)).split(b"\n")
            return [_decode(line) for line in lines if line]
        except FileNotFoundError:
            raise
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from error
        except (zstandard.ZstdError, msgspec.DecodeError) as error:
            raise StoreCorrupt(f"{path} is damaged", hint="put it back from a back-up") from error

    def sweep(self, named: Collection[str]) -> None:
        self._unpacked.clear()
        for path in self._folder.glob(f"*{_SUFFIX}"):
            if path.name not in named:
                path.unlink(missing_ok=True)


def _told(error: OSError, path: Path) -> StoreError | DiskFull:
    if DiskFull.is_told_by(error):
        return DiskFull(f"no space left to write {path}", hint="free some space; it is tried again")
    return StoreError(f"cannot write {path}: {error.strerror}", hint="check the state folder's permissions")


OPEN: Callable[[Path], Blocks] = Archive
