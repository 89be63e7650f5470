"""Synthesises the first clause of a speculative answer, and keeps it until the answer is spoken."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from voice.tts.piper.pieces import Piece
from voice.tts.piper.voice import LEAD_FIRST, Voice
from voice.tts.synthesis_thread import Urgency


@dataclass(slots=True)
class Clause:
    """A clause that is made ahead."""

    taken: bool = False
    """Whether it is spoken now, so that its call waits for it."""

    def urgency(self) -> Urgency:
        """How urgent what is left of it is."""
        return Urgency.FIRST if self.taken else Urgency.AHEAD


class EarlySynthesis:
    """Holds at most one clause of a call. No audio leaves before the clause is taken.

    `started`, `used` and `dropped` count clauses; one that is still held is neither used nor dropped.

    Args:
        voice: what synthesises.
    """

    def __init__(self, voice: Voice) -> None:
        self.started = self.used = self.dropped = 0
        self._voice = voice
        self._text: str | None = None
        self._pieces: asyncio.Queue[Piece | None] = asyncio.Queue()
        self._clause = Clause()
        self._making: asyncio.Task[None] | None = None

    def prepare(self, text: str) -> None:
        """Start synthesising a clause, in place of any other; the same clause again changes nothing."""
        if text.strip() == self._text:
            return
        self.drop()
        self.started += 1
        self._text, self._pieces = text.strip(), asyncio.Queue()
        self._clause = Clause()
        self._making = asyncio.create_task(self._make(self._text, self._pieces, self._clause))

    def take(self, text: str) -> AsyncIterator[Piece] | None:
        """The audio of the clause, streamed while it is made; None when another clause or none is held.

        The clause is no longer held after that; closing the iterator stops its synthesis.
        """
        if self._making is None or text.strip() != self._text:
            return None
        self.used += 1
        making, self._making, self._text = self._making, None, None
        self._clause.taken = True
        return _hand_over(making, self._pieces)

    def drop(self) -> None:
        """Discard the held clause, and stop its synthesis."""
        if self._making is not None:
            self._making.cancel()
            self.dropped += 1
        self._making = self._text = None

    async def _make(self, text: str, pieces: asyncio.Queue[Piece | None], clause: Clause) -> None:
        try:
            async for piece in self._voice.stream(text, lead=LEAD_FIRST, urgency=clause.urgency):
                pieces.put_nowait(piece)
        finally:
            pieces.put_nowait(None)


async def _hand_over(making: asyncio.Task[None], pieces: asyncio.Queue[Piece | None]) -> AsyncIterator[Piece]:
    try:
        while (piece := await pieces.get()) is not None:
            yield piece
        await making
    finally:
        making.cancel()
