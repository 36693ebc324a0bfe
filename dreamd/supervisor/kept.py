"""A task in; the same task for ever out.

One that fails is told and begun again after a pause that doubles, so it is never silent and never spins.
"""

from collections import Counter
from collections.abc import Awaitable, Callable

from dreamd.errors import told
from dreamd.events import TASK_FAILED
from dreamd.parts import Parts

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0

Failures = Counter[str]  # of each task, those in a row


async def kept(name: str, task: Callable[[], Awaitable[None]], parts: Parts, failures: Failures) -> None:
    while True:
        began = parts.clock.monotonic()
        try:
            await task()
        except Exception as error:  # noqa: BLE001 - the one place: a bug in one task must not end the other
            if parts.clock.monotonic() - began > LONGEST_PAUSE_S:
                failures[name] = 0
            pause = min(FIRST_PAUSE_S * 2 ** failures[name], LONGEST_PAUSE_S)
            failures[name] += 1
            parts.emit(TASK_FAILED, task=name, **told(error), again_in_s=pause)
            await parts.clock.sleep(pause)
        else:  # one that has nothing to do now is asked again
            await parts.clock.sleep(FIRST_PAUSE_S)
