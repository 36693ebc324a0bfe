"""What the watchdog hears: while a task goes on failing it is not fed, and systemd starts the process anew."""

from anyio import to_thread
from msgspec import Struct, field

from dreamd import sdnotify
from dreamd.errors import DreamdError
from dreamd.night.pulse import Pulse
from dreamd.parts import Parts
from dreamd.supervisor.kept import Failures

FAILURES_IN_A_ROW = 6  # of one task, about a minute: then the watchdog goes hungry


class Health(Struct):
    """Tasks that failed and have not recovered, and a night watch that overslept."""

    pulse: Pulse
    failures: Failures = field(default_factory=Failures)

    def well(self) -> bool:
        return not self.pulse.late() and max(self.failures.values(), default=0) < FAILURES_IN_A_ROW


async def watchdog_fed(parts: Parts, health: Health) -> None:
    """From the event loop, after a real read of the store and a look at the tasks: a hung part must not look healthy."""
    every = sdnotify.watchdog_s()
    while every is not None:
        try:
            await to_thread.run_sync(parts.store.meta, "night.seed")
        except DreamdError:
            health.failures["store"] += 1
        else:
            health.failures["store"] = 0
        if health.well() and not health.failures["store"]:
            sdnotify.notify(sdnotify.WATCHDOG)
        await parts.clock.sleep(every)
