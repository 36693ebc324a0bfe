"""Background work makes way for calls, and always goes on."""

import pytest

from dreamd.courtesy import LONGEST_PAUSE_S, PAUSE, SLICE_S, Courtesy


class Worker:
    """Its clock moves when it works or waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls = True
        self.waits: list[float] = []
        self.courtesy = Courtesy(lambda: self.calls, self.wait, lambda: self.now)

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def works(self, seconds: float) -> None:
        self.now += seconds


def test_a_slice_is_free_and_what_is_beyond_it_is_paid_with_a_pause() -> None:
    worker = Worker()
    worker.works(SLICE_S / 2)
    assert not worker.courtesy.enough()
    worker.courtesy.rest()
    assert worker.waits == []
    worker.works(SLICE_S)
    assert worker.courtesy.enough()
    worker.courtesy.rest()
    assert worker.waits == [PAUSE * 1.5 * SLICE_S]
    assert not worker.courtesy.enough()


def test_without_calls_nothing_is_sliced_and_nothing_waits() -> None:
    worker = Worker()
    worker.calls = False
    worker.works(100.0)
    assert not worker.courtesy.enough()
    worker.courtesy.rest()
    assert worker.waits == []


def test_work_done_before_a_call_came_is_not_paid_for() -> None:
    worker = Worker()
    worker.calls = False
    worker.works(100.0)
    worker.courtesy.rest()
    worker.calls = True
    worker.works(2 * SLICE_S)
    worker.courtesy.rest()
    assert worker.waits == pytest.approx([PAUSE * 2 * SLICE_S])


def test_no_pause_is_endless_whatever_went_before() -> None:
    worker = Worker()
    worker.works(3600.0)
    worker.courtesy.rest()
    assert worker.waits == [LONGEST_PAUSE_S]
