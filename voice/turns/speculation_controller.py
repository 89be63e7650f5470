"""Starts the answer to a turn before it is over, by silence or by how its latest words read and sound."""

import time
from collections.abc import Awaitable, Callable

from voice.turns.endpointing import Endpointing, Silence
from voice.turns.extra_requests import seems_to_end
from voice.turns.silence_evidence import SilenceEvidence
from voice.turns.speculation import SpeculativeAnswer
from voice.turns.turn_so_far import TurnSoFar


class SpeculationController:
    """What starts and discards the speculative answers of one call.

    Args:
        speculation: the call's speculative answers.
        weighing: gathers the evidence.
        endpointing: says what a silence means.
        early: whether answers are also started while the last words are spoken.
        may_start: whether one may be started now.
        start: asks for the answer to these words.
        cancel: withdraws the answer that was asked for.
    """

    def __init__(
        self,
        speculation: SpeculativeAnswer,
        weighing: SilenceEvidence,
        endpointing: Endpointing,
        *,
        early: bool,
        may_start: Callable[[], bool],
        start: Callable[[str], Awaitable[None]],
        cancel: Callable[[], Awaitable[None]],
    ) -> None:
        self._speculation, self._weighing, self._endpointing = speculation, weighing, endpointing
        self._early, self._may_start, self._start, self._cancel = early, may_start, start, cancel
        self.so_far = ""
        """The words of this stretch of speech that the recogniser has given since the voice faded."""

    async def words_at_fade(self, turn: TurnSoFar, text: str) -> None:
        """The recogniser gives the words of this stretch of speech so far, since the voice fades."""
        words = turn.text_with(text)
        if not self._speculation.doubts(words):
            self.so_far = text
            await self._answer_early(turn, words)

    async def fade_judged(self, turn: TurnSoFar) -> None:
        """Smart Turn has judged the latest fade."""
        if self.so_far:
            await self._answer_early(turn, turn.text_with(self.so_far))

    async def in_silence(self, turn: TurnSoFar, silence: float, meaning: Silence) -> None:
        """Answer the words before `silence` seconds of a silence with this meaning, if it is time."""
        now, text = time.monotonic(), turn.text
        await self._discard_unless(text)
        if self._may_start() and self._speculation.due(text, silence=silence, meaning=meaning, now=now):
            self._speculation.start(text, now)
            await self._start(text)

    async def before_verdict(self, turn: TurnSoFar, silence: float) -> None:
        """Answer them before Smart Turn has judged the silence, if the fade before it says enough."""
        if not self._early:
            return
        await self._answer_early(turn, turn.text)
        evidence = self._weighing.foresee(turn.text, turn.lasted)
        if evidence.sound is not None:
            await self.in_silence(turn, silence, self._endpointing.judge(evidence, turn.pauses))

    async def discard(self) -> None:
        """Withdraw the answer that is under way, if there is one."""
        if self._speculation.discard():
            await self._cancel()

    async def _answer_early(self, turn: TurnSoFar, text: str) -> None:
        """Start the answer to words that seem to end, before silence says so."""
        if not self._early or not turn.is_open:
            return
        await self._discard_unless(text)
        ends = seems_to_end(self._weighing.foresee(text, turn.lasted))
        if ends and self._speculation.may_start_early(text) and self._may_start():
            self._speculation.start_early(text)
            await self._start(text)

    async def _discard_unless(self, text: str) -> None:
        """Discard the answer to other words than these."""
        if self._speculation.text is not None and not self._speculation.stands(text):
            await self.discard()
            self._speculation.words_changed()
