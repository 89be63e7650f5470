"""A tier, or a speed, is left before its limits refuse; decided from headers alone."""

from datetime import UTC, datetime, timedelta

import pytest

from voice.llm.wires.events import ProviderError
from voice.llm.wires.rate_limits import (
    FAST_POOL,
    GONE_FOR,
    before_refusal,
    duration,
    read_limits,
    rest_after,
    seconds_until,
)

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0),
        ("1s", 1.0),
        ("120ms", 0.12),
        ("1h2m3.5s", 3723.5),
        ("33011.4", 33011.4),
        ("2026-11-23T12:00:30Z", 30.0),
        ("2026-11-23T11:59:30Z", 0.0),
        ("Mon, 23 Nov 2026 12:01:00 GMT", 60.0),
        ("Mon, 23 Nov 2026 11:59:00 GMT", 0.0),
        ("Mon, 99 Nov 2026 11:59:00 GMT", None),
        ("soon", None),
        ("", None),
    ],
)
def test_the_time_until_a_limit_is_whole_is_read_in_every_form(text: str, seconds: float | None) -> None:
    assert seconds_until(text, NOW) == seconds


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("60", 60.0),
        ("Mon, 23 Nov 2026 12:01:00 GMT", 60.0),
        ("Sat, 23 Nov 2126 12:00:00 GMT", GONE_FOR),
        ("99999999999", GONE_FOR),
        ("-5", None),
        ("later", None),
    ],
)
def test_a_provider_that_asks_to_wait_is_left_alone_so_long(header: str, seconds: float | None) -> None:
    error = ProviderError({"error": {"message": "slow down", "code": 429}}, headers={"retry-after": header})
    rest = rest_after(error, NOW)
    assert (rest and rest.seconds) == seconds


def test_the_headers_of_each_provider_are_read_and_others_left_alone() -> None:
    headers = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-remaining-tokens-minute": "60000",
        "x-ratelimit-reset-tokens-minute": "12.5",
        "anthropic-fast-output-tokens-remaining": "700",
        "anthropic-fast-output-tokens-reset": "2026-11-23T12:01:00Z",
        "anthropic-ratelimit-requests-remaining": "unlimited",
        "content-type": "text/event-stream",
    }
    found = {(limit.pool, limit.of): (limit.remaining, limit.resets_in) for limit in read_limits(headers, NOW)}
    assert found == {
        ("x-ratelimit", "requests"): (499, 0.12),
        ("x-ratelimit", "tokens"): (60000, 12.5),
        (FAST_POOL, "output-tokens"): (700, 60.0),
    }


def test_headers_that_count_down_lead_away_before_the_last_request_is_refused() -> None:
    """A provider with ten requests a minute, of which each is answered: the eleventh is never asked."""
    left, asked = 10, 0
    while True:
        assert left > 0, "a request was refused"
        left, asked = left - 1, asked + 1
        headers = {"x-ratelimit-remaining-requests": str(left), "x-ratelimit-reset-requests": "6s"}
        if rest := before_refusal(read_limits(headers, NOW), given=100, output=300):
            break
    assert asked == 10
    assert (rest.seconds, rest.why) == (6.0, "its limit of requests is nearly used up (0 left)")


@pytest.mark.parametrize(
    ("name", "enough"), [("tokens", 2 * (100 + 300)), ("input-tokens", 2 * 100), ("output-tokens", 2 * 300)]
)
def test_tokens_must_suffice_for_the_request_under_way_and_the_next_one(name: str, enough: int) -> None:
    for remaining, is_left in ((enough, False), (enough - 1, True)):
        headers = {f"anthropic-ratelimit-{name}-remaining": str(remaining)}
        rest = before_refusal(read_limits(headers, NOW), given=100, output=300)
        assert (rest is not None) is is_left
    assert rest is not None
    assert rest.seconds == 30.0, "where the provider does not say"


def test_the_limits_of_the_fast_speed_say_nothing_of_the_tier_and_the_other_way_round() -> None:
    reset = (NOW + timedelta(seconds=20)).isoformat()
    fast = {"anthropic-fast-output-tokens-remaining": "0", "anthropic-fast-output-tokens-reset": reset}
    assert before_refusal(read_limits(fast, NOW), given=1, output=1) is None
    rest = before_refusal(read_limits(fast, NOW), pool=FAST_POOL, given=1, output=1)
    assert rest is not None
    assert rest.seconds == 20.0
    usual = {"anthropic-ratelimit-requests-remaining": "0"}
    assert before_refusal(read_limits(usual, NOW), pool=FAST_POOL, given=1, output=1) is None


def test_a_duration_is_short_to_read() -> None:
    assert [duration(seconds) for seconds in (3.0, 119.0, 3600.0)] == ["3 s", "119 s", "60 min"]
