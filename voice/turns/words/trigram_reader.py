"""How finished words read: the probability that a sentence ends after them, by an English trigram model.

The model comes with PocketSphinx, so nothing needs to be downloaded. It ignores the context: it only knows that "set a
timer for" hardly ever ends a sentence and that "for ten minutes" often does.
"""

import re
from functools import cache
from pathlib import Path

import pocketsphinx

_WORD = re.compile(r"[a-z']+|\d+")
_NUMBER = "ten"
"""The word that replaces figures, which the model does not know."""
_HISTORY = 2  # words before the predicted one in a trigram model
_OPEN_ENDS = (",", "-", "–", "—", "…", "...", ":", ";")
"""Punctuation by which a recogniser marks an unfinished sentence."""
_OPEN = -3.0  # as improbable as an end after "and then i"
_FILLED_PAUSES = {"ah", "eh", "er", "erm", "hm", "hmm", "mm", "uh", "uhm", "um"}
"""Words by which a speaker keeps the turn, unknown to the model, which is trained on written English."""


class TrigramReader:
    """Reads English; one object for all calls. The model's 30 MB are mapped, not loaded: opening takes some 40 ms."""

    def __init__(self) -> None:
        path = Path(pocketsphinx.__file__).parent / "model" / "en-us" / "en-us.lm.bin"
        self._log_math = pocketsphinx.LogMath()
        self._model = pocketsphinx.NGramModel(pocketsphinx.Config(), self._log_math, str(path))

    @classmethod
    @cache
    def shared(cls) -> "TrigramReader":
        """The instance of this process."""
        return cls()

    def log_probability(self, text: str) -> float | None:
        """Base-10 logarithm of the probability that the sentence ends after `text`; None without words.

        Typically -0.6 after whole requests and -1.5 to -2.5 inside them.
        """
        words = [_NUMBER if word.isdigit() else word for word in _WORD.findall(text.lower())]
        if not words:
            return None
        if is_open(text):
            return _OPEN
        history = words[-_HISTORY:]
        # PocketSphinx takes the word first, then its history backwards.
        return float(self._log_math.log_to_log10(self._model.prob(["</s>", *reversed(history)])))


def is_open(text: str) -> bool:
    """Whether the recogniser or the caller marks the sentence as unfinished: by punctuation, or by a filled pause."""
    words = _WORD.findall(text.lower())
    return text.rstrip().endswith(_OPEN_ENDS) or (bool(words) and words[-1] in _FILLED_PAUSES)
