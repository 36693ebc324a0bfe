"""The daily file on disk: looked at before anything is paid for, written whole, never over somebody else's edit. Blocks."""

from datetime import date
from pathlib import Path

from msgspec import Struct

from dreamd import files
from dreamd.errors import WorkspaceError
from dreamd.sections import Agent


class Place(Struct, frozen=True):
    """Where a daily file is, and the workspace that it may not lead out of."""

    path: Path
    root: Path


def place(agent: Agent, day: date) -> Place | None:
    """None when the agent has no workspace: nothing is written for it."""
    root = agent.root
    return Place(root / agent.daily_dir / f"{day.isoformat()}.md", root) if root else None


def check(where: Place) -> None:
    """Raises WorkspaceError when the file could not be written or its text not be kept."""
    if not where.root.is_dir():
        raise WorkspaceError(f"no workspace at {where.root}", hint="create it, or set the agent's workspace")
    files.writable(where.path, where.root)
    files.read(where.path)
