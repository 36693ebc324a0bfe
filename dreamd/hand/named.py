"""The beginning of a memory's id in; the one memory that it names out. And what a person wrote in; whether it is text, out."""

from dreamd.errors import UsageError
from dreamd.memories import THERE, Memory, MemoryType, Status
from dreamd.stores.base import MemoryQuery, Store


def readable(text: str) -> str:
    """The text itself. Raises UsageError when it came as bytes that are none."""
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    raise UsageError("it holds bytes that are no UTF-8 text", hint="check the encoding of your terminal")


def named(
    store: Store,
    memory_id: str,
    types: tuple[MemoryType, ...] = (),
    *,
    statuses: tuple[Status, ...] = THERE,
) -> Memory:
    """A memory of these statuses, by default of any but forgotten. Blocks. Raises UsageError unless there is just one."""
    query = MemoryQuery(id_prefix=readable(memory_id), types=types, statuses=statuses, limit=2)
    found = list(store.memories(query)) if memory_id else []
    what = types[0] if len(types) == 1 else "memory"
    if not found:
        raise UsageError(f"no {what} {memory_id!r}", hint="`dreamd memories` and `dreamd insights` list them")
    if found[1:]:
        raise UsageError(
            f"more than one {what} begins with {memory_id!r}",
            hint="write more of its id; `dreamd memories --json` has it whole",
        )
    return found[0]
