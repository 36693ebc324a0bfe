"""Files written whole or not at all, inside the folder they belong to.

Law: a reader at any instant, and after any crash, sees the old content or the new, never a part; a symlink stays a
symlink; mode and owner stay; nothing is written outside the given root (RELIABILITY 2.3).
"""

import contextlib
import difflib
import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dreamd.errors import DiskFull, FileChanged, WorkspaceError


class Content(Struct, frozen=True):
    """A file as it was read: "" and the hash of nothing when it does not exist."""

    text: str
    sha256: str
    exists: bool

    @property
    def mark(self) -> str:
        """Tells contents apart, and an empty file from none, whose mark is ""."""
        return self.sha256 if self.exists else ""


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def read(path: Path) -> Content:
    """A UTF-8 text file whole. Raises WorkspaceError when it cannot be read, is no file or is not UTF-8 text."""
    try:
        data = _bytes(path)
    except FileNotFoundError:
        return Content("", sha256_of(""), exists=False)
    except OSError as error:
        raise WorkspaceError(f"cannot read {path}: {error.strerror}") from error
    try:
        return Content(data.decode("utf-8"), hashlib.sha256(data).hexdigest(), exists=True)
    except UnicodeDecodeError as error:
        raise WorkspaceError(f"{path} is not UTF-8 text", hint="dreamd leaves it alone") from error


def _bytes(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would wait for its other end
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise WorkspaceError(f"cannot read {path}: it is no regular file", hint="move it out of the way")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def confined(path: Path, root: Path) -> Path:
    """The file that `path` really names, which must lie in `root`. Raises WorkspaceError when it leads outside."""
    try:
        real, home = path.resolve(), root.resolve()
    except (OSError, RuntimeError) as error:  # links in a circle are a RuntimeError up to Python 3.12
        raise WorkspaceError(f"{path} leads nowhere: {error}", hint="mend the symlink") from error
    if not real.is_relative_to(home):
        raise WorkspaceError(
            f"{path} leads outside {root}", hint="dreamd writes only inside an agent's workspace"
        )
    return real


def writable(path: Path, root: Path) -> None:
    """Raises WorkspaceError when the file is read-only or the folder takes no files, even for root."""
    real = confined(path, root)
    if real.exists() and not (real.stat().st_mode & _ANY_WRITE and os.access(real, os.W_OK)):
        raise WorkspaceError(f"{path} is read-only", hint="dreamd leaves it alone; chmod u+w to let it write")
    folder = next(parent for parent in real.parents if parent.exists())
    if not folder.stat().st_mode & _ANY_WRITE or not os.access(folder, os.W_OK | os.X_OK):
        raise WorkspaceError(f"the folder {folder} is read-only", hint="chmod u+w to let dreamd write there")


_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def unified(before: str, after: str, path: Path) -> str:
    """The unified diff of two contents of a file, "" when they are the same."""
    name = str(path)
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, name
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


class Edit(Struct, frozen=True):
    """What stood in a file and what stands there now, or (dry run) would."""

    path: Path
    before: str
    after: str

    @property
    def diff(self) -> str:
        return unified(self.before, self.after, self.path)


_TRIES = 5  # against somebody who is writing the same file


def edit(path: Path, compose: Callable[[str], str], *, root: Path, dry_run: bool = False) -> Edit:
    """Replace the file's text by what `compose` makes of it; of the newer text, when it is edited meanwhile.

    What does not change is not written. Raises FileChanged when it is edited every time, and as `read` and `replace`.
    """
    for _ in range(_TRIES):
        found = read(confined(path, root))
        made = Edit(path, found.text, compose(found.text))
        if dry_run or made.after == made.before:
            return made
        try:
            replace(path, made.after, root=root, expected_sha256=found.sha256)
        except FileChanged:
            continue
        return made
    raise FileChanged(f"{path} is edited all the time", hint="it is tried again later")


def replace(path: Path, text: str, *, root: Path, expected_sha256: str | None = None) -> None:
    """Put `text` in place of the file, durably. `expected_sha256` is the hash of what must still be there.

    Raises FileChanged (somebody edited it), DiskFull, WorkspaceError (missing folder, no permission, outside root).
    """
    target = confined(path, root)
    if not root.is_dir():  # a folder that went away, or is not mounted, is not made anew
        raise WorkspaceError(f"the folder {root} is missing", hint="create it, or correct the path")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, text.encode("utf-8"), expected_sha256)
    except OSError as error:
        if DiskFull.is_told_by(error):
            raise DiskFull(
                f"no space left to write {path}", hint="free some space; it is tried again"
            ) from error
        raise WorkspaceError(
            f"cannot write {path}: {error.strerror}", hint="check the folder's permissions"
        ) from error


def _replace(target: Path, data: bytes, expected_sha256: str | None) -> None:
    temporary = target.parent / f".{target.name}.{secrets.token_hex(6)}.tmp"
    try:
        _write_like(temporary, data, target)
        if expected_sha256 is not None:
            _still(target, expected_sha256)
        temporary.rename(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def remove(path: Path, *, root: Path, expected_sha256: str) -> None:
    """Take the file away, durably, if it is still as expected; a symlink to it stays. Raises as `replace`."""
    target = confined(path, root)
    _still(target, expected_sha256)
    try:
        target.unlink(missing_ok=True)
        _sync_folder(target.parent)
    except OSError as error:
        raise WorkspaceError(
            f"cannot remove {path}: {error.strerror}", hint="check the folder's permissions"
        ) from error


def _still(target: Path, sha256: str) -> None:
    if read(target).sha256 != sha256:
        raise FileChanged(f"{target} was edited meanwhile")


def _write_like(temporary: Path, data: bytes, model: Path) -> None:
    """Write and fsync `temporary` with the mode, owner and extended attributes of `model`, if that exists."""
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if model.exists():
            known = model.stat()
            os.fchmod(file.fileno(), known.st_mode & 0o7777)
            with contextlib.suppress(PermissionError):  # only root may give files away; the mode still holds
                os.fchown(file.fileno(), known.st_uid, known.st_gid)
            _copy_attributes(model, file.fileno())
        file.flush()
        os.fsync(file.fileno())


def _copy_attributes(model: Path, handle: int) -> None:
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError):  # file systems without extended attributes
        for name in os.listxattr(model):
            os.setxattr(handle, name, os.getxattr(model, name))


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
