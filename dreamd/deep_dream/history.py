"""MEMORY.md over time: its versions, the difference between two, and taking back what a dream wrote."""

import re
from collections.abc import Sequence
from pathlib import Path

from dreamd import files
from dreamd.clock import local_date
from dreamd.config import zone_of
from dreamd.deep_dream.sources import place_of
from dreamd.deep_dream.writing import Intent, Written, resume, write
from dreamd.errors import FileChanged, NothingToDo, UsageError
from dreamd.parts import Parts
from dreamd.stores.base import FileVersion


def versions(parts: Parts, agent_id: str) -> list[FileVersion]:
    """What MEMORY.md once was, newest first. Raises WorkspaceError, StoreError."""
    path = str(place_of(parts.config.agent(agent_id), agent_id).memory)
    return [version for version in parts.store.versions(agent_id) if version.path == path]


_RESTORED = "back to version {}"
_TARGET = re.compile(_RESTORED.format(r"(\d+)"))


def last_write(history: Sequence[FileVersion]) -> int | None:
    """Index (newest first) of the newest write of dreamd that stands: no undo has taken it back."""
    standing: tuple[int, ...] = ()
    then: dict[int, tuple[int, ...]] = {}  # what stood at each version
    for index, version in reversed(list(enumerate(history))):
        if version.author in ("dreamd", "accepted"):
            standing = (*standing, index)
        elif version.author == "undo":
            target = _TARGET.fullmatch(version.note)
            standing = then.get(int(target[1]), ()) if target else standing[:-1]
        then[version.version_id] = standing
    return standing[-1] if standing else None


def undo(parts: Parts, agent_id: str) -> Written:
    """Put back what stood before dreamd's last write; what was edited since is merged in. Blocking.

    Where there was no file before, none is left. Raises NothingToDo, FileChanged (edited at the same lines),
    WorkspaceError, DiskFull, StoreError.
    """
    resume(parts, agent_id)
    history = versions(parts, agent_id)
    index = last_write(history)
    if index is None:
        raise NothingToDo(
            f"nothing to undo: dreamd has written nothing to the memory of {agent_id} that stands",
            hint="`dreamd undo --to VERSION` puts back any version of `dreamd history`",
        )
    before = history[index + 1] if index + 1 < len(history) else None
    note = f"version {history[index].version_id} taken back"
    return _put_back(parts, agent_id, history[index], before, note)


def restore(parts: Parts, agent_id: str, version_id: int) -> Written:
    """Put a version back; what was edited since the newest one is merged in. Blocking.

    Raises UsageError (no such version), NothingToDo (it stands already), and as `undo`.
    """
    resume(parts, agent_id)
    history = versions(parts, agent_id)
    target = next((version for version in history if version.version_id == version_id), None)
    if target is None:
        raise UsageError(f"no version {version_id} of the memory of {agent_id}", hint="see `dreamd history`")
    if files.read(Path(target.path)).mark == target.sha256:
        raise NothingToDo(f"{target.path} is as in version {version_id} already")
    return _put_back(parts, agent_id, history[0], target, _RESTORED.format(version_id))


def _put_back(
    parts: Parts, agent_id: str, latest: FileVersion, target: FileVersion | None, note: str
) -> Written:
    """Take the way from `target` (None: no file) to `latest` back."""
    agent = parts.config.agent(agent_id)
    intent = Intent(
        agent=agent_id,
        day=local_date(parts.clock.now(), zone_of(agent)),
        place=place_of(agent, agent_id),
        base=latest.content,
        ours=target.content if target else "",
        author="undo",
        language="en",
        note=note,
        removes=target is None or not target.sha256,
    )
    try:
        return write(parts, intent)
    except FileChanged as error:
        raise FileChanged(
            f"{intent.place.memory} was edited since at the same lines; nothing was written",
            hint=f"`dreamd diff {latest.version_id}` shows the edits; change the file by hand",
        ) from error
