"""What an upstream says of its quota and its patience: an answer's headers in, seconds to stay away out (pure).

Three dialects: OpenAI's and Anthropic's token buckets, which fill up again steadily until `reset`, and Anthropic's
subscriptions, whose windows are emptied at once at `reset`. Nonsense (-1, 0 of 0, no number) counts as not said.
"""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from msgspec import Struct

BUCKETS = (
    *(
        (f"x-ratelimit-remaining-{kind}", f"x-ratelimit-limit-{kind}", f"x-ratelimit-reset-{kind}")
        for kind in ("requests", "tokens")
    ),
    *(
        (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-limit", f"anthropic-ratelimit-{kind}-reset")
        for kind in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
)  # fmt: skip
WINDOWS = ("5h", "7d")
UNIFIED = "anthropic-ratelimit-unified"
UNKNOWN_S, LONGEST_S = 60.0, 8 * 86400.0
_GO_DURATION = re.compile(
    r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?"
)
_UNITS_S = (86400.0, 3600.0, 60.0, 1.0, 0.001)


class Quota(Struct, frozen=True):
    """One quota: the share that is left, the seconds until it is whole again, and whether it fills steadily."""

    left: float
    reset_s: float
    steady: bool


def is_told(name: bytes) -> bool:
    """Whether a header matters here; the name is in lower case."""
    return name.startswith((b"x-ratelimit-", b"anthropic-ratelimit-", b"retry-after")) or name == b"date"


def quotas(headers: Mapping[str, str], now: datetime) -> list[Quota]:
    """All quotas that an answer tells of. Names are in lower case. Moments are measured by the server's own clock."""
    now = _date(headers.get("date", "")) or now
    return [*_buckets(headers, now), *_windows(headers, now)]


def away_s(told: list[Quota], reserve: float) -> float:
    """For how long dream calls leave what is left to the foreground; 0: there is more than the reserve."""
    return max((_until_reserve(quota, reserve) for quota in told if quota.left < reserve), default=0.0)


def _until_reserve(quota: Quota, reserve: float) -> float:
    share = (reserve - quota.left) / (1 - quota.left) if quota.steady else 1.0
    return min(max(quota.reset_s * share, 0.0), LONGEST_S)


def _buckets(headers: Mapping[str, str], now: datetime) -> Iterator[Quota]:
    for remaining_name, limit_name, reset_name in BUCKETS:
        remaining, limit = _number(headers.get(remaining_name)), _number(headers.get(limit_name))
        if remaining is not None and limit is not None and remaining >= 0 and limit > 0:
            reset_s = _seconds(headers.get(reset_name, ""), now)
            yield Quota(min(remaining / limit, 1.0), UNKNOWN_S if reset_s is None else reset_s, steady=True)


def _windows(headers: Mapping[str, str], now: datetime) -> Iterator[Quota]:
    for window in WINDOWS:
        used = _number(headers.get(f"{UNIFIED}-{window}-utilization"))
        reset_s = _seconds(headers.get(f"{UNIFIED}-{window}-reset", ""), now)
        spent = headers.get(f"{UNIFIED}-{window}-status") == "rejected"
        if spent or (used is not None and used >= 0):
            left = 0.0 if spent or used is None else max(1 - used, 0.0)
            yield Quota(left, UNKNOWN_S if reset_s is None else reset_s, steady=False)


def _seconds(text: str, now: datetime) -> float | None:
    """From now: a Go duration (`6m0s`), plain seconds, seconds since 1970, or a moment of RFC 3339."""
    number = _number(text)
    if number is not None:
        return number - now.timestamp() if number > 1e9 else number  # noqa: PLR2004 - 1e9 s are 31 years
    duration = _GO_DURATION.fullmatch(text)
    if text and duration:
        return sum(float(part or 0) * unit for part, unit in zip(duration.groups(), _UNITS_S, strict=True))
    moment = _moment(text)
    return (moment - now).total_seconds() if moment else None


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None
