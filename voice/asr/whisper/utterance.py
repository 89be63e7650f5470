"""An utterance: its words so far, and the awaited passes over its audio."""

import asyncio

from voice.asr.whisper.model import SharedWhisper
from voice.asr.whisper.segment import Segment

LEAST_AUDIO = 1.0
"""The least seconds of audio for a pass at a fade, half a second of pre-roll included."""
LEAST_OVER_ANSWER = 0.85
"""The same over an answer, which a single short word may stop."""
AFTER = (0.0, 0.064)
"""Seconds from the beginning of a fade to each of its passes; the last one hears the words to their end. A fade is
noticed after 0.06 s."""
LASTING = 0.048
"""Seconds of a fade after which its sound is worth judging: 4 of 10 fades are over by then (of 716 in 104 recordings of
46 speakers), and the verdict still arrives with the words."""


class FadePasses:
    """Schedules passes over fading speech: one at once, and another while it stays quiet. Counts seconds of audio.

    At the beginning of a fade the last word may be misheard or incomplete; a little later it is complete.
    """

    def __init__(self) -> None:
        self.announced = False
        """Whether the present fade has been announced."""
        self._lasts = False
        self._begun = 0
        self._since: float | None = None

    def is_due(self, seconds: float, *, least: float = LEAST_AUDIO) -> bool:
        """Whether to decode `seconds` of audio that end in a fade, if that is at least `least`."""
        self._since = seconds if self._since is None else self._since
        if self._begun == len(AFTER) or seconds < least:
            return False
        return seconds - self._since >= AFTER[self._begun]

    @property
    def are_heard(self) -> bool:
        """Whether a pass has begun at the present fade."""
        return self._begun > 0

    @property
    def is_new(self) -> bool:
        """Whether a pass has begun at a fade that is not yet announced."""
        return self._begun > 0 and not self.announced

    def lasts(self, seconds: float) -> bool:
        """Whether a fade with a pass still lasts after `seconds` of audio; True once per fade."""
        since = seconds if self._since is None else self._since
        if self._lasts or self._begun == 0 or seconds - since < LASTING:
            return False
        self._lasts = True
        return True

    @property
    def settles(self) -> bool:
        """Whether the latest pass is the last one at its fade."""
        return self._begun == len(AFTER)

    def begun(self) -> None:
        """A pass has begun."""
        self._begun += 1

    def rose(self) -> None:
        """The voice is no longer fading."""
        self._begun, self._since, self.announced, self._lasts = 0, None, False, False


class Hypothesis:
    """The words of one utterance so far: the confirmed ones never change, the others may.

    Local agreement (Macháček, Dabre and Bojar, "Turning Whisper into Real-Time Transcription System", 2023): a word is
    confirmed when two successive passes agree on it and on all words before it.
    """

    def __init__(self) -> None:
        self._confirmed: list[str] = []
        self._words: list[str] = []

    @property
    def confirmed(self) -> str:
        """The confirmed words, a possible prefix for later passes."""
        return " ".join(self._confirmed)

    @property
    def text(self) -> str:
        """All words, confirmed and tentative."""
        return " ".join(self._words)

    def take(self, text: str) -> None:
        """Compare the text of the next pass with that of the last one.

        Capitals and punctuation are ignored, because Whisper ends every text like a sentence; the newer form is kept.
        The last word stays unconfirmed: its sound may be incomplete.
        """
        settled = len(self._confirmed)
        words = [*self._confirmed, *text.split()[settled:]]
        agreed = 0
        for before, now in zip(self._words, words, strict=False):
            if _bare(before) != _bare(now):
                break
            agreed += 1
        self._confirmed += words[settled : min(agreed, len(words) - 1)]
        self._words = words


def _bare(word: str) -> str:
    return "".join(letter for letter in word.casefold() if letter.isalnum()) or word


class Utterance:
    """One utterance, from the detector's report of speech to its text, with its passes.

    Args:
        model: runs the passes.
    """

    def __init__(self, model: SharedWhisper) -> None:
        self.hypothesis = Hypothesis()
        self.fades = FadePasses()
        self.doubtful = ""
        """The text of the latest partial pass, if it is merely unlikely: a single short word often is."""
        self.heard = 0.0
        """Seconds of audio in the last pass begun before a likely end of speech."""
        self.partial: asyncio.Task[None] | None = None
        """Reports the latest partial pass."""
        self.settling: asyncio.Task[str] | None = None
        """The pass over all words before the present fade; it becomes the final one if a hint comes."""
        self.final: asyncio.Task[str] | None = None
        """The final pass, begun at a hint or before it; None if speech has gone on since."""
        self.segment: Segment | None = None
        """The audio, once speech has ended."""
        self.transcript: str | None = None
        """The final text, once it is known; a `Transcript` from Whisper itself."""
        self.delivery: asyncio.Task[None] | None = None
        """The task that awaits and pushes the text, once speech has ended."""
        self._model = model

    async def listen(self, segment: Segment) -> str:
        """Run a partial pass over the audio so far; returns its words."""
        passing = self._model.submit_partial(segment.samples(), prefix=self.hypothesis.confirmed)
        decoded = await asyncio.wrap_future(passing)
        if decoded.text and not decoded.looks_wrong:
            self.hypothesis.take(decoded.text)
        self.doubtful = decoded.text if decoded.looks_wrong and not decoded.is_broken else ""
        return self.hypothesis.text

    async def decode(self, segment: Segment) -> str:
        """Run a whole pass over the audio; returns its text."""
        passing = self._model.submit(segment.samples(), prefix=self.hypothesis.confirmed)
        return await asyncio.wrap_future(passing)

    def settle(self, segment: Segment) -> asyncio.Task[str]:
        """Begin a pass over all words before a fade."""
        self.heard = segment.seconds
        self.settling = asyncio.create_task(self.decode(segment))
        return self.settling

    def finish(self, segment: Segment) -> asyncio.Task[str]:
        """Begin the final pass."""
        self.final = asyncio.create_task(self.decode(segment))
        return self.final

    def take_settled(self, seconds: float, silence: float) -> asyncio.Task[str] | None:
        """Speech may have ended: use the pass from the fade, running or done, if it has heard all speech.

        Args:
            seconds: of the utterance's audio until now.
            silence: seconds of silence at its end, by the voice detector.
        """
        settling, self.settling = self.settling, None
        if settling is None or self.heard < seconds - silence:
            return None
        if settling.cancelled() or (settling.done() and settling.exception() is not None):
            return None
        self.final = settling
        return settling

    async def text(self) -> str:
        """The text of the final pass, which begins now if no hint came; called once speech has ended."""
        assert self.segment is not None
        return await (self.final or self.decode(self.segment))

    def withdraw_partial(self) -> None:
        """Withdraw the partial pass."""
        if self.partial is not None:
            self.partial.cancel()

    def withdraw(self) -> None:
        """Withdraw all passes under way."""
        for task in (self.partial, self.settling, self.final):
            if task is not None:
                task.cancel()
        self.partial = self.settling = self.final = None
