"""What every handler is given: the parts, where the face listens, and what it keeps while it is open."""

import hmac
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from msgspec import Struct
from starlette.datastructures import Headers

from dreamd.address import Address
from dreamd.http.counters import Counters
from dreamd.http.jobs import Jobs
from dreamd.http.listening import token
from dreamd.http.problems import Refused
from dreamd.parts import Parts

P = ParamSpec("P")
T = TypeVar("T")


class Desk(Struct, frozen=True, kw_only=True):
    """`threads` bounds what the face does at a time, so that reading the logs goes on beside it."""

    parts: Parts
    where: Address
    ready: Callable[[], bool]
    jobs: Jobs
    counters: Counters
    threads: CapacityLimiter

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Blocking work in a thread."""
        return await to_thread.run_sync(lambda: work(*args, **kwargs), limiter=self.threads)

    async def authorise(self, headers: Headers) -> None:
        """Whoever may open the Unix socket may do all; over TCP the bearer of the token. Raises Refused."""
        if self.where.path:
            return
        ours = await self.run(token, self.parts.config)
        if not ours:
            raise Refused(
                403,
                "no token is configured",
                hint="set http.token_env or http.token_file, or use the Unix socket",
            )
        scheme, _, theirs = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(theirs.strip().encode(), ours.encode()):
            raise Refused(
                401, "this needs dreamd's token", hint="Authorization: Bearer TOKEN",
                headers=(("www-authenticate", 'Bearer realm="dreamd"'),),
            )  # fmt: skip
