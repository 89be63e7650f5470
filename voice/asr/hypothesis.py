"""The text of an utterance that is still being spoken, from one pass over its audio to the next.

Local agreement (Macháček, Dabre and Bojar, "Turning Whisper into Real-Time Transcription System", 2023): a word is
confirmed when two successive passes agree on it and on all words before it. Pure: it knows neither audio nor time.
"""


class Hypothesis:
    """The words of one utterance so far: the confirmed ones never change, the others may."""

    def __init__(self) -> None:
        self._confirmed: list[str] = []
        self._words: list[str] = []

    @property
    def confirmed(self) -> str:
        """The confirmed words, with which the transcript of any later pass can be made to begin."""
        return " ".join(self._confirmed)

    @property
    def text(self) -> str:
        """All words, confirmed and tentative."""
        return " ".join(self._words)

    def take(self, text: str) -> None:
        """Compare the whole text of the next pass with that of the last one.

        Capitals and punctuation are ignored, because Whisper ends every text like a sentence; the newer form is kept.
        The last word is not confirmed: its sound may be incomplete.
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
