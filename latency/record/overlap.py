"""Speech of the caller during an answer, as the server decided on it."""

from dataclasses import dataclass
from typing import Literal

from latency.record.units import Instant

Because = Literal[
    "at_once", "stop_word", "request", "answer", "words", "no_words", "backchannel", "nothing_heard", "own_words",
    "short", "far", "no_speech",
]  # fmt: skip
"""Why an answer was stopped or resumed. Stopped: for any words, since it had
hardly begun or was still awaited (at_once); for words that stop a speaker, a
whole request, an answer to the agent's question, or other words that went on; or without any words, since the
recogniser failed. Resumed: the words were backchannels, none, or the agent's own; the sound was short and asked for
nothing, too soft to be the caller's, or no speech; or no words came."""
Verdict = Literal["stopped", "resumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapRecord:
    """One stretch of sound during an answer."""

    onset: Instant
    """When it began, as far as the voice detector's reports tell."""
    ducked: Instant | None = None
    """When the answer was made softer; None if it was stopped at once."""
    silenced: Instant | None = None
    """When the answer was silenced to wait for words; None if it was not."""
    decided: Instant | None = None
    verdict: Verdict | None = None
    """None while undecided."""
    because: Because | None = None
    words: str | None = None
    """What the recogniser had heard by then; None for no words."""
