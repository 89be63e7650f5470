"""What a caller's voice, microphone and room add to every spectrum: the cepstral mean that the decoder subtracts.

PocketSphinx learns it as it listens, but slowly: it trusts what it starts with as much as five seconds of speech. Left
to itself, it gets 16 % of the words of a call's first request wrong, and 4 % of the later ones (flite voices rms and
awb). This estimate starts from recorded speech and follows the caller from the first word: 5.5 %. Pure arithmetic on
the decoder's own figures.
"""

from collections.abc import Sequence

START = (50.0, -3.0, 3.5, 5.5, -6.5, 1.5, -3.0, -1.5, -3.5, 1.0, 0.5, 0.5, 2.5)
"""The mean over the flite voices slt and kal16 and six human commands (PocketSphinx's test data), half and half."""

START_FRAMES = 50
"""How many frames of the caller's own speech weigh as much as `START`."""

DECODER_FRAMES = 500
"""The weight that the decoder gives to a mean that it is told (`CMN_WIN` in its `feat/cmn.h`)."""

_LONGEST = 290  # beyond 300 frames the decoder begins to forget what it was told, and its sums cannot be inverted


class CepstralMean:
    """The caller's mean so far; frames are 10 ms."""

    def __init__(self) -> None:
        self._sum = [START_FRAMES * value for value in START]
        self._frames = 0

    @property
    def frames(self) -> int:
        """How many frames of the caller have been taken in."""
        return self._frames

    @property
    def is_settled(self) -> bool:
        """Whether so much has been heard that the decoder can be left to itself."""
        return self._frames >= DECODER_FRAMES

    def estimate(self) -> str:
        """The mean in the decoder's notation."""
        weight = START_FRAMES + self._frames
        return ",".join(f"{value / weight:.5g}" for value in self._sum)

    def take_in(self, *, told: str, learnt: str, frames: int) -> None:
        """Add what the decoder has learnt from speech.

        Args:
            told: The mean it was told last.
            learnt: Its mean now.
            frames: How many frames it has heard in between.
        """
        after = _numbers(learnt)
        if frames > _LONGEST:
            self._sum = [(START_FRAMES + DECODER_FRAMES) * value for value in after]
            self._frames = DECODER_FRAMES
            return
        for index, (new, old) in enumerate(zip(after, _numbers(told), strict=True)):
            self._sum[index] += (DECODER_FRAMES + frames) * new - DECODER_FRAMES * old
        self._frames += frames


def _numbers(mean: str) -> Sequence[float]:
    return [float(value) for value in mean.split(",") if value]
