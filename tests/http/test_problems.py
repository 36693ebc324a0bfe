"""Errors become problems by their class, in our own words."""

import msgspec
import pytest

from dreamd.errors import (
    DiskFull,
    DreamdError,
    FileChanged,
    NothingToDo,
    ProviderBusy,
    ProviderRefused,
    StateLocked,
    StoreBusy,
    StoreCorrupt,
    UsageError,
)
from dreamd.http.problems import Problem, Refused, headers_of, status_of, written


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("x"), 422),
        (NothingToDo("x"), 409),
        (FileChanged("x"), 409),
        (StateLocked("x"), 409),
        (StoreBusy("x"), 503),
        (StoreCorrupt("x"), 500),
        (DiskFull("x"), 507),
        (ProviderBusy("x"), 503),
        (ProviderRefused("x"), 502),
        (DreamdError("x"), 500),
        (Refused(418, "x"), 418),
    ],
)
def test_the_class_of_an_error_tells_the_status(error: DreamdError, status: int) -> None:
    assert status_of(error) == status


def test_a_problem_says_what_where_and_what_to_do() -> None:
    problem = msgspec.json.decode(
        written(StateLocked("a night is being run", hint="wait for it")), type=Problem
    )
    assert problem == Problem(
        title="Conflict", status=409, detail="a night is being run", hint="wait for it", error="StateLocked"
    )


def test_who_is_told_to_come_again_is_told_when() -> None:
    assert headers_of(StoreBusy("x")) == (("retry-after", "1"),)
    assert headers_of(UsageError("x")) == ()
    assert headers_of(Refused(429, "x", headers=(("retry-after", "7"),))) == (("retry-after", "7"),)
