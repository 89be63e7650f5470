"""What an answer does to the call."""

from collections.abc import Sequence
from typing import Protocol

from pipecat.frames.frames import Frame, FunctionCallFromLLM

from latency.record.requests import PhraseKind
from voice.frames import RequestsFrame


class Speaker(Protocol):
    """Takes an answer to the call."""

    async def begin(self) -> None:
        """Start the answer."""

    async def speak(self, piece: Frame) -> None:
        """Speak the next piece of it, usually an `AnswerTextFrame`."""

    def known_opening(self) -> str:
        """The next opening that is always true."""

    async def say(self, kind: PhraseKind, text: str | None = None) -> str | None:
        """Say a phrase, one of its kind unless given; returns it, or None if nothing is to be spoken."""

    async def apologise(self, reason: str) -> None:
        """Apologise: the answer will not come, or not all of it."""

    async def call(self, calls: Sequence[FunctionCallFromLLM]) -> str | None:
        """Run tools; returns why they are not run, if they are not."""

    async def report(self, frame: RequestsFrame) -> None:
        """Report that the state of the requests changed."""
