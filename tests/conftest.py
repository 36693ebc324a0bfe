"""What every test has: a still clock, a fresh in-memory house, and an event loop that may not be blocked."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import settings

from dreamd.clock import StillClock

SHARED = Path(__file__).parent.parent.parent / "shared"


settings.register_profile("dreamd", deadline=None)  # no test asserts a time: machines differ
settings.load_profile("dreamd")


@pytest.fixture(autouse=True)
def _a_blocked_loop_fails() -> Iterator[BlockBuster]:
    with blockbuster_ctx("dreamd") as blocker:
        yield blocker


@pytest.fixture
def clock() -> StillClock:
    return StillClock(datetime(2026, 3, 2, 12, 0, tzinfo=UTC))


@pytest.fixture
def shared() -> Path:
    """The folder of samples and data beside the checkout; the test skips without it."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared")
    return SHARED
