"""The budget of a turn: the stages' shares of its 800 ms, and the resulting deadline.

Also the limits for judging runs: early answers, unexplained time, late audio, and the least samples for a figure.
"""

from dataclasses import dataclass, fields
from typing import Literal

TURN_LIMIT = 0.8
"""Seconds that a turn may take, from the true end of the user's speech to the first audible bot sample; beyond them
people notice a pause."""
LLM_LIMIT = 0.45
"""Seconds of it for the language model, from the turn commit to the first speakable clause."""
NATURAL = 0.4
"""Seconds within which people answer each other."""
LLM_NORMAL = (0.4, 0.5)
"""Seconds; an LLM budget outside this range causes a warning."""

LLM_ALLOWED = (0.1, 5.0)
"""Seconds; an LLM budget outside this range is refused."""
DETECTOR_LAG = 0.075
"""Seconds after the end of speech until the voice detector starts to count silence, in three of four turns. For 17
labelled human clips on Silero, each at four positions of its windows, the median is 57 ms, the upper quartile 74 ms."""
FLOOR_GUARD = 0.03
"""Seconds between the fast tier's 95th percentile and a deadline."""

EARLY = 0.2
"""Seconds after the user's end before which an answer is early, as in EVA, ServiceNow's benchmark."""
TALKED_ON = 1.5
"""Seconds after the user's onset; a bot that speaks longer, and then comes to its end, has ignored the user."""
UNEXPLAINED = 0.02
"""Seconds; a turn with more unexplained latency is flagged."""
LATE_FRAME_MS = 20.0
"""A turn with an audio frame sent later than this is flagged."""
SHORTEST_STALL_MS = 20.0
"""A shorter delay of the event loop is not recorded: it is one frame of audio, which the jitter buffer hides."""

LATE_SHARE_ALLOWED = 0.02
"""The share of audio frames that may be late; a run with more is refused."""
CLOCK_DRIFT_ALLOWED = 0.001
CARD_DRIFT_ALLOWED = 0.05
"""Of a sound card, whose clock is followed; lost audio (3 % for a virtual one on a busy machine) counts as drift."""

P95_NEEDS = 20
"""The least turns for judging a 95th percentile: with fewer it lies next to the maximum."""
P99_NEEDS = 100
INTERVAL_NEEDS = 8

Limit = Literal["llm", "turn", "floor"]
"""The limit that sets a deadline: the LLM's share of the budget, the rest of its total, or the fast tier's floor."""
Stage = Literal["endpointing", "transcription", "llm", "synthesis", "transport"]
"""A share of the budget, by its field's name."""


class BudgetError(ValueError):
    """Shares that do not add up, or an LLM budget that is useless in a conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Median shares of a turn, seconds, from the true end of the user's speech to the first audible bot sample.

    Raises:
        BudgetError: A share is not positive, the shares do not add up to `total`, or `llm` is outside `LLM_ALLOWED`.
    """

    total: float = TURN_LIMIT
    endpointing: float = 0.2
    """Silence before the end of the turn is declared."""
    transcription: float = 0.02
    """The time of the recogniser beyond endpointing."""
    llm: float = LLM_LIMIT
    """From the turn commit to the first speakable clause."""
    synthesis: float = 0.06
    transport: float = 0.07
    """Socket, jitter buffer and loudspeaker. The server cannot measure it, so deadlines reserve its share."""

    def __post_init__(self) -> None:
        low, high = LLM_ALLOWED
        if not low <= self.llm <= high:
            raise BudgetError(
                f"an LLM budget of {_ms(self.llm)} is outside {_ms(low)} to {_ms(high)}; "
                f"{_ms(LLM_NORMAL[0])} to {_ms(LLM_NORMAL[1])} is what a conversation needs"
            )
        shares = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "total"}
        if wrong := [name for name, share in shares.items() if not share > 0]:
            raise BudgetError(f"the share of {wrong[0]} must be above 0 ms, not {_ms(shares[wrong[0]])}")
        if abs(sum(shares.values()) - self.total) > 1e-6:
            parts = " + ".join(f"{name} {_ms(share)}" for name, share in shares.items())
            raise BudgetError(f"{parts} make {_ms(sum(shares.values()))}, not the total of {_ms(self.total)}")

    @classmethod
    def with_llm(cls, llm: float) -> "Budget":
        """The usual shares with another LLM budget (seconds); the total grows or shrinks by the difference."""
        usual = cls()
        return cls(llm=llm, total=usual.total - usual.llm + llm)

    @property
    def warning(self) -> str | None:
        """One sentence when the LLM budget is unusual, else None."""
        low, high = LLM_NORMAL
        if low <= self.llm <= high:
            return None
        return (
            f"an LLM budget of {_ms(self.llm)} is outside {_ms(low)} to {_ms(high)}: "
            f"the shares of a turn add up to {_ms(self.total)}"
        )


