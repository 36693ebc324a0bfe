"""A log on disk, plain or zstd-compressed, as one stream of decompressed bytes read from an offset.

Raises LogUnreadable, which names the path and the reason, never what stands in the log.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

import zstandard

from dreamd.errors import LogUnreadable

CHUNK_BYTES = 1 << 18
COMPRESSED = ".zst"
_MAX_WINDOW = 128 << 20  # bounds what a hostile frame can make the decompressor hold

# Of a frame (RFC 8878, 3.1)
_LEAST_HEAD_BYTES, _HEAD_BYTES = 6, 18
_SKIPPABLE = 0x184D2A50  # and the fifteen numbers behind it
_BLOCK_HEAD_BYTES, _CHECKSUM_BYTES = 3, 4
_REPEATED_BYTE = 1  # the kind of a block that says how often its only byte comes


class Stamp(NamedTuple):
    """What a stat tells cheaply: as long as it stays, the file is as it was.

    The time of change is there because nobody can put it back, as copying tools do with the time of modification.
    """

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def touched_ns(self) -> int:
        """Nothing was written to the file after this."""
        return max(self.mtime_ns, self.ctime_ns)


def stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def stamp(path: str) -> Stamp | None:
    """None when there is no such file (or it cannot be asked for)."""
    try:
        return stamp_of(os.stat(path))  # noqa: PTH116 - thousands of files
    except OSError:
        return None


class LogFile:
    """An open log. Reading backwards reopens a compressed one; plain ones seek."""

    def __init__(self, path: str, handle: BinaryIO) -> None:
        self.path = path
        self.stamp = stamp_of(os.fstat(handle.fileno()))
        self.compressed = path.endswith(COMPRESSED)
        self._handle = handle
        self._stream: zstandard.ZstdDecompressionReader | None = None
        self._at = 0

    def read_at(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes at `offset`; fewer only where the log ends."""
        try:
            if not self.compressed:
                return os.pread(self._handle.fileno(), size, offset)
            return self._decompressed(offset, size)
        except (OSError, zstandard.ZstdError) as error:
            raise _unreadable(self.path, error) from error

    def chunks(self, offset: int, end: int | None = None) -> Iterator[bytes]:
        """The log from `offset` to its end (or `end`), in pieces of CHUNK_BYTES."""
        while end is None or offset < end:
            size = CHUNK_BYTES if end is None else min(CHUNK_BYTES, end - offset)
            chunk = self.read_at(offset, size)
            if not chunk:
                return
            offset += len(chunk)
            yield chunk

    def head(self, size: int) -> bytes:
        return self.read_at(0, size)

    def tail(self, size: int) -> bytes:
        """The last `size` bytes; a compressed log is read through for it."""
        if not self.compressed:
            return self.read_at(max(0, self.stamp.size - size), size)
        last = b""
        for chunk in self.chunks(0):
            last = (last + chunk)[-size:]
        return last

    def before(self, offset: int, size: int) -> bytes | None:
        """The `size` bytes that end at `offset`; None when the log is shorter than that."""
        found = self.read_at(offset - size, size)
        return found if len(found) == size else None

    def _decompressed(self, offset: int, size: int) -> bytes:
        stream = self._stream
        if stream is None or offset < self._at:
            self._handle.seek(0)
            decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
            stream = decompressor.stream_reader(self._handle, read_across_frames=True, closefd=False)
            self._stream, self._at = stream, 0
        while self._at < offset:
            skipped = stream.read(min(CHUNK_BYTES, offset - self._at))
            if not skipped:
                return b""
            self._at += len(skipped)
        parts = b""
        while len(parts) < size and (part := stream.read(size - len(parts))):
            parts += part
        self._at += len(parts)
        return parts


@contextmanager
def opened(path: str) -> Iterator[LogFile]:
    """Raises LogUnreadable when it is not there, not a plain file, or may not be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO must not hang us
    except OSError as error:
        raise _unreadable(path, error) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise LogUnreadable(f"{path}: not a plain file")
    with os.fdopen(handle, "rb", buffering=0) as file:
        yield LogFile(path, file)


def cut_off(path: str) -> bool:
    """Whether a compressed log ends within a frame: what comes before reads well, and the decompressor says nothing.

    Looks at the heads of frames and blocks alone.
    """
    if not path.endswith(COMPRESSED):
        return False
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - paths here are text
            size, at = os.fstat(file.fileno()).st_size, 0
            while at < size:
                at = _behind_frame(file.fileno(), at)
            return at > size
    except (OSError, zstandard.ZstdError):  # the next read says what is wrong
        return False


def _behind_frame(handle: int, at: int) -> int:
    """Where the frame at `at` ends, or would. Raises ZstdError for what is no frame."""
    head = os.pread(handle, _HEAD_BYTES, at)
    if _number(head[:4]) & ~0xF == _SKIPPABLE:
        return at + 8 + _number(head[4:8])
    if len(head) < _LEAST_HEAD_BYTES and zstandard.FRAME_HEADER.startswith(head[:4]):
        return at + _LEAST_HEAD_BYTES
    at += zstandard.frame_header_size(head)
    last = False
    while not last:
        block = os.pread(handle, _BLOCK_HEAD_BYTES, at)
        if len(block) < _BLOCK_HEAD_BYTES:
            return at + _BLOCK_HEAD_BYTES
        last, kind, size = bool(block[0] & 1), block[0] >> 1 & 3, _number(block) >> 3
        at += _BLOCK_HEAD_BYTES + (1 if kind == _REPEATED_BYTE else size)
    return at + _CHECKSUM_BYTES * zstandard.get_frame_parameters(head).has_checksum


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _unreadable(path: str, error: OSError | zstandard.ZstdError) -> LogUnreadable:
    if isinstance(error, FileNotFoundError):
        return LogUnreadable(f"{path}: not there")
    if isinstance(error, PermissionError):
        return LogUnreadable(f"{path}: permission denied", hint="let the user that runs dreamd read it")
    reason = error.strerror if isinstance(error, OSError) else "not valid zstd data"
    return LogUnreadable(f"{path}: {reason}")
