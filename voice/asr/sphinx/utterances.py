"""Divides audio into utterances: turns the detector's decisions into commands for a recogniser's worker.

The detector reports speech about 0.2 s after its start, so the last half second of audio is always kept, and each
utterance begins with it. Pure: it neither sends nor waits.
"""

from collections import deque

from voice.asr.sphinx.messages import (
    BYTES_PER_SECOND,
    AbandonUtterance,
    Audio,
    Command,
    FinishUtterance,
    StartUtterance,
)


class Utterances:
    """Follows one caller's speech; every method returns the commands to send, in order.

    Args:
        pre_roll: Seconds of audio before the detector's decision that belong to an utterance.
        longest: Seconds after which an utterance is split in two, so that endless speech cannot fill the memory.
    """

    def __init__(self, *, pre_roll: float = 0.5, longest: float = 30.0) -> None:
        self._pre_roll_bytes = int(pre_roll * BYTES_PER_SECOND)
        self._longest_bytes = int(longest * BYTES_PER_SECOND)
        self._heard: deque[bytes] = deque()
        self._heard_bytes = 0
        self._number = 0
        self._bytes = 0
        self._current: int | None = None
        self._unanswered: set[int] = set()

    @property
    def current(self) -> int | None:
        """The utterance being spoken, if any."""
        return self._current

    @property
    def is_pending(self) -> bool:
        """Whether a result is pending: an utterance is being spoken or awaits its text."""
        return self._current is not None or bool(self._unanswered)

    def hear(self, pcm: bytes) -> list[Command]:
        """Take audio, speech or not: mono, signed 16 bit, 16 kHz."""
        if self._current is None:
            self._remember(pcm)
            return []
        self._bytes += len(pcm)
        if self._bytes <= self._longest_bytes:
            return [Audio(pcm)]
        return [*self._finish(self._current), *self._begin(), Audio(pcm)]

    def begin(self, *, over_answer: bool = False) -> list[Command]:
        """The detector reports the start of speech, during an answer or not."""
        if self._current is not None:
            return []
        commands = self._begin(over_answer=over_answer)
        # The pre-roll of the next utterance must not repeat the words of this one.
        commands += [Audio(pcm) for pcm in self._heard]
        self._forget()
        return commands

    def finish(self) -> list[Command]:
        """The detector reports the end of speech."""
        if self._current is None:
            return []
        number, self._current = self._current, None
        return self._finish(number)

    def abandon(self) -> list[Command]:
        """Abandon all pending texts: of the utterance being spoken and of finished ones."""
        given_up = sorted(self._unanswered | ({self._current} if self._current is not None else set()))
        self.lose()
        return [AbandonUtterance(number) for number in given_up]

    def is_awaited(self, utterance: int) -> bool:
        """Whether an utterance is finished and its text pending."""
        return utterance in self._unanswered

    def answered(self, utterance: int) -> bool:
        """The text of an utterance has come; returns whether no other result is pending."""
        self._unanswered.discard(utterance)
        return not self.is_pending

    def lose(self) -> None:
        """The recogniser is gone, together with everything sent to it."""
        self._current = None
        self._unanswered.clear()
        self._forget()

    def _begin(self, *, over_answer: bool = False) -> list[Command]:
        self._number += 1
        self._current, self._bytes = self._number, 0
        return [StartUtterance(self._number, over_answer)]

    def _finish(self, number: int) -> list[Command]:
        self._unanswered.add(number)
        return [FinishUtterance(number)]

    def _remember(self, pcm: bytes) -> None:
        self._heard.append(pcm)
        self._heard_bytes += len(pcm)
        while self._heard_bytes - len(self._heard[0]) >= self._pre_roll_bytes:
            self._heard_bytes -= len(self._heard.popleft())

    def _forget(self) -> None:
        self._heard.clear()
        self._heard_bytes = 0