@dataclass(frozen=True, slots=True)
class Deadline:
    """An instant by which something must be ready, in seconds on the clock of `now`."""

    at: float
    limit: Limit = "llm"
    """The limit that set it."""
    charged: Stage | None = None
    """The stage that exceeded its share most, if the floor had to be used; else None."""
    due: float | None = None
    """The deadline without the floor, from which any ready tier speaks; None when the floor moved nothing."""

    @property
    def hold_until(self) -> float:
        """The instant until which a ready answer may be held back for a preferred one."""
        return self.at if self.due is None else min(self.due, self.at)

    def remaining(self, now: float) -> float:
        """Seconds left at `now`, at least 0."""
        return max(0.0, self.at - now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Knowledge about a turn when it is committed; instants and durations in seconds, None when unknown.

    An unknown percentile counts as the stage's share, and so does transport, which the server cannot measure. Without
    `speech_end` the turn's total sets no limit: the model is being asked again after a tool, or the user did not speak.
    """

    at: float
    speech_end: float | None = None
    vad_stop: float | None = None
    silent_enough: float | None = None
    """When the silence had reached the length that endpointing required; None when silence did not decide."""
    synthesis_p95: float | None = None
    """From a clause to its first sample."""
    fast_p95: float | None = None
    """From a request to the first clause of the fast tier; None without one."""
    preferred_at: float | None = None
    """When the better tier usually has its first clause; None without one, or while that is unknown."""

    def deadline(self, budget: Budget) -> Deadline:
        """When the first speakable clause must be ready.

        It is the earlier of `at` + LLM budget and the instant that the turn's total leaves for the model, with two
        exceptions. A preferred tier that usually answers within the LLM budget gets all of it, however long the other
        stages took, because their delay is no reason for a worse answer. And no deadline is earlier than the fast tier
        can answer: that is the floor, which is charged to the stage that overspent. A fast tier that is slower than the
        LLM budget moves no deadline, so the budget is never exceeded.
        """
        synthesis = budget.synthesis if self.synthesis_p95 is None else self.synthesis_p95
        deadline = Deadline(self.at + budget.llm)
        if self.preferred_at is not None and self.preferred_at <= deadline.at:
            return deadline
        if self.speech_end is not None:
            left = remaining_turn_budget(self.speech_end, budget, synthesis)
            if left < deadline.at:
                deadline = Deadline(left, "turn")
        floor = self.at + (0.0 if self.fast_p95 is None else min(self.fast_p95 + FLOOR_GUARD, budget.llm))
        if deadline.at >= floor:
            return deadline
        return Deadline(floor, "floor", self._overspent(budget, synthesis), due=deadline.at)

    def _overspent(self, budget: Budget, synthesis: float) -> Stage:
        beyond: dict[Stage, float] = {}
        if self.fast_p95 is not None:
            beyond["llm"] = self.fast_p95 + FLOOR_GUARD - budget.llm
        if self.speech_end is not None:
            beyond["synthesis"] = synthesis - budget.synthesis
            # For unfinished words, endpointing waits beyond the detector's stop, whatever the recogniser does.
            endpointed = max((at for at in (self.vad_stop, self.silent_enough) if at is not None), default=None)
            if endpointed is None:
                beyond["endpointing"] = self.at - self.speech_end - budget.endpointing - budget.transcription
            else:
                beyond["endpointing"] = endpointed - self.speech_end - budget.endpointing
                beyond["transcription"] = self.at - endpointed - budget.transcription
        return max(beyond, key=lambda stage: beyond[stage])


def remaining_turn_budget(speech_end: float, budget: Budget, synthesis_p95: float | None = None) -> float:
    """When a turn's first clause is due, independent of its commit; seconds, as in `Commit`.

    It is `speech_end` + the turn's total - synthesis (measured, or its share) - the transport's share.
    """
    synthesis = budget.synthesis if synthesis_p95 is None else synthesis_p95
    return speech_end + budget.total - synthesis - budget.transport


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:g} ms"
