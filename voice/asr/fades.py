"""When speech that fades is decoded, so that the words are there at a hint. Pure: it counts seconds of audio.

Right at the beginning of a fade, the last word may be misheard, or its end missing; a little later all of it is heard.
"""

from typing import Literal

Fades = Literal["never", "settled", "at_once"]
"""Whether speech is decoded where the voice fades: once its words have settled, or also at once."""
LEAST_AUDIO = 1.0
"""Seconds of audio, half a second of pre-roll included, that the first pass at a fade needs."""
SETTLED = 0.064
"""Seconds of a fade after which its last word is heard as well as ever. A fade is noticed 0.06 s after it began."""


class FadePasses:
    """The passes at the fades of one utterance.

    Args:
        at_once: whether there is also a pass at the beginning of each fade.
    """

    def __init__(self, *, at_once: bool) -> None:
        self._after = (0.0, SETTLED) if at_once else (SETTLED,)
        self._begun = 0
        self._since: float | None = None

    def is_due(self, seconds: float) -> bool:
        """Whether to decode `seconds` of audio that end with a fade."""
        self._since = seconds if self._since is None else self._since
        if self._begun == len(self._after) or seconds < LEAST_AUDIO:
            return False
        return seconds - self._since >= self._after[self._begun]

    @property
    def settles(self) -> bool:
        """Whether the pass that was begun last is the last one at its fade."""
        return self._begun == len(self._after)

    def begun(self) -> None:
        """A pass has begun."""
        self._begun += 1

    def rose(self) -> None:
        """The voice is no longer fading."""
        self._begun, self._since = 0, None
