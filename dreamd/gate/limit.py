"""How many calls an upstream takes at once, learned from how its calls went (pure; times are monotonic seconds).

1. The limit starts at the floor and rises by one when a call that began as the next one above it was answered well.
   Nobody grows on calls that left slots unused.
2. A refusal (429, 529) or a time-out within the limit halves it.
3. First bytes that come late, on a server that queues instead of refusing, lead it down by one: a single one does not,
   for networks and machines stumble, and where one call in fifty is late for that no dream would ever end.
4. A number of calls that was tried in vain is not tried again before a pause, which doubles each time.
5. On an upstream that shares itself among all calls the first byte tells little, and whoever slows down feels every try:
   the pace of the tokens is the proof, and tries are rare, as on one that refuses.
6. A foreground call that came in time proves half of the calls it found, unless so many once were too many: so the limit is
   learned where the foreground never leaves a slot to try.

But for that, only dream calls are sent to try a number (`tries`) and prove one: foreground calls are short, and wait so
briefly behind each other that one more than the limit looks well.
After G. Jacobson's AIMD as in Netflix concurrency-limits and Vector's adaptive request concurrency, but that the
numbers are proven before they are used: the foreground must never meet a limit that was only hoped for.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 60.0
FIRST_REST_S, LONGEST_REST_S = 1.0, 30.0  # after a try that was broken off: the next one would be too
FIRST_SPOILT_S, LONGEST_SPOILT_S = 60.0, 240.0  # and that the foreground felt
PROOFS, MORE_PROOFS = 3, 7  # tries that must go well; more where the number once was too many
STRIKES = 2  # late ones, or one that was stuck, and the number is too many
DOUBTS, TRUST = 3.0, 0.25  # a late call is a doubt, a good one takes a quarter of it away

Verdict = Literal["good", "slow", "stuck", "shared", "refused", "unknown"]


class Limit(Struct, frozen=True, kw_only=True):
    """`calls` is the limit; `tested` once a call within it went well: before that nothing more is tried.

    `proofs` counts the calls above it that went well, `strikes` those that were late, and `doubt` late ones within it;
    `refuses`, that the upstream turns calls away when it is full, `shares`, that it runs all of them, each the slower.
    `failed` is the least number known to be too many, 0 while none is; it may be tried from `retry_at` on. Nothing is
    tried before `rest_until`; `broken` tries in a row had to make way, and the foreground felt `spoilt` of them, the
    latest one at `spoilt_at`. Calls that began before `lowered_at` tell of the time before.
    """

    floor: int
    ceiling: int
    calls: int
    tested: bool = False
    proofs: int = 0
    strikes: int = 0
    doubt: float = 0.0
    refuses: bool = False
    shares: bool = False
    failed: int = 0
    retry_at: float = 0.0
    pause_s: float = 0.0
    rest_until: float = float("-inf")
    broken: int = 0
    spoilt: int = 0
    spoilt_at: float = float("-inf")
    lowered_at: float = float("-inf")


def starting(floor: int, ceiling: int) -> Limit:
    return Limit(floor=floor, ceiling=max(floor, ceiling), calls=floor)


def tries(limit: Limit, now: float) -> bool:
    """Whether one call more than the limit may be tried."""
    if not limit.tested or limit.calls >= limit.ceiling or now < limit.rest_until:
        return False
    return not limit.failed or limit.calls + 1 < limit.failed or now >= limit.retry_at


def rested(limit: Limit, until: float) -> Limit:
    """Tries nothing before then."""
    return replace(limit, rest_until=max(limit.rest_until, until))


def is_news(limit: Limit, verdict: Verdict, in_flight: int) -> bool:
    """Whether a foreground call tells something: it goes to the upstream however many are there already."""
    if in_flight <= limit.calls:
        return True
    return verdict != "good" and not 0 < limit.failed <= in_flight


def broken_off(limit: Limit, now: float) -> Limit:
    """After a try that had to make way."""
    rest_s = min(FIRST_REST_S * 2.0 ** min(limit.broken, 16), LONGEST_REST_S)
    return replace(rested(limit, now + rest_s), broken=limit.broken + 1)


def spoilt(limit: Limit, now: float) -> Limit:
    """After a foreground call that waited for a try to leave its slot: the server is slow to notice."""
    if now < limit.spoilt_at + FIRST_SPOILT_S:  # it was the same try
        return limit
    rest_s = min(FIRST_SPOILT_S * 2.0 ** min(limit.spoilt, 16), LONGEST_SPOILT_S)
    return replace(rested(limit, now + rest_s), spoilt=limit.spoilt + 1, spoilt_at=now)


def judged(limit: Limit, verdict: Verdict, in_flight: int, began: float, now: float) -> Limit:
    """After a call that began as the `in_flight`-th."""
    if verdict == "good":
        trusted = replace(limit, doubt=max(0.0, limit.doubt - TRUST)) if limit.doubt else limit
        return _proven(trusted, in_flight)
    if verdict == "unknown" or began < limit.lowered_at:
        return limit
    if verdict == "refused":
        return _refused(limit, in_flight, now)
    if verdict == "shared":
        doubted = _doubted(limit, in_flight, now, doubt=1)
        return replace(doubted, shares=True) if doubted.doubt < limit.doubt else doubted
    return _slowed(limit, in_flight, now, strikes=STRIKES if verdict == "stuck" else 1)


def served(limit: Limit, in_flight: int) -> Limit:
    """After a foreground call that came in time as the `in_flight`-th: no queue as long as what runs stood before it."""
    most = min(in_flight // 2, limit.failed - 1 if limit.failed else limit.ceiling, limit.ceiling)
    return limit if most <= limit.calls else replace(limit, calls=most, tested=True, proofs=0, strikes=0)


def _proven(limit: Limit, in_flight: int) -> Limit:
    if in_flight <= limit.calls:
        return limit if limit.tested else replace(limit, tested=True)
    doubtful = limit.failed and in_flight >= limit.failed and not limit.shares
    limit = replace(limit, broken=0, spoilt=0)
    if limit.proofs + 1 < (MORE_PROOFS if doubtful else PROOFS):
        return replace(limit, proofs=limit.proofs + 1)
    limit = replace(limit, proofs=0, strikes=0, doubt=0.0)
    calls = min(limit.calls + 1, limit.ceiling)
    if limit.failed and in_flight >= limit.failed:  # the upstream takes more than it did
        return replace(limit, calls=calls, failed=0, pause_s=0.0)
    return replace(limit, calls=calls)


def _refused(limit: Limit, in_flight: int, now: float) -> Limit:
    failing = replace(_failing(limit, in_flight, now), refuses=True)
    if in_flight > limit.calls:  # it was only tried
        return failing
    return replace(failing, calls=max(limit.floor, in_flight // 2), tested=False, lowered_at=now)


def _slowed(limit: Limit, in_flight: int, now: float, *, strikes: int) -> Limit:
    """That one call is late may be chance; that several are, is not."""
    if in_flight > limit.calls:  # it was only tried
        tried = replace(limit, strikes=limit.strikes + strikes)
        return tried if tried.strikes < STRIKES else _failing(tried, in_flight, now)
    return _doubted(limit, in_flight, now, doubt=strikes)


def _doubted(limit: Limit, in_flight: int, now: float, *, doubt: float) -> Limit:
    if limit.doubt + doubt < DOUBTS:
        return replace(limit, doubt=limit.doubt + doubt)
    failing = _failing(limit, in_flight, now)
    if in_flight > limit.calls:
        return failing
    lowered = max(limit.floor, min(limit.calls, in_flight - 1))
    return replace(failing, calls=lowered, tested=False, lowered_at=now)


def _failing(limit: Limit, in_flight: int, now: float) -> Limit:
    longest = LONGEST_PAUSE_S * (10 if limit.refuses or limit.shares else 1)
    tried = in_flight > limit.calls
    pause_s = min(max(FIRST_PAUSE_S, limit.pause_s * 2), longest) if tried else FIRST_PAUSE_S
    failed = max(limit.floor + 1, min(in_flight, limit.failed or in_flight))
    counted = replace(limit, proofs=0, strikes=0, doubt=0.0, broken=0, spoilt=0)
    return replace(counted, failed=failed, pause_s=pause_s, retry_at=now + pause_s)
