"""The daemon's task: waits for each night, catches up those that were missed, notices when the clock jumps."""

import math
from contextlib import closing
from datetime import datetime, timedelta

from anyio import to_thread

from dreamd.clock import Clock
from dreamd.errors import DiskFull, StateLocked, StoreBusy
from dreamd.events import CLOCK_JUMPED, DISK_FULL, NIGHT_MISSED
from dreamd.locks import one_night
from dreamd.night.bell import LOOK_S, Bell, ScheduledBell
from dreamd.night.due import next_look, nights
from dreamd.night.known import known, seeded
from dreamd.night.pulse import Pulse
from dreamd.night.run import finish, read_logs
from dreamd.parts import Parts
from dreamd.tail.sync import backlog

JUMP_S = 5.0  # more than any slewing of NTP makes of a minute
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 5.0
SOON = timedelta(minutes=1)
UNTIL_THERE_IS_SPACE = timedelta(minutes=10)  # a night on a full disk could pay for replies it cannot keep


async def watch(parts: Parts, *, bell: Bell | None = None, pulse: Pulse | None = None) -> None:
    """Run every night that falls due, and never return."""
    pulse = pulse or Pulse(parts.clock)
    await to_thread.run_sync(seeded, parts)
    with closing(bell or ScheduledBell()) as ringing:
        drift = Drift(parts.clock)
        look_at = parts.clock.now()
        while True:
            jumped = drift.seconds()
            if abs(jumped) > JUMP_S:
                parts.emit(CLOCK_JUMPED, seconds=round(jumped, 1))
                look_at = parts.clock.now()
            if parts.clock.now() >= look_at:
                look_at = await look(parts)
            with pulse.asleep(at_most_s=2 * LOOK_S):
                await ringing.wait_until(look_at)


async def look(parts: Parts) -> datetime:
    """Run the nights that are due, oldest first; returns when to look again."""
    try:
        await _follower_caught_up(parts)
        async with one_night(parts.state, parts.clock):
            await read_logs(parts)
            first = await to_thread.run_sync(known, parts)
            for night in nights(first):
                for agent in night.missed:
                    parts.emit(NIGHT_MISSED, day=night.day, agent=agent)
                await finish(parts, night)
            last = await to_thread.run_sync(known, parts)
    except (StateLocked, StoreBusy):
        return parts.clock.now() + SOON
    except DiskFull:
        parts.emit(DISK_FULL, place=parts.state)
        return parts.clock.now() + UNTIL_THERE_IS_SPACE
    # a moment that passed while these nights ran lies before `last`
    return min(next_look(first), next_look(last))


async def _follower_caught_up(parts: Parts) -> None:
    """Wait while the follower works off a long log: two readers of one log only get in each other's way."""
    left, pause = math.inf, FIRST_PAUSE_S
    while 0 < (backlogged := await to_thread.run_sync(backlog, parts)) < left:
        left = backlogged
        await parts.clock.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)


class Drift:
    """Tells by how much the wall clock was set, or slept, since it was last asked."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._gap = self._now()

    def seconds(self) -> float:
        before, self._gap = self._gap, self._now()
        return self._gap - before

    def _now(self) -> float:
        return self._clock.now().timestamp() - self._clock.monotonic()
