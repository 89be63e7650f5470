"""Frames about a part of the call that hung."""

from dataclasses import dataclass, field

from pipecat.frames.frames import SystemFrame

from latency.record.turn import HangRecord
from voice.llm.answer.answer_frames import HoldPhraseFrame


@dataclass
class HangFrame(SystemFrame):
    """A part has hung; what is done about it follows.

    Parameters:
        hang: for the record.
        reason: one sentence.
    """

    hang: HangRecord = field(default_factory=lambda: HangRecord(part="processor"))
    reason: str = ""


@dataclass
class HangReasonFrame(HoldPhraseFrame):
    """The reason for a silence, to be spoken."""
