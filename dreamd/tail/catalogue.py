"""Which known source a file on disk is: a rename keeps its source, a fork is a new one (pure but for what it is given).

The cases, first that fits:

1. the inode is known, at this path                    -> it (whatever happened to its content)
2. the inode is known, its path still is that file     -> nothing: a hard link or symlink of a log already read
3. the inode is known, its path is gone or other       -> renamed, if the head is the same (else the inode was reused)
4. the path is known, its old inode lives elsewhere    -> a new source: rotation made room here
5. the path is known                                   -> it: replaced
6. `x.jsonl.zst` beside `x.jsonl` that begins with it  -> nothing: the plain file wins
7. `x.jsonl.zst` where `x.jsonl` was known, or back    -> it, if the content is the same
8. a vanished source has the same content              -> it: moved across file systems, or restored
9. anything else                                       -> a new source
"""

import hashlib
from collections.abc import Iterable
from typing import Literal, Protocol

from msgspec.structs import replace

from dreamd.stores.base import Cursor
from dreamd.tail.fingerprint import same_head
from dreamd.tail.logfile import COMPRESSED, stamp
from dreamd.tail.sources import Found

_MOST_STATE_BYTES = 512  # of a state worth keeping in memory for each of thousands of logs
_LEFT = b"\xc1"  # in place of a longer one; no message pack begins so


def _light(cursor: Cursor) -> Cursor:
    return cursor if len(cursor.state) <= _MOST_STATE_BYTES else replace(cursor, state=_LEFT)


def _last_read(cursor: Cursor) -> float:
    return cursor.read_at.timestamp() if cursor.read_at else 0.0


class Look(Protocol):
    """What only the file system can tell: asked when names and inodes leave it open. Raises LogUnreadable."""

    def head(self) -> bytes:
        """The first HEAD_BYTES of the file."""

    def same_content(self, cursor: Cursor) -> bool:
        """Whether all that the cursor has read stands in the file."""

    def stands_in(self, path: str) -> bool:
        """Whether the file at path begins with all of this one."""

    def elsewhere(self, cursor: Cursor) -> bool:
        """Whether the cursor's file was found under another path than its own.

        By inode, and by head as inodes are reused; or compressed beside its old path.
        """


class Catalogue:
    """The known sources by id, by where each is now, by inode and by head."""

    def __init__(self, cursors: Iterable[Cursor]) -> None:
        self._by_id: dict[str, Cursor] = {}
        self._by_path: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._by_inode: dict[tuple[int, int], str] = {}
        self._by_head: dict[int, dict[bytes, tuple[str, ...]]] = {}
        for cursor in sorted(cursors, key=_last_read):  # of several once at one path, the last is there now
            self.put(cursor, cursor.path)

    def __len__(self) -> int:
        return len(self._by_id)

    def put(self, cursor: Cursor, path: str) -> None:
        """Remember the cursor as stored, and the path at which its file was just seen."""
        source_id, known = cursor.source_id, cursor.fingerprint
        before = self._paths.get(source_id)
        if before is not None and self._by_path.get(before) == source_id:
            del self._by_path[before]
        self._forget_inode(source_id)
        self._by_id[source_id] = _light(cursor)
        self._by_path[path] = source_id
        self._paths[source_id] = path
        self._by_inode[known.device, known.inode] = source_id
        heads = self._by_head.setdefault(known.head_length, {})
        if source_id not in heads.get(known.head_sha256, ()):
            heads[known.head_sha256] = (*heads.get(known.head_sha256, ()), source_id)

    def _forget_inode(self, source_id: str) -> None:
        """A replaced log's old inode will be another file's."""
        if known := self._by_id.get(source_id):
            inode = (known.fingerprint.device, known.fingerprint.inode)
            if self._by_inode.get(inode) == source_id:
                del self._by_inode[inode]

    def is_light(self, cursor: Cursor) -> bool:
        """Whether the cursor was taken from here without its state, which the store still has."""
        return cursor.state == _LEFT

    def at(self, path: str) -> Cursor | None:
        source_id = self._by_path.get(path)
        return self._by_id.get(source_id) if source_id else None

    def path_of(self, cursor: Cursor) -> str:
        return self._paths[cursor.source_id]

    def paths(self) -> list[str]:
        return list(self._by_path)

    def heir(self, found: Found, look: Look) -> Cursor | Literal["ignored"] | None:
        """The cursor this file goes on with, "ignored", or None for a new source."""
        by_inode = self._by_id.get(self._by_inode.get((found.stamp.device, found.stamp.inode), ""))
        if by_inode and self.path_of(by_inode) == found.path:
            return by_inode  # 1
        if by_inode and self._is_still(by_inode):
            return "ignored"  # 2
        if by_inode and by_inode.offset and same_head(by_inode, look.head()):
            return by_inode  # 3
        by_path = self.at(found.path)
        if by_path and not look.elsewhere(by_path):
            return by_path  # 5
        return self._twin(found, look) or self._vanished(look)

    def _is_still(self, cursor: Cursor) -> bool:
        now, known = stamp(self.path_of(cursor)), cursor.fingerprint
        return now is not None and (now.device, now.inode) == (known.device, known.inode)

    def _twin(self, found: Found, look: Look) -> Cursor | Literal["ignored"] | None:
        plain = found.path.removesuffix(COMPRESSED)
        if plain != found.path and stamp(plain) and look.stands_in(plain):
            return "ignored"  # 6
        twin = self.at(plain if plain != found.path else found.path + COMPRESSED)
        return twin if twin and look.same_content(twin) else None  # 7

    def _vanished(self, look: Look) -> Cursor | None:
        head = look.head()
        for length, by_digest in self._by_head.items():
            for source_id in by_digest.get(hashlib.sha256(head[:length]).digest(), ()):
                cursor = self._by_id[source_id]
                if cursor.offset and self._has_vanished(cursor) and look.same_content(cursor):
                    return cursor  # 8
        return None

    def _has_vanished(self, cursor: Cursor) -> bool:
        """Its path is another's now, or nobody's."""
        path = self.path_of(cursor)
        return self._by_path.get(path) != cursor.source_id or not stamp(path)

    def new_id(self, agent: str, path: str) -> str:
        """A name for a new source: of the path, with a number when the path had others before."""
        base = hashlib.sha256(f"{agent}\0{path}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        names = (f"{base}-{count}" if count else base for count in range(len(self._by_id) + 1))
        return next(name for name in names if name not in self._by_id)
