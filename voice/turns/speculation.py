"""Answers that start before the turn is over: when, and what becomes of them. Times are in seconds.

A wrong speculation costs a request, and processor time that others may need. So a call starts at most one in
`LEAST_APART`, and none while the event loop lags or other calls wait for their answers.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pipecat.turns.user_stop import NormalizedMatch

from voice.turns.endpointing import Endpointing, Silence
from voice.turns.extra_requests import MOST_A_TURN, ExtraRequests, seems_to_end
from voice.turns.silence_evidence import SilenceEvidence
from voice.turns.turn_so_far import TurnSoFar

LEAST_APART = 0.5
"""Seconds between the starts of two speculative answers of a call."""
SPECULATION_LEAD = 0.6
"""Seconds before the end of the needed silence at which a speculative answer starts: the time of a usual model to its
first clause. Words that sound finished are answered at the hint."""
LONGEST_WAIT = 5.0
"""Seconds after which a waiting call no longer counts."""


@dataclass(slots=True)
class Waiting:
    """The calls of a process that wait for the first sound of an answer; one for all calls."""

    since: dict[int, float] = field(default_factory=dict)

    def begin(self, call: int, now: float) -> None:
        """The call's turn was committed."""
        self.since[call] = now

    def end(self, call: int) -> None:
        """The call is answered, or no longer expects an answer."""
        self.since.pop(call, None)

    def waits(self, call: int, now: float) -> bool:
        """Whether this call waits, for no longer than `LONGEST_WAIT`."""
        return call in self.since and now - self.since[call] < LONGEST_WAIT

    def others(self, call: int, now: float) -> bool:
        """Whether another call waits; one that has waited for `LONGEST_WAIT` holds up no other."""
        return any(other != call and now - at < LONGEST_WAIT for other, at in self.since.items())


class SpeculativeAnswer:
    """The speculative answers of one call, at most one at a time.

    Args:
        extra: counts the early requests that turn out to be wasted.
    """

    def __init__(self, extra: ExtraRequests | None = None) -> None:
        self.extra = extra or ExtraRequests()
        self.text: str | None = None
        """The words that are being answered speculatively; None when no speculation is under way."""
        self.confirmed: str | None = None
        """The words of the speculative answer that turned out to be this turn's."""
        self.started = 0
        """How many speculative answers this turn has started."""
        self.discarded = 0
        """How many of those were discarded."""
        self.early = 0
        """How many were started because of how the words read, before silence or Smart Turn said anything."""
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
        """Whether to answer `text` speculatively after `silence` seconds of a silence with this meaning."""
        if not text or self.text is not None or text == self._refused or now - self._last < LEAST_APART:
            return False
        return silence >= max(meaning.likely, meaning.needed - SPECULATION_LEAD)

    def may_start_early(self, text: str) -> bool:
        """Whether to answer `text`, which seems to end, while the user may still be speaking."""
        if not text or self.stands(text) or text == self._refused or self.early >= MOST_A_TURN:
            return False
        return self.extra.allow(replaced=self.text is not None and self._is_early)

    def stands(self, text: str) -> bool:
        """Whether the speculative answer under way is an answer to `text`."""
        return self.text is not None and self._match.matches(self.text, text)

    def doubts(self, text: str) -> bool:
        """Whether `text`, heard while the voice fades, must be heard once more before it replaces the words under way.

        The last word of such a text is often cut off and misheard, so one text is worth no more than another. Words
        that go on from those under way need no second hearing.
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
        """The answer to `text` has been requested early; a later request need not wait for `LEAST_APART` then."""
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
        """Discard an answer that must wait for the commit (it needs a tool), and do not try these words again."""
        if self.text is not None:
            self._refused = self.text
            self.discard()

    def confirm(self, text: str) -> bool:
        """The turn is over with these words; returns whether the speculative answer is an answer to them."""
        if not self.stands(text):
            return False
        self.confirmed, self.text = self.text, None
        return True

    def _goes_on(self, text: str) -> bool:
        """Whether `text` begins with the words under way."""
        words = (self.text or "").split()
        return self._match.matches(" ".join(words), " ".join(text.split()[: len(words)]))


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
