from dreamd.clock import StillClock
from dreamd.night.pulse import Pulse


def test_a_pulse_is_late_only_when_a_sleeper_overslept(clock: StillClock) -> None:
    pulse = Pulse(clock)
    assert not pulse.late()
    with pulse.asleep(at_most_s=10):
        clock.ticks += 10
        assert not pulse.late()
        clock.ticks += 1
        assert pulse.late()
    assert not pulse.late()
