"""Decides from response headers how long to pause a tier, or a speed, before or after it refuses. Pure.

No request is repeated after an HTTP 429: another tier answers, and later turns leave the tier out while it pauses.

The headers are those of OpenAI and of servers that follow it ("x-ratelimit-remaining-requests", with durations such as
"6m0s"), of Cerebras (the same with "-day" or "-minute" behind), and of Anthropic
("anthropic-fast-output-tokens-remaining", with instants).
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pipecat.utils.errors import extract_http_status_code

from voice.llm.answer.provider_note import RateLimitPause, RemainingRequests

GONE_FOR = 3600.0
"""Seconds for which to avoid a model that its provider does not have (any more)."""
NO_CREDIT_FOR = 30.0
"""Seconds for which to avoid a provider that demands payment first."""
USUAL_REST = 30.0
"""The assumed duration of a limit in seconds, if the provider does not state it."""
FAST_POOL = "anthropic-fast"
"""The name of Anthropic's limits for its fast speed."""
_THEIRS = re.compile(r"(anthropic-ratelimit|anthropic-fast)-(requests|(?:input-|output-)?tokens)-remaining")
_USUAL = re.compile(r"(x-ratelimit)-remaining-(requests|tokens)(?:-(?:second|minute|hour|day))?")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Limit:
    """The remaining part of a limit.

    Parameters:
        pool: whose limit it is, such as `FAST_POOL`.
        of: the limited quantity: requests, tokens, input-tokens or output-tokens.
        remaining: how many are left.
        resets_in: seconds until it is fully restored; None if the provider does not say.
    """

    pool: str
    of: str
    remaining: int
    resets_in: float | None


def read_limits(headers: Mapping[str, str], now: datetime) -> list[Limit]:
    """The limits in a response's headers; unreadable headers are ignored."""
    found = []
    for name, value in headers.items():
        match = _THEIRS.fullmatch(name.lower()) or _USUAL.fullmatch(name.lower())
        if match and value.strip().isdecimal():
            resets = seconds_until(headers.get(name.lower().replace("remaining", "reset"), ""), now)
            found.append(Limit(match[1], match[2], int(value), resets))
    return found


def before_refusal(limits: list[Limit], *, pool: str | None = None, given: int, output: int) -> RateLimitPause | None:
    """How long to pause because one more request might be refused; None while enough is left.

    Token limits may not yet count the request under way, so there must be enough for two.

    Args:
        limits: see `read_limits`.
        pool: whose limits count; None for all except those of Anthropic's fast speed.
        given: tokens that a request gives the model.
        output: the longest answer, in tokens.
    """
    takes = {"requests": 1, "tokens": 2 * (given + output), "input-tokens": 2 * given, "output-tokens": 2 * output}
    counting = [limit for limit in limits if limit.pool == pool or (pool is None and limit.pool != FAST_POOL)]
    short = [limit for limit in counting if limit.remaining < takes[limit.of]]
    if not short:
        return None
    last = max(short, key=_wait)
    return RateLimitPause(
        seconds=_wait(last), why=f"its limit of {last.of.replace('-', ' ')} is nearly used up ({last.remaining} left)"
    )


def room(limits: list[Limit], *, given: int, output: int) -> RemainingRequests | None:
    """The number of further requests allowed by the tightest limit; None if no limit is known.

    Args:
        limits: see `read_limits`; those of Anthropic's fast speed do not count.
        given: tokens that a request gives the model.
        output: the longest answer, in tokens.
    """
    takes = {"requests": 1, "tokens": given + output, "input-tokens": given, "output-tokens": output}
    counting = [limit for limit in limits if limit.pool != FAST_POOL]
    if not counting:
        return None
    scarcest = min(counting, key=lambda limit: limit.remaining // max(1, takes[limit.of]))
    return RemainingRequests(requests=scarcest.remaining // max(1, takes[scarcest.of]), seconds=_wait(scarcest))


def rest_after(error: BaseException | None, now: datetime) -> RateLimitPause | None:
    """How long to pause a tier after this error; None if the next turn may ask it."""
    status = extract_http_status_code(error) if error is not None else None
    match status:
        case 404:
            return RateLimitPause(seconds=GONE_FOR, why="its provider does not have the model (any more)")
        case 402:
            return RateLimitPause(seconds=NO_CREDIT_FOR, why="its provider demands payment first")
        case 429 | 503 | 529 if (wait := retry_after(error, now)) is not None:
            return RateLimitPause(seconds=wait, why=f"its provider answered HTTP {status} and asked for this wait")
    return None


def retry_after(error: BaseException | None, now: datetime) -> float | None:
    """The wait in seconds that the headers of a provider's error ask for, at most an hour; None without."""
    # An error in a socket's event carries its own headers.
    headers = getattr(getattr(error, "response", error), "headers", None)
    wait = seconds_until(str(headers.get("retry-after", "")), now) if headers is not None else None
    return None if wait is None else min(wait, GONE_FOR)


def seconds_until(text: str, now: datetime) -> float | None:
    """Seconds until an instant, given as a duration ("6m0s", "1.5"), in ISO 8601 or as an HTTP date; None otherwise."""
    text = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if re.fullmatch(f"(?:{_PART.pattern})+", text):
        return math.fsum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        try:
            instant = parsedate_to_datetime(text)
        except ValueError:
            return None
    return max(0.0, ((instant if instant.tzinfo else instant.replace(tzinfo=UTC)) - now).total_seconds())


def duration(seconds: float) -> str:
    """A duration in readable form."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _wait(limit: Limit) -> float:
    return USUAL_REST if limit.resets_in is None else limit.resets_in
