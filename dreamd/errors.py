"""Every error of dreamd: one root, few classes, each saying what the caller and the person should do."""

import errno
from typing import ClassVar


class DreamdError(Exception):
    """What went wrong, where, and what to do about it, in one line.

    `what` says what and where; `hint` says what the person should do. Neither ever holds log text,
    prompts or secrets.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what}; {self.hint}" if self.hint else self.what


class ConfigError(DreamdError):
    """The configuration cannot be used; nothing was started or changed."""

    exit_code = 2


class UsageError(DreamdError):
    """The command's words are off: an unknown agent, a date that is none, a path that is not there."""

    exit_code = 2


class NothingToDo(DreamdError):
    """There is nothing to take back, or it was decided already; nothing was changed."""


class LogUnreadable(DreamdError):
    """A session log cannot be opened or understood; it is left alone and tried again later."""


class WorkspaceError(DreamdError):
    """An agent's workspace is missing, not writable, or a path would leave it."""


class FileChanged(DreamdError):
    """The file was edited between reading and writing; nothing was written. Merge, or try again."""


class DiskFull(DreamdError):
    """No space left; nothing was half written."""

    @staticmethod
    def is_told_by(error: OSError) -> bool:
        """Whether the system means this: the disk, or the user's share of it, is full."""
        return error.errno in (errno.ENOSPC, errno.EDQUOT)


class HeldForReview(DreamdError):
    """A rewrite waits for a person (`dreamd held`); nothing was written."""

    exit_code = 3


class StoreError(DreamdError):
    """The store refused; the transaction was rolled back whole."""


class StoreTooNew(StoreError):
    """The database was written by a newer dreamd; it was not touched."""


class StoreCorrupt(StoreError):
    """The database does not read back; it was not touched."""


class StoreConflict(StoreError):
    """Another process moved the same cursor meanwhile; nothing was written. Reload the cursor and read again."""


class StoreBusy(StoreError):
    """Another process holds the store for longer than we wait; try again."""


class StateLocked(DreamdError):
    """Another daemon runs on the same state folder."""


class ProviderError(DreamdError):
    """An LLM call failed for good: do not repeat it as it stands."""


class ProviderRefused(ProviderError):
    """The key, model or request was refused (401, 403, 404, other 4xx, spent credit): a person must act."""


class PromptTooLong(ProviderError):
    """The request is larger than the model takes: split it."""


class ProviderUnreachable(ProviderError):
    """Connection, time-out or server fault: repeat later. `timed_out`: it was there, and did not answer in time."""

    def __init__(self, what: str, *, timed_out: bool = False, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.timed_out = timed_out


class ProviderBusy(ProviderError):
    """Rate limit or overload: repeat after `retry_after_s` seconds (None: the server did not say)."""

    def __init__(self, what: str, *, retry_after_s: float | None = None, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.retry_after_s = retry_after_s


class ReplyUnusable(ProviderError):
    """An answer came and was paid for, but is empty, cut off, HTML or of the wrong shape."""


class BudgetSpent(ProviderError):
    """The agent's own share of `[budget]` is used up: nobody else waits for it to be free; what was to be done is tried again."""


class Parked(DreamdError):
    """A group of memories could not be distilled; it waits for the next dream, nothing of it was written."""


def told(error: BaseException) -> dict[str, object]:
    """What an event may say of an error: our own words, or of a bug its class and place, for its text may quote a log."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, DreamdError):
        return {"error": type(error).__name__, "reason": str(error)}
    place = error.__traceback__
    while place and place.tb_next:
        place = place.tb_next
    at = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
    return {"error": type(error).__name__, "at": at}
