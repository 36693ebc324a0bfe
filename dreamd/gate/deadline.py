"""A deadline that stands still while a call waits its turn: only time in which the provider works counts."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import anyio

_running: ContextVar[anyio.CancelScope | None] = ContextVar("dreamd_deadline", default=None)


class Budget:
    """Seconds that are left: of the whole before a `within` block, of the rest after it."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @contextmanager
    def within(self) -> Iterator[None]:
        """Spends what the block takes and cancels it when nothing is left. Raises TimeoutError."""
        with anyio.fail_after(self.left) as scope:
            token = _running.set(scope)
            try:
                yield
            finally:
                _running.reset(token)
                self.left = max(0.0, scope.deadline - anyio.current_time())


@contextmanager
def stands_still() -> Iterator[None]:
    """The enclosing `Budget.within`, if there is one, spends nothing meanwhile."""
    scope = _running.get()
    if scope is None:
        yield
        return
    left = scope.deadline - anyio.current_time()
    scope.deadline = math.inf
    try:
        yield
    finally:
        scope.deadline = anyio.current_time() + left


@contextmanager
def given_back(condition: Callable[[], bool]) -> Iterator[None]:
    """The enclosing `Budget.within`, if there is one, gets back what the block took if the condition holds at its end."""
    scope, began = _running.get(), anyio.current_time()
    try:
        yield
    finally:
        if scope is not None and not scope.cancel_called and condition():  # what was cut stays cut
            scope.deadline += anyio.current_time() - began
