"""A part of a long answer: the caller was asked whether the agent should go on, or had asked it to."""

from dataclasses import dataclass

from latency.record.units import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """What a turn's answer was of a longer one."""

    number: Count = 1
    """Which part of it was spoken, from 1; a later one was there already, and no model was asked for it."""
    asks: bool = False
    """Whether it ended with the question whether to go on; False for the last part."""
