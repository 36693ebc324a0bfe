"""The daemon's task: keeps the index near the pool, apart from ingest, and gives memories their vectors where that is wanted."""

from anyio import to_thread

from dreamd.courtesy import PAUSE
from dreamd.errors import DiskFull, ProviderError, StoreBusy
from dreamd.events import DISK_FULL, EMBEDDINGS_RETURNED, EMBEDDINGS_UNAVAILABLE
from dreamd.indexes.base import Index
from dreamd.parts import Parts
from dreamd.recall.following import PAGE, follow
from dreamd.recall.meant import mean

LOOK_S = 30.0  # between two looks, when the index has come up to the pool: a recall does the rest
_REST = 1.0  # times as long as a page took: whoever reads logs or answers comes first
_SHORTEST_REST_S = 0.02
_SMALL_PAGE = 10  # memories, while a call passes the gateway
AGAIN_S = 300.0  # after a full disk, or a server of embeddings that is down


async def watch(parts: Parts) -> None:
    """Never returns. Raises StoreError."""
    if parts.index is None:
        raise TypeError("the daemon has an index")
    well = True
    while True:
        pause = await _followed(parts, parts.index)
        if pause == LOOK_S:
            well = await _meant(parts, well=well)
            pause = LOOK_S if well else AGAIN_S
        await parts.clock.sleep(pause)


async def _followed(parts: Parts, index: Index) -> float:
    """Bring the index nearer by a page; seconds to wait before the next."""
    began = parts.clock.monotonic()
    busy = await to_thread.run_sync(parts.busy)
    page, rest = (_SMALL_PAGE, PAUSE) if busy() else (PAGE, _REST)
    try:
        near = await to_thread.run_sync(_nearer, parts, index, page)
    except StoreBusy:
        near = False
    except DiskFull:
        parts.emit(DISK_FULL, what="recall.db", again_in_s=AGAIN_S)
        return AGAIN_S
    took = parts.clock.monotonic() - began
    return LOOK_S if near else max(took * rest, _SHORTEST_REST_S)


def _nearer(parts: Parts, index: Index, page: int) -> bool:
    """Whether there is nothing more to do."""
    return follow(parts.store, index, pages=1, page=page) and not index.tidy()


async def _meant(parts: Parts, *, well: bool) -> bool:
    """Whether the server of embeddings answers; told when that changes."""
    try:
        while await mean(parts):
            await parts.clock.sleep(_SHORTEST_REST_S)
    except ProviderError as error:
        if well:
            parts.emit(EMBEDDINGS_UNAVAILABLE, reason=str(error), again_in_s=AGAIN_S)
        return False
    if not well:
        parts.emit(EMBEDDINGS_RETURNED)
    return True
