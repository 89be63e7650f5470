"""When speech that fades is decoded: at once, and once more while it stays quiet. Pure: it counts seconds of audio.

Right at the beginning of a fade, the last word may be misheard, or its end missing; a little later all of it is heard.
"""

LEAST_AUDIO = 1.0
"""Seconds of audio, half a second of pre-roll included, that the first pass at a fade needs."""
AFTER = (0.0, 0.064)
"""How many seconds of a fade come before each of its passes; the last one hears the words to their end. A fade is
noticed 0.06 s after it began."""


class FadePasses:
    """The passes at the fades of one utterance."""

    def __init__(self) -> None:
        self.announced = False
        """Whether the present fade has been announced."""
        self._begun = 0
        self._since: float | None = None

    def is_due(self, seconds: float) -> bool:
        """Whether to decode `seconds` of audio that end with a fade."""
        self._since = seconds if self._since is None else self._since
        if self._begun == len(AFTER) or seconds < LEAST_AUDIO:
            return False
        return seconds - self._since >= AFTER[self._begun]

    @property
    def is_new(self) -> bool:
        """Whether a pass has begun at a fade that was not announced yet."""
        return self._begun > 0 and not self.announced

    @property
    def settles(self) -> bool:
        """Whether the pass that was begun last is the last one at its fade."""
        return self._begun == len(AFTER)

    def begun(self) -> None:
        """A pass has begun."""
        self._begun += 1

    def rose(self) -> None:
        """The voice is no longer fading."""
        self._begun, self._since, self.announced = 0, None, False
