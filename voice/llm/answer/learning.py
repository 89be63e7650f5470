"""What an answer's attempts show: how fast and how reliable the tiers are, and why none of them answered."""

import logging
from collections.abc import Mapping, Sequence

from latency.budget import Deadline
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.policy import Plan
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier
from voice.llm.wires.rate_limits import duration

log = logging.getLogger(__name__)


def learn(book: TierStatistics, attempts: Sequence[LLMRequest], tiers: Mapping[str, Tier], now: float) -> None:
    """Record in the book how fast each tier was, which of them refuse to serve, and which think aloud.

    Args:
        book: the statistics of the tiers.
        attempts: those of one answer, all of them over.
        tiers: by name.
        now: seconds.
    """
    for attempt in attempts:
        if attempt.outcome == "failed" and not tiers[attempt.tier].usable:
            book.refused(attempt.tier, now)
        if attempt.thought_before:
            book.thinking.add(attempt.tier)
        elif attempt.outcome == "complete":
            book.thinking.discard(attempt.tier)
        if room := attempt.note.room:
            book.leave_room(attempt.tier, room.requests, now + room.seconds)
        if rest := attempt.note.rest:
            book.rest(attempt.tier, now + rest.seconds)
            log.warning("tier %s is not asked for %s: %s", attempt.tier, duration(rest.seconds), rest.why)
        if wait := attempt.wait:
            book.observe(attempt.tier, wait.seconds, reached=wait.reached)


def judge(book: TierStatistics, attempts: Sequence[LLMRequest], judged: str, deadline: Deadline) -> None:
    """Record in the book whether the tier `judged` met the deadline, if the first request went to it."""
    if not attempts or attempts[0].tier != judged:
        return
    in_time = attempts[0].in_time(deadline)
    if in_time is not None:
        book.standing[judged].observe(in_time)


def why_unanswered(attempts: Sequence[LLMRequest]) -> str:
    """Why no attempt gave an answer: the failures of the tiers, as one sentence."""
    silent = "it had nothing to say in time"
    reasons = [(attempt.tier, attempt.failed or (None if attempt.clauses else silent)) for attempt in attempts]
    failures = [f"{tier}: {why}" for tier, why in reasons if why]
    # Each failure is a sentence; join them into one.
    joined = "; ".join(dict.fromkeys(failures)).replace(".; ", "; ")
    return joined or "no language model answered in time"


def log_end(number: int, plan: Plan, attempts: Sequence[LLMRequest], *, gave_up: bool) -> None:
    """Log how an answer was made, and which requests failed; why none answered was logged before."""
    for attempt in attempts:
        if attempt.failed and not gave_up:
            log.warning("tier %s failed: %s", attempt.tier, attempt.failed)
    start = attempts[0].request if attempts else 0.0
    told = "; ".join(attempt.summary(since=start) for attempt in attempts)
    log.info("answer %d, %s, %s: %s", number, plan.policy, plan.reason, told)
