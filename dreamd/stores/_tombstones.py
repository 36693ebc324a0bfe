"""The register of what was forgotten, in a file of its own beside the database: marks and times, never text.

Law: it outlives the database. Where that was lost and all logs are read again, what was forgotten stays forgotten.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dreamd.errors import DiskFull, StoreError

Tombstone = tuple[str, int]  # a mark, and when it was set, in microseconds


class Register:
    def __init__(self, state: Path) -> None:
        self._path = state / "forgotten"

    @property
    def size(self) -> int:
        """In bytes; it only grows."""
        with suppress(FileNotFoundError):
            return self._path.stat().st_size
        return 0

    def read(self) -> list[Tombstone]:
        """All of them; a line that a crash cut off is none."""
        try:
            text = self._path.read_text("ascii", errors="replace")
        except FileNotFoundError:
            return []
        lines = (line.split() for line in text.splitlines(keepends=True) if line.endswith("\n"))
        return [(line[0], int(line[1])) for line in lines if len(line) == 2 and line[1].isdigit()]  # noqa: PLR2004

    def add(self, tombstones: Iterable[Tombstone]) -> None:
        """Durably, before anything is taken away. Raises DiskFull, StoreError."""
        text = "".join(f"{mark} {at}\n" for mark, at in tombstones)
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "ab") as file:
                file.write(b"\n" * self._is_cut_off() + text.encode("ascii"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if DiskFull.is_told_by(error):
                raise DiskFull(f"no space left to write {self._path}", hint="free some space") from error
            raise StoreError(f"cannot write {self._path}: {error.strerror}") from error

    def _is_cut_off(self) -> bool:
        data = self._path.read_bytes()
        return bool(data) and not data.endswith(b"\n")
