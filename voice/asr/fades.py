"""When speech that fades is decoded: at once, and once more while it stays quiet. Pure: it counts seconds of audio.

Right at the beginning of a fade, the last word may be misheard, or its end missing; a little later all of it is heard.
"""

LEAST_AUDIO = 1.0
"""Seconds of audio, half a second of pre-roll included, that the first pass at a fade needs."""
AFTER = (0.0, 0.064)
"""How many seconds of a fade come before each of its passes; the last one hears the words to their end. A fade is
noticed 0.06 s after it began."""
LASTING = 0.048
"""Seconds of a fade after which it is worth judging how it sounds: 4 of 10 fades are over by then (of 716 in 104
recordings of 46 speakers), and the verdict still comes when the words do."""


class FadePasses:
    """The passes at the fades of one utterance."""

    def __init__(self) -> None:
        self.announced = False
        """Whether the present fade has been announced."""
        self._lasts = False
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

    def lasts(self, seconds: float) -> bool:
        """Whether the fade, at which a pass has begun, lasts after `seconds` of audio; once for each fade."""
        since = seconds if self._since is None else self._since
        if self._lasts or self._begun == 0 or seconds - since < LASTING:
            return False
        self._lasts = True
        return True

    @property
    def settles(self) -> bool:
        """Whether the pass that was begun last is the last one at its fade."""
        return self._begun == len(AFTER)

    def begun(self) -> None:
        """A pass has begun."""
        self._begun += 1

    def rose(self) -> None:
        """The voice is no longer fading."""
        self._begun, self._since, self.announced, self._lasts = 0, None, False, False
