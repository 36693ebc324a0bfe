"""Rewrites that wait for a person: accepting writes one as it would have been written then, rejecting drops it."""

from msgspec.structs import replace

from dreamd.deep_dream import memory_file
from dreamd.deep_dream.writing import Written, decoded, resume, write
from dreamd.errors import UsageError
from dreamd.parts import Parts
from dreamd.stores.base import Changes, Held, LedgerRow


def find(parts: Parts, held_id: int) -> Held:
    """Raises UsageError when there is none of that number."""
    found = next((held for held in parts.store.held() if held.held_id == held_id), None)
    if found is None:
        raise UsageError(f"no held rewrite {held_id}", hint="see `dreamd held list`")
    return found


def accept(parts: Parts, held_id: int) -> Written:
    """Write it now, merging what was edited since. Blocking.

    Raises UsageError (unknown, or decided already), FileChanged (edited at the same lines), WorkspaceError, DiskFull.
    """
    held = _waiting(parts, held_id)
    resume(parts, held.agent)
    decided = decoded(held.detail)
    entries = len(memory_file.lines_of(held.content))
    intent = replace(
        decided,
        author="accepted",
        note=f"held rewrite {held_id} accepted",
        row=_row(parts, held, f"accepted by a person; {entries} entries"),
        held=replace(held, state="accepted"),
    )
    return write(parts, intent)


def reject(parts: Parts, held_id: int) -> Held:
    """Drop it; MEMORY.md stays. Raises UsageError."""
    held = replace(_waiting(parts, held_id), state="rejected")
    row = _row(parts, held, "rejected by a person")
    parts.store.write(Changes(held=(held,), ledger=(row,) if row else (), durable=True))
    return held


def _waiting(parts: Parts, held_id: int) -> Held:
    held = find(parts, held_id)
    if held.state != "waiting":
        raise UsageError(f"held rewrite {held_id} was {held.state} already")
    return held


def _row(parts: Parts, held: Held, reason: str) -> LedgerRow | None:
    """The night's ledger row, now done; None when a later run replaced it."""
    rows = parts.store.ledger(held.agent, "deep_dream", held.day)
    row = next((row for row in rows if row.day == held.day and row.state == "held"), None)
    return replace(row, state="done", reason=reason, finished_at=parts.clock.now()) if row else None
