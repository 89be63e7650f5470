"""What is known of the utterance that is being spoken, and the passes over it that somebody waits for."""

import asyncio
from dataclasses import dataclass, field

from voice.asr.fades import FadePasses
from voice.asr.hypothesis import Hypothesis


@dataclass(eq=False, slots=True)
class Utterance:
    """The utterance being spoken."""

    hypothesis: Hypothesis = field(default_factory=Hypothesis)
    fades: FadePasses = field(default_factory=FadePasses)
    heard: float = 0.0
    """Seconds of audio in the last pass."""
    partial: asyncio.Task[None] | None = None
    """The latest partial pass."""
    settling: asyncio.Task[str] | None = None
    """The pass over all words before a fade that has not ended: the final one, if a hint comes."""
    final: asyncio.Task[str] | None = None
    """The final pass, begun at a hint or before it; None when speech has gone on since."""

    def withdraw(self) -> None:
        """Nobody waits any more for the texts of the passes under way."""
        for task in (self.partial, self.settling, self.final):
            if task is not None:
                task.cancel()
        self.partial = self.settling = self.final = None

    def hinted(self, seconds: float, silence: float) -> asyncio.Task[str] | None:
        """Speech may have ended; returns the final pass, if one under way or done has heard all speech.

        Args:
            seconds: of the utterance's audio until now.
            silence: how many of them are silence, by the voice detector.
        """
        settling, self.settling = self.settling, None
        if settling is None or self.heard < seconds - silence:
            return None
        if settling.cancelled() or (settling.done() and settling.exception() is not None):
            return None
        self.final = settling
        return settling
