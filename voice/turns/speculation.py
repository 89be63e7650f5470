"""Speculative answers, which start before the turn is over: when they start, and their outcome. Times are in seconds.

A wrong speculation costs a request and processor time that others may need. So a call starts at most one per
`LEAST_APART`, and none while the event loop lags or other calls wait for their answers.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pipecat.turns.user_stop import NormalizedMatch

from voice.turns.early_answers import MOST_A_TURN, ExtraRequests, seems_to_end
from voice.turns.endpointing import Endpointing, Silence
from voice.turns.evidence_gatherer import EvidenceGatherer
from voice.turns.turn_so_far import TurnSoFar

LEAST_APART = 0.5
"""Seconds between the starts of two speculative answers of a call."""
SPECULATION_LEAD = 0.6
"""Seconds before the end of the needed silence at which a speculative answer starts: a typical model's time to its
first clause. Words that sound finished are answered at the hint."""
LONGEST_WAIT = 5.0
"""Seconds after which a waiting call no longer counts."""


@dataclass(slots=True)
class WaitingCalls:
    """The calls of a process that wait for the first sound of an answer; one object for all calls."""

    since: dict[int, float] = field(default_factory=dict)

    def begin(self, call: int, now: float) -> None:
        """Note that the call's turn was committed."""
        self.since[call] = now

    def end(self, call: int) -> None:
        """Note that the call is answered, or no longer expects an answer."""
        self.since.pop(call, None)

    def waits(self, call: int, now: float) -> bool:
        """Whether this call waits, for no longer than `LONGEST_WAIT`."""
        return call in self.since and now - self.since[call] < LONGEST_WAIT

    def others(self, call: int, now: float) -> bool:
        """Whether another call waits; after `LONGEST_WAIT`, a call no longer delays others."""
        return any(other != call and now - at < LONGEST_WAIT for other, at in self.since.items())


class SpeculativeAnswer:
    """The speculative answers of one call, at most one at a time.

    Args:
        extra: counts the early requests that turn out to be wasted.
    """

    def __init__(self, extra: ExtraRequests | None = None) -> None:
        self.extra = extra or ExtraRequests()
        self.text: str | None = None
        """The words being answered speculatively; None if no speculation is under way."""
        self.confirmed: str | None = None
        """The words of this turn's confirmed speculative answer."""
        self.started = 0
        """The number of speculative answers that this turn has started."""
        self.discarded = 0
        """The number of them that were discarded."""
        self.early = 0
        """The number started early: because of the words, before any evidence of silence or Smart Turn."""
        self._last = -LEAST_APART
        self._is_early = False
        self._refused: str | None = None
        self._doubtful: str | None = None
        self._match = NormalizedMatch()

    def turn_began(self) -> None:
        """Count from zero again."""
        self.started = self.discarded = self.early = 0
        self.confirmed = self._refused = None

    def due(self, text: str, *, silence: float, meaning: Silence, now: float) -> bool:
        """Whether to answer `text` speculatively after `silence` seconds, judged by `meaning`."""
        if not text or self.text is not None or text == self._refused or now - self._last < LEAST_APART:
            return False
        return silence >= max(meaning.likely, meaning.needed - SPECULATION_LEAD)

    def may_start_early(self, text: str) -> bool:
        """Whether to answer `text`, which seems finished, while the user may still be speaking."""
        if not text or self.stands(text) or text == self._refused or self.early >= MOST_A_TURN:
            return False
        return self.extra.allow(replaced=self.text is not None and self._is_early)

    def stands(self, text: str) -> bool:
        """Whether the speculative answer under way answers `text`."""
        return self.text is not None and self._match.matches(self.text, text)

    def doubts(self, text: str) -> bool:
        """Whether `text`, heard in a fade of the voice, must be heard again before it replaces the words under way.

        The last word of such a text is often cut off and misheard, so a new text is no more reliable than the old one.
        Words that continue those under way need no second hearing.
        """
        if self.text is None or self.stands(text) or self._goes_on(text):
            self._doubtful = None
            return False
        heard_before = self._doubtful is not None and self._match.matches(self._doubtful, text)
        self._doubtful = text
        return not heard_before

    def wants(self, text: str) -> bool:
        """Whether a speculative answer to `text` may still be used."""
        return text in (self.text, self.confirmed)

    def start(self, text: str, now: float) -> None:
        """The answer to `text` has been requested."""
        self.text, self._last, self._is_early = text, now, False
        self.started += 1

    def start_early(self, text: str) -> None:
        """The answer to `text` has been requested early; this does not make a later request wait for `LEAST_APART`."""
        self.text, self._is_early = text, True
        self.started += 1
        self.early += 1

    def discard(self) -> bool:
        """The user went on, or the words changed; returns whether there was an answer to discard."""
        was, self.text, self._doubtful = self.text, None, None
        if was is not None:
            self.discarded += 1
            if self._is_early:
                self.extra.wasted()
        return was is not None

    def words_changed(self) -> None:
        """The answer was discarded because of other words; the next one need not wait for `LEAST_APART`."""
        self._last = -LEAST_APART

    def refuse(self) -> None:
        """Discard an answer that must wait for the commit because it needs a tool, and do not try these words again."""
        if self.text is not None:
            self._refused = self.text
            self.discard()

    def confirm(self, text: str) -> bool:
        """The turn is over with these words; returns whether the speculative answer answers them."""
        if not self.stands(text):
            return False
        self.confirmed, self.text = self.text, None
        return True

    def _goes_on(self, text: str) -> bool:
        """Whether `text` begins with the words under way."""
        words = (self.text or "").split()
        return self._match.matches(" ".join(words), " ".join(text.split()[: len(words)]))


