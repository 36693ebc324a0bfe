"""The daily file on disk: looked at before anything is paid for, written whole, never over somebody else's edit. Blocks."""

import difflib
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

from msgspec import Struct

from dreamd import files
from dreamd.config import Agent
from dreamd.errors import FileChanged, WorkspaceError

_TRIES = 5  # against an agent that is writing the same file


class Place(Struct, frozen=True):
    """Where a daily file is, and the workspace that it may not lead out of."""

    path: Path
    root: Path


class Edit(Struct, frozen=True):
    """What stood in the file and what stands there now, or (dry run) would."""

    path: Path
    before: str
    after: str

    @property
    def diff(self) -> str:
        name = str(self.path)
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), name, name
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def place(agent: Agent, day: date) -> Place | None:
    """None when the agent has no workspace: nothing is written for it."""
    if not agent.workspace:
        return None
    root = Path(agent.workspace).expanduser()
    return Place(root / agent.daily_dir / f"{day.isoformat()}.md", root)


def check(where: Place) -> None:
    """Raises WorkspaceError when the file could not be written or its text not be kept."""
    if not where.root.is_dir():
        raise WorkspaceError(f"no workspace at {where.root}", hint="create it, or set the agent's workspace")
    target = files.confined(where.path, where.root)
    files.read(target)
    folder = next(parent for parent in target.parents if parent.exists())
    if not os.access(folder, os.W_OK | os.X_OK):
        raise WorkspaceError(f"cannot write in {folder}", hint="check the folder's permissions")


def write(where: Place, compose: Callable[[str], str], *, dry_run: bool = False) -> Edit:
    """Replace the file's text by what `compose` makes of it; of the newer text, when it is edited meanwhile.

    Raises FileChanged when that happens every time, WorkspaceError, DiskFull.
    """
    for _ in range(_TRIES):
        found = files.read(files.confined(where.path, where.root))
        edit = Edit(where.path, found.text, compose(found.text))
        if dry_run or edit.after == edit.before:
            return edit
        try:
            files.replace(where.path, edit.after, root=where.root, expected_sha256=found.sha256)
        except FileChanged:
            continue
        return edit
    raise FileChanged(f"{where.path} is edited all the time", hint="it is tried again later")
