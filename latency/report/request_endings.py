"""How requests to a language model ended that were of no use: in what failure, or with what in hand when cancelled.

A request that is cancelled because another one speaks has not failed, but what there was of it by then tells a server
that is dead from one that is slow.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from latency.judge.verdict import Reported
from latency.report.stats import Spread

UNTOLD = "no reason given"
SENT = {
    "words too": "a whole clause",
    "only the beginning of a clause": "part of a clause",
    "only a sign of life": "a reply without text",
    "nothing yet": "nothing",
}
"""The texts of `had`, which are keys of the JSON report, as people read them: what the server had sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutShort:
    """Cancelled requests that had come equally far."""

    n: int
    after_p50_ms: float | None
    """From the request to its end, of those of which that is known."""


def failures(attempts: Iterable[Reported]) -> dict[str, int]:
    """How many requests failed for which reason, as it was observed; the most frequent first."""
    failed = (attempt for attempt in attempts if attempt.get("outcome") == "failed")
    return dict(Counter(failure(attempt) for attempt in failed).most_common())


def failure(attempt: Reported) -> str:
    """Why a request failed: a sentence without its full stop."""
    why = str(attempt.get("failed") or UNTOLD).rstrip(".")
    return f"{why}, after its first words" if attempt.get("first_token") is not None else why


def cut_short(attempts: Iterable[Reported]) -> dict[str, CutShort]:
    """The cancelled requests by what they had by then; see `had`."""
    found: dict[str, list[Reported]] = {}
    for attempt in attempts:
        if attempt.get("outcome") == "cancelled":
            found.setdefault(had(attempt), []).append(attempt)
    return {what: CutShort(n=len(those), after_p50_ms=_given(those)) for what, those in found.items()}


def had(attempt: Reported) -> str:
    """What there was of a request when it was cancelled, in words."""
    if attempt.get("first_clause") is not None:
        return "words too"
    if attempt.get("first_token") is not None:
        return "only the beginning of a clause"
    return "nothing yet" if attempt.get("alive") is None else "only a sign of life"


def _given(attempts: Iterable[Reported]) -> float | None:
    known = ((one.get("request"), one.get("end")) for one in attempts)
    return Spread.of(end - request for request, end in known if request is not None and end is not None).p50
