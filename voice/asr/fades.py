"""When speech that fades is decoded: at once, and once more while it stays quiet. Pure: it counts seconds of audio.

The first pass may mishear a word that has just ended, or miss its end. The second hears all of it, so that its text is
final if the voice does not rise again.
"""

LEAST_AUDIO = 1.0
"""Seconds of audio, half a second of pre-roll included, that the first pass at a fade needs."""
AGAIN, PASSES = 0.09, 2
"""Seconds until the next pass in the same fade, which may hear another last word, and the most passes in one fade."""


class FadePasses:
    """The passes at the fades of one utterance."""

    def __init__(self) -> None:
        self._begun = 0
        self._heard = 0.0

    def is_due(self, seconds: float) -> bool:
        """Whether to decode `seconds` of audio that end with a fade."""
        return self._begun < PASSES and seconds >= (self._heard + AGAIN if self._begun else LEAST_AUDIO)

    @property
    def settles(self) -> bool:
        """Whether the pass that was begun last heard the whole of the words before the fade."""
        return self._begun == PASSES

    def begun(self, seconds: float) -> None:
        """A pass over `seconds` of audio has begun."""
        self._begun += 1
        self._heard = seconds

    def rose(self) -> None:
        """The voice is no longer fading."""
        self._begun = 0
