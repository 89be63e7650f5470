"""The cepstral mean that the decoder subtracts: the constant part of voice, microphone and room in every spectrum.

PocketSphinx learns it slowly: its initial value weighs as much as five seconds of speech. On its own it gets 16 % of
the words of a call's first request wrong, and 4 % of later ones (flite voices rms and awb). This estimate starts from
recorded speech and follows the caller from the first word: 5.5 % of the first request's words are wrong. Pure
arithmetic on the decoder's own figures.
"""

from collections.abc import Sequence

START = (50.0, -3.0, 3.5, 5.5, -6.5, 1.5, -3.0, -1.5, -3.5, 1.0, 0.5, 0.5, 2.5)
"""The mean of flite voices (slt and kal16) and of six human commands (PocketSphinx's test data), half each."""

START_FRAMES = 50
"""The frames of the caller's speech with the same weight as `START`."""

DECODER_FRAMES = 500
"""The decoder's weight, in frames, for a mean set from outside (`CMN_WIN` in its `feat/cmn.h`)."""

_MOST_FRAMES = 290  # after 300 frames the decoder begins to forget the mean set; its sums cannot be inverted


class CepstralMean:
    """The caller's mean so far; frames are 10 ms."""

    def __init__(self) -> None:
        self._sum = [START_FRAMES * value for value in START]
        self._frames = 0

    @property
    def frames(self) -> int:
        """The number of the caller's frames in the estimate."""
        return self._frames

    @property
    def is_settled(self) -> bool:
        """Whether the decoder has heard enough to continue on its own."""
        return self._frames >= DECODER_FRAMES

    def estimate(self) -> str:
        """The mean in the decoder's notation."""
        weight = START_FRAMES + self._frames
        return ",".join(f"{value / weight:.5g}" for value in self._sum)

    def take_in(self, *, given: str, learnt: str, frames: int) -> None:
        """Add the decoder's new estimate from speech.

        Args:
            given: The mean that was set last.
            learnt: Its mean now.
            frames: How many frames it has heard since.
        """
        after = _numbers(learnt)
        if frames > _MOST_FRAMES:
            self._sum = [(START_FRAMES + DECODER_FRAMES) * value for value in after]
            self._frames = DECODER_FRAMES
            return
        for index, (new, old) in enumerate(zip(after, _numbers(given), strict=True)):
            self._sum[index] += (DECODER_FRAMES + frames) * new - DECODER_FRAMES * old
        self._frames += frames


def _numbers(mean: str) -> Sequence[float]:
    return [float(value) for value in mean.split(",") if value]
