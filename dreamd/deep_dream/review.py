"""Rewrites that wait for a person: accepting writes one as it would have been written then, rejecting drops it."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from dreamd import files
from dreamd.deep_dream.merge import merge
from dreamd.deep_dream.writing import Written, decoded, resume, write
from dreamd.errors import FileChanged, NothingToDo, UsageError
from dreamd.parts import Parts
from dreamd.stores.base import Changes, Held, LedgerRow, row_of


def find(parts: Parts, held_id: int) -> Held:
    """Raises UsageError when there is none of that number."""
    found = next((held for held in parts.store.held() if held.held_id == held_id), None)
    if found is None:
        raise UsageError(f"no held rewrite {held_id}", hint="see `dreamd held list`")
    return found


class Preview(Struct, frozen=True):
    """What accepting would do to the file as it is: its diff. Conflicts: nothing; the diff is the one of that night."""

    diff: str
    conflicts: bool


def preview(held: Held) -> Preview:
    """Of a decided one: what the night wanted. Blocking. Raises WorkspaceError."""
    intent, path = decoded(held.detail), Path(held.path)
    wanted = Preview(files.unified(intent.base, intent.ours, path), conflicts=False)
    if held.state != "waiting":
        return wanted
    present = files.read(path).text
    merged = merge(intent.base, intent.ours, present)
    return (
        replace(wanted, conflicts=True)
        if merged is None
        else Preview(files.unified(present, merged, path), False)
    )


def accept(parts: Parts, held_id: int) -> Written:
    """Write it now, merging what was edited since. Blocking.

    Raises UsageError (unknown), NothingToDo (decided already), FileChanged (edited at the same lines), WorkspaceError,
    DiskFull.
    """
    held = _waiting(parts, held_id)
    resume(parts, held.agent)
    decided = decoded(held.detail)
    intent = replace(
        decided,
        author="accepted",
        note=f"held rewrite {held_id} accepted",
        row=_row(parts, held, "accepted by a person"),
        held=replace(held, state="accepted"),
    )
    try:
        return write(parts, intent)
    except FileChanged as error:
        raise FileChanged(
            f"{held.path} was edited since at the same lines; nothing was written",
            hint=f"take what you want of `dreamd held show {held_id}` by hand, then `dreamd held reject {held_id}`",
        ) from error


def reject(parts: Parts, held_id: int) -> Held:
    """Drop it; MEMORY.md stays. Raises UsageError, NothingToDo."""
    held = replace(_waiting(parts, held_id), state="rejected")
    row = _row(parts, held, "rejected by a person")
    parts.store.write(Changes(held=(held,), ledger=(row,) if row else (), durable=True))
    return held


def _waiting(parts: Parts, held_id: int) -> Held:
    held = find(parts, held_id)
    if held.state != "waiting":
        raise NothingToDo(f"held rewrite {held_id} was {held.state} already")
    return held


def _row(parts: Parts, held: Held, reason: str) -> LedgerRow | None:
    """The night's ledger row, now done; None when a later run replaced it."""
    row = row_of(parts.store, held.agent, "deep_dream", held.day)
    if row is None or row.state != "held":
        return None
    return replace(row, state="done", reason=reason, finished_at=parts.clock.now())
