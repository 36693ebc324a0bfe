"""MEMORY.md over time: its versions, the difference between two, and taking back what a dream wrote."""

import difflib
from collections.abc import Sequence
from pathlib import Path

from dreamd.clock import local_date
from dreamd.config import zone_of
from dreamd.deep_dream.sources import place_of
from dreamd.deep_dream.writing import Intent, Written, resume, write
from dreamd.errors import FileChanged, UsageError
from dreamd.parts import Parts
from dreamd.stores.base import FileVersion


def versions(parts: Parts, agent_id: str) -> list[FileVersion]:
    """What MEMORY.md once was, newest first. Raises WorkspaceError, StoreError."""
    path = str(place_of(parts.config.agent(agent_id), agent_id).memory)
    return [version for version in parts.store.versions(agent_id) if version.path == path]


def unified(before: str, after: str, path: Path) -> str:
    """The unified diff of two contents, "" when they are the same."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path.name}", f"b/{path.name}"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def last_write(history: Sequence[FileVersion]) -> int | None:
    """Index (newest first) of the newest write of dreamd that no undo has taken back."""
    standing: list[int] = []
    for index in reversed(range(len(history))):
        author = history[index].author
        if author in ("dreamd", "accepted"):
            standing.append(index)
        elif author == "undo" and standing:
            standing.pop()
    return standing[-1] if standing else None


def undo(parts: Parts, agent_id: str) -> Written:
    """Put back what stood before dreamd's last write; what was edited since is merged in. Blocking.

    Raises UsageError (nothing to undo), FileChanged (edited at the same lines), WorkspaceError, DiskFull, StoreError.
    """
    resume(parts, agent_id)
    history = versions(parts, agent_id)
    index = last_write(history)
    if index is None:
        raise UsageError(f"dreamd has written nothing to the memory of {agent_id} that could be taken back")
    written = history[index]
    before = history[index + 1].content if index + 1 < len(history) else ""
    agent = parts.config.agent(agent_id)
    intent = Intent(
        agent=agent_id,
        day=local_date(parts.clock.now(), zone_of(agent)),
        place=place_of(agent, agent_id),
        base=written.content,
        ours=before,
        author="undo",
        language="en",
        note=f"version {written.version_id} taken back",
    )
    try:
        return write(parts, intent)
    except FileChanged as error:
        raise FileChanged(
            f"{intent.place.memory} was edited since at the same lines",
            hint="see `dreamd diff`, and edit the file by hand",
        ) from error
