"""What other processes may know of the gateway and the calls that pass it: kept in the store while there is news."""

from datetime import datetime

import msgspec
from msgspec import Struct

from dreamd.stores.base import Changes, Store

KEY = "gateway"


class UpstreamShown(Struct, frozen=True):
    """Connections to one upstream, those that wait for a call included. `reachable` as of the last connection tried."""

    name: str
    open: int
    idle: int
    reachable: bool = True


class Passing(Struct, frozen=True, kw_only=True):
    """Of one gateway: `connections` of its clients, `under_way` and `announced` calls now.

    The other numbers count since it was opened: calls, those announced as foreground, those it answered itself, those
    that the upstream broke off or the client left before the end of the answer, and requests that were sent again.
    """

    connections: int = 0
    under_way: int = 0
    announced: int = 0
    calls: int = 0
    foreground: int = 0
    refused: int = 0
    broken_off: int = 0
    client_gone: int = 0
    repeated: int = 0
    upstreams: tuple[UpstreamShown, ...] = ()


class GatewayShown(Struct, frozen=True):
    """The gateway as process `pid` last saw it; `listen` is "" while it does not."""

    listen: str
    pid: int
    at: datetime
    passing: Passing


def publish(store: Store, one: GatewayShown) -> None:
    """Raises StoreError, DiskFull."""
    store.write(Changes(meta={KEY: msgspec.json.encode(one).decode()}))


def published(store: Store, pid: int) -> GatewayShown | None:
    """What that process published last. None where it listens nowhere, or another version of dreamd did it."""
    kept = store.meta(KEY)
    try:
        one = msgspec.json.decode(kept, type=GatewayShown) if kept else None
    except msgspec.DecodeError:
        return None
    return one if one is not None and one.pid == pid and one.listen else None
