"""Frames with which turn taking tells the rest of the pipeline what it decided."""

from dataclasses import dataclass
from typing import Literal

from pipecat.frames.frames import SystemFrame

EndedBy = Literal["smart_turn", "fallback", "nothing_heard", "recogniser_failed", "timeout"]


@dataclass
class TurnEndFrame(SystemFrame):
    """The user's turn is about to be committed.

    Parameters:
        ended_by: what decided it: Smart Turn said complete, the fallback silence passed, the recogniser heard no
            words, the recogniser failed, or pipecat's watchdog gave up waiting.
        probability: Smart Turn's last probability that the turn is complete; None when it did not run.
        inference: how long that run took, in seconds.
        failed: one sentence when the turn failed.
    """

    ended_by: EndedBy = "timeout"
    probability: float | None = None
    inference: float | None = None
    failed: str | None = None


@dataclass
class EagerHintFrame(SystemFrame):
    """The user has been silent long enough to suppose that speech ended, not long enough to say so.

    Parameters:
        silence: how long, in seconds.
    """

    silence: float = 0.0


@dataclass
class SpeechResumedFrame(SystemFrame):
    """The user went on before the silence of the last `EagerHintFrame` was long enough: the hint was wrong."""
