"""How unused requests to a language model ended: why they failed, or how far they had come when they were cancelled.

A request that is cancelled because another one speaks has not failed, but how far it had come by then tells a dead
server from a slow one.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from latency.record.llm.speed import USUAL_SPEEDS
from latency.record.requests import AttemptRecord
from latency.report.stats import Spread

UNTOLD = "no reason given"
SENT = {
    "words too": "a whole clause",
    "only the beginning of a clause": "part of a clause",
    "only a sign of life": "a reply without text",
    "nothing yet": "nothing",
}
"""What the server had sent, in words for people, by the text of `had`, which is a key of the JSON report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutShort:
    """Cancelled requests that had come equally far."""

    n: int
    after_p50_ms: float | None
    """From the request to its end, where that is known."""


def failures(attempts: Iterable[AttemptRecord]) -> dict[str, int]:
    """How many requests failed for each observed reason; the most frequent first."""
    failed = (attempt for attempt in attempts if attempt.outcome == "failed")
    return dict(Counter(failure(attempt) for attempt in failed).most_common())


def failure(attempt: AttemptRecord) -> str:
    """Why a request failed: a sentence without its full stop."""
    why = (attempt.failed or UNTOLD).rstrip(".")
    return f"{why}, after its first words" if attempt.first_token is not None else why


def speed_of(attempt: AttemptRecord) -> str:
    """The speed that was asked for, and the one that was served where it is another; empty for the usual one."""
    if attempt.is_served_otherwise:
        return f"{attempt.speed}, served {attempt.served}"
    speed = attempt.speed or attempt.served
    return "" if speed is None or speed in USUAL_SPEEDS else speed


def cut_short(attempts: Iterable[AttemptRecord]) -> dict[str, CutShort]:
    """The cancelled requests by how far they had come; see `had`."""
    found: dict[str, list[AttemptRecord]] = {}
    for attempt in attempts:
        if attempt.outcome == "cancelled":
            found.setdefault(had(attempt), []).append(attempt)
    return {what: CutShort(n=len(those), after_p50_ms=_median_ms(those)) for what, those in found.items()}


def had(attempt: AttemptRecord) -> str:
    """How far a request had come when it was cancelled, in words."""
    if attempt.first_clause is not None:
        return "words too"
    if attempt.first_token is not None:
        return "only the beginning of a clause"
    return "nothing yet" if attempt.alive is None else "only a sign of life"


def _median_ms(attempts: Iterable[AttemptRecord]) -> float | None:
    known = ((one.request, one.end) for one in attempts)
    return Spread.of(end - request for request, end in known if request is not None and end is not None).p50