class SpeculationController:
    """Starts and discards the speculative answers of one call.

    Args:
        speculation: the call's speculative answers.
        weighing: gathers the evidence.
        endpointing: the endpointing rule of the call.
        early: whether answers may also start while the last words are spoken.
        may_start: whether one may be started now.
        start: asks for the answer to these words.
        cancel: withdraws the requested answer.
    """

    def __init__(
        self,
        speculation: SpeculativeAnswer,
        weighing: EvidenceGatherer,
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
        """The recogniser's words for this stretch of speech since the voice faded."""

    async def words_at_fade(self, turn: TurnSoFar, text: str) -> None:
        """The voice fades, and the recogniser gives this stretch's words so far."""
        words = turn.text_with(text)
        if not self._speculation.doubts(words):
            self.so_far = text
            await self._answer_early(turn, words)

    async def fade_judged(self, turn: TurnSoFar) -> None:
        """Smart Turn or the reader has judged the latest fade."""
        if self.so_far:
            await self._answer_early(turn, turn.text_with(self.so_far))

    async def in_silence(self, turn: TurnSoFar, silence: float, meaning: Silence) -> None:
        """Answer the words before a silence of `silence` seconds so far, if `meaning` allows it now."""
        now, text = time.monotonic(), turn.text
        await self._discard_unless(text)
        if self._may_start() and self._speculation.due(text, silence=silence, meaning=meaning, now=now):
            self._speculation.start(text, now)
            await self._start(text)

    async def before_verdict(self, turn: TurnSoFar, silence: float) -> None:
        """Answer before Smart Turn has judged the silence, if the preceding fade gives enough evidence."""
        if not self._early:
            return
        await self._answer_early(turn, turn.text)
        evidence = self._weighing.foresee(turn.text, turn.lasted)
        if evidence.sound is not None:
            await self.in_silence(turn, silence, self._endpointing.judge(evidence, turn.pauses))

    async def discard(self) -> None:
        """Withdraw the answer under way, if there is one."""
        if self._speculation.discard():
            await self._cancel()

    async def _answer_early(self, turn: TurnSoFar, text: str) -> None:
        """Start the answer to words that seem finished, before any silence."""
        if not self._early or not turn.is_open:
            return
        await self._discard_unless(text)
        if self._weighing.awaits_reading(text):
            return
        ends = seems_to_end(self._weighing.foresee(text, turn.lasted))
        if ends and self._speculation.may_start_early(text) and self._may_start():
            self._speculation.start_early(text)
            await self._start(text)

    async def _discard_unless(self, text: str) -> None:
        """Discard the answer unless it answers these words."""
        if self._speculation.text is not None and not self._speculation.stands(text):
            await self.discard()
            self._speculation.words_changed()
