from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreamd.gate.quota import LONGEST_S, UNKNOWN_S, away_s, is_told, quotas

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
RESERVE = 0.25


def away(**headers: str) -> float:
    return away_s(quotas({name.replace("_", "-"): value for name, value in headers.items()}, NOW), RESERVE)


def test_above_the_reserve_nobody_stays_away() -> None:
    assert away(x_ratelimit_remaining_tokens="90", x_ratelimit_limit_tokens="100") == 0


@pytest.mark.parametrize(
    ("reset", "seconds"), [("6m0s", 360), ("1s", 1), ("120ms", 0.12), ("1h2m", 3720), ("30", 30)]
)
def test_an_empty_bucket_of_openai_is_left_alone_until_it_has_filled_up_to_the_reserve(
    reset: str, seconds: float
) -> None:
    found = away(
        x_ratelimit_remaining_requests="0",
        x_ratelimit_limit_requests="100",
        x_ratelimit_reset_requests=reset,
    )
    assert found == pytest.approx(seconds * RESERVE)


def test_anthropics_reset_is_a_moment_measured_by_the_servers_own_clock() -> None:
    found = away(
        anthropic_ratelimit_input_tokens_remaining="0",
        anthropic_ratelimit_input_tokens_limit="40000",
        anthropic_ratelimit_input_tokens_reset="2026-03-02T15:01:00Z",
        date="Mon, 02 Mar 2026 15:00:00 GMT",
    )
    assert found == pytest.approx(60 * RESERVE)


@pytest.mark.parametrize("reset", ["2026-03-02T14:00:00Z", str(int(NOW.timestamp()) + 7200)])
def test_a_subscriptions_window_is_left_alone_until_it_begins_anew(reset: str) -> None:
    found = away(anthropic_ratelimit_unified_5h_utilization="0.8", anthropic_ratelimit_unified_5h_reset=reset)
    assert found == pytest.approx(7200)


def test_a_rejected_window_counts_as_empty() -> None:
    assert away(anthropic_ratelimit_unified_7d_status="rejected") == UNKNOWN_S


@pytest.mark.parametrize(("remaining", "limit"), [("-1", "100"), ("0", "0"), ("soon", "100"), ("0", "-1")])
def test_nonsense_counts_as_not_said(remaining: str, limit: str) -> None:
    assert away(x_ratelimit_remaining_tokens=remaining, x_ratelimit_limit_tokens=limit) == 0


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_whatever_a_server_says_nobody_stays_away_for_ever(remaining: str, limit: str, reset: str) -> None:
    headers = {
        "x-ratelimit-remaining-tokens": remaining,
        "x-ratelimit-limit-tokens": limit,
        "x-ratelimit-reset-tokens": reset,
        "anthropic-ratelimit-unified-5h-utilization": remaining,
        "anthropic-ratelimit-unified-5h-reset": reset,
        "date": limit,
    }
    assert 0 <= away_s(quotas(headers, NOW), RESERVE) <= LONGEST_S


def test_only_headers_that_matter_are_looked_at() -> None:
    assert is_told(b"retry-after-ms")
    assert not is_told(b"set-cookie")
