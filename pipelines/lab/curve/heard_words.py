"""The words of a recording before each silence, as a call would recognise and read them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pipelines.engines.whisper import Whisper
from pipelines.reader_loading import load_reader, reader_file
from pipelines.settings import Turns
from pipelines.versions import version
from voice.client.fixtures.fixture import FixtureTurn
from voice.client.sound.pcm import RATE

if TYPE_CHECKING:
    from voice.asr.whisper.decoding import WhisperPasses
    from voice.turns.words.end_reader import EndReader

RECOGNISER = "tiny.en"
PRE_ROLL = 0.5
"""Seconds of audio before the labelled speech in a pass."""
AFTER = 0.1
"""Seconds of the silence in a pass."""


@dataclass(frozen=True, slots=True)
class HeardWords:
    """The words before a silence; None for what no model here can tell.

    Parameters:
        text: as the recogniser hears them.
        ends: the probability that the message ends after them, 0 to 1.
    """

    text: str | None = None
    ends: float | None = None


def recogniser() -> str | None:
    """The recogniser of this installation, by name and version; None if its weights are not here."""
    whisper = Whisper(engine="whisper", model=RECOGNISER)
    return None if whisper.needs() else f"{RECOGNISER}, faster-whisper {version('faster-whisper')}"


def reader() -> str | None:
    """The language model that reads the ends of turns here; None if there is none."""
    file = reader_file(Turns(), "en")
    return file.name if file else None


class Recognition:
    """Recognises with Whisper as a call does, and asks the reader; without their weights it gives nothing."""

    def __init__(self) -> None:
        self._passes: WhisperPasses | None = None
        if recogniser():
            from voice.asr.whisper import decoding
            from voice.asr.whisper.model import load_model

            weights = Whisper(engine="whisper", model=RECOGNISER).weights()
            model = load_model(weights.path, name=RECOGNISER, device="cpu", compute_type="int8", threads=1)
            self._passes = decoding.WhisperPasses(model, name=RECOGNISER, language="en", decoding=decoding.AUTO)
        file = reader_file(Turns(), "en")
        self._reader: EndReader | None = load_reader(file) if file else None

    def before(self, turn: FixtureTurn, began: float, transcript: str) -> HeardWords:
        """The words before a silence that begins at `began` seconds; without a recogniser, the transcript's are read.

        Raises:
            ComponentError: the reader failed.
        """
        text = None
        if self._passes is not None:
            start, end = round(max(0.0, turn.speech[0][0] - PRE_ROLL) * RATE), round((began + AFTER) * RATE)
            audio = turn.samples[start:end].astype(np.float32) / 32768
            text = str(self._passes.transcribe(np.pad(audio, (0, max(0, end - start - len(audio))))))
        return HeardWords(text, self._reader.read(transcript if text is None else text) if self._reader else None)
