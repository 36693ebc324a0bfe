"""An error in, the problem (RFC 9457) that a caller reads out: one line, our own words, never a log's."""

from http import HTTPStatus
from typing import Final

import msgspec
from msgspec import Struct

from dreamd.errors import (
    DiskFull,
    DreamdError,
    FileChanged,
    HeldForReview,
    NothingToDo,
    ProviderBusy,
    ProviderError,
    StateLocked,
    StoreBusy,
    StoreConflict,
    UsageError,
)

Headers = tuple[tuple[str, str], ...]
CLOSE: Final[Headers] = (("connection", "close"),)

_STATUSES: dict[type[DreamdError], int] = {
    UsageError: 422,
    NothingToDo: 409,
    FileChanged: 409,
    HeldForReview: 409,
    StateLocked: 409,
    StoreConflict: 409,
    StoreBusy: 503,
    DiskFull: 507,
    ProviderBusy: 503,
    ProviderError: 502,
}


class Refused(DreamdError):
    """A request that cannot be answered as it stands. `headers` go with the answer."""

    def __init__(self, status: int, what: str, *, hint: str = "", headers: Headers = ()) -> None:
        super().__init__(what, hint=hint)
        self.status = status
        self.headers = headers


class Problem(Struct, frozen=True, kw_only=True):
    """What went wrong: `detail` says what and where, `hint` what to do, `error` is the class of dreamd's error."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    hint: str = ""
    error: str = ""


def problem(error: DreamdError) -> Problem:
    status = status_of(error)
    return Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=error.what,
        hint=error.hint,
        error="" if isinstance(error, Refused) else type(error).__name__,
    )


def bug() -> Refused:
    """What a caller is told of one."""
    return Refused(500, "dreamd failed", hint="its log says where")


def status_of(error: DreamdError) -> int:
    if isinstance(error, Refused):
        return error.status
    return next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), 500)


def headers_of(error: DreamdError) -> Headers:
    if isinstance(error, Refused):
        return error.headers
    return (("retry-after", "1"),) if status_of(error) == HTTPStatus.SERVICE_UNAVAILABLE else ()


def written(error: DreamdError) -> bytes:
    """The body, of the type `application/problem+json`."""
    return msgspec.json.encode(problem(error))
