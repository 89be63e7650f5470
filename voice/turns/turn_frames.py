"""Frames with which turn taking tells the rest of the pipeline what it decided."""

from dataclasses import dataclass
from typing import Literal

from pipecat.frames.frames import SystemFrame

EndedBy = Literal["smart_turn", "fallback", "whole_request", "nothing_heard", "recogniser_failed", "timeout"]


@dataclass
class TurnEndFrame(SystemFrame):
    """The user's turn is about to be committed.

    Parameters:
        ended_by: what decided it: the words sounded (and read) complete to Smart Turn; the silence that unfinished
            words need has passed; the words are a whole request to whoever answers; the recogniser heard no words;
            the recogniser failed; or pipecat's watchdog gave up waiting.
        probability: Smart Turn's probability that the turn is complete; None when it did not run.
        inference: how long that run took, in seconds.
        finished: probability of the end by all evidence; None when there was none.
        silence: seconds of silence that the turn needed; None when silence did not decide.
        failed: one sentence when the turn failed.
        speculated: how many answers were begun ahead of the commit.
        discarded: how many of those were not wanted.
        confirmed: whether the answer that was begun last is this turn's.
    """

    ended_by: EndedBy = "timeout"
    probability: float | None = None
    inference: float | None = None
    finished: float | None = None
    silence: float | None = None
    failed: str | None = None
    speculated: int = 0
    discarded: int = 0
    confirmed: bool = False


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
