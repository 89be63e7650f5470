"""A Piper voice, loaded once and shared by all calls: turns text into 16-bit samples on its own thread.

piper-tts is GPL-3.0-or-later; this module is the only one that imports it.
"""

import json
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from loguru import logger

from voice.errors import ComponentError, ConfigurationError
from voice.language import Language
from voice.llm.answer.clauses import has_words, sentences
from voice.models.store import repair
from voice.queue_waits import QueueWaits
from voice.tts.piper.pieces import Piece, PieceCutter, Samples, samples_of, split_pause, spoken_runs, word_ends
from voice.tts.reading.reading import SpokenWord, read_aloud
from voice.tts.synthesis_thread import SynthesisThread, Urgency, Urgent

EMBEDDED = "en_US-slt-small"
# Seconds kept before the first audible sample, so that the onset is not clipped.
LEAD_FIRST = 0.01
LEAD_LATER = 0.06
TAIL = 0.04
"""Seconds of silence kept after an introduction; with `LEAD_LATER`, the pause is as long as inside a clause."""
PAUSES = ' ,.;:!?…—-"()^$'
"""Silent phoneme symbols."""
PAD = "_"


class Voice:
    """Speaks text with one Piper model.

    The level is the model's own: Piper's default scales each sentence to full range, which makes soft ones jump.

    Args:
        path: the voice's .onnx file; its .onnx.json is beside it.
        streaming: synthesise piece by piece if the model allows it; False synthesises a clause at a time.
        normalise: read numbers, dates, addresses and the like as words in English and German (see `voice.tts.reading`),
            and drop Markdown in every language; False leaves all to the phonemiser. The words of the pieces are the
            written ones either way.

    Raises:
        ComponentError: the files are missing or are not a Piper voice.
    """

    def __init__(self, path: Path, *, streaming: bool = True, normalise: bool = True) -> None:
        # Imported here because loading onnxruntime and Piper takes a second, which would slow down `voice --help`.
        from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors
        from piper import PiperVoice
        from piper.config import PiperConfig

        from voice.tts.piper.streaming import load_graph

        config = Path(f"{path}.json")
        for file in (path, config):
            if not file.is_file():
                raise ComponentError(
                    f"Piper voice file {file} does not exist; give a voice's .onnx file with its .onnx.json beside it, "
                    'or use tts.voice = "embedded".'
                )
        try:
            settings = PiperConfig.from_dict(json.loads(config.read_text(encoding="utf-8")))
            self._graph = load_graph(path, sample_rate=settings.sample_rate, streaming=streaming)
        except (
            ValueError,
            KeyError,
            IndexError,
            DecodeError,
            onnx_errors.Fail,
            onnx_errors.InvalidProtobuf,
            onnx_errors.InvalidGraph,
        ) as error:
            raise ComponentError(f"{path} is not a whole Piper voice ({error}): {repair(path)}.") from error
        # Piper warns about every phoneme that the voice lacks; with our texts, that matters only for debugging.
        logging.getLogger("piper").setLevel(logging.ERROR)
        self.name = path.stem
        self.sample_rate: int = settings.sample_rate
        if streaming and not self._graph.streams:
            logger.debug(f"The voice {self.name} cannot be cut into pieces: it synthesises whole sentences.")
        self._piper: Any = PiperVoice(config=settings, session=None)
        self._language: Language = "de" if settings.espeak_voice.startswith("de") else "en"
        # In a language without rules, the phonemiser reads figures in its own way.
        self._reads: str | None = settings.espeak_voice[:2] if normalise else None
        self._prepared: dict[str, Sequence[Piece]] = {}
        self._pauses: dict[str, Samples] = {}
        self._thread = SynthesisThread()

    @property
    def waits(self) -> QueueWaits:
        """The waits of first clauses for the thread."""
        return self._thread.waits

    @property
    def streams(self) -> bool:
        """Whether the audio of a sentence comes in pieces."""
        return self._graph.streams

    def pieces(self, text: str, *, lead: float = LEAD_LATER) -> Iterator[list[Piece]]:
        """Speak `text`, with at most `lead` seconds before the first audible sample.

        Each step is one unit of computation, and yields the audio that is ready after it.
        """
        cutter = PieceCutter(self.sample_rate, lead=lead)
        for sentence in sentences(text, language=self._language):
            read = self._read(sentence)
            if not (ids := self._phoneme_ids(" ".join(word.spoken for word in read if word.spoken))):
                continue
            started = self._graph.begin(self._feeds(ids))
            runs = spoken_runs(ids, started.lengths, pauses=self._ids_of(PAUSES), pad=self._ids_of(PAD))
            heard = [word for word in read if has_words(word.written)]
            ends = word_ends([word.spoken for word in heard], runs, self._pronounce)
            cutter.expect([word.written for word in heard], ends)
            start = runs[0][0] if runs else 0
            for audio in started.chunks(speech_at=start):
                yield cutter.feed(audio)
        yield cutter.end()

    def synthesize(self, text: str, *, lead: float = LEAD_LATER) -> Samples:
        """Synthesise all of `text` at once: int16 mono at `sample_rate`."""
        return samples_of(piece for pieces in self.pieces(text, lead=lead) for piece in pieces)

    async def stream(self, text: str, *, lead: float, urgency: Urgent) -> AsyncIterator[Piece]:
        """`pieces` on the voice's own thread, off the event loop; if abandoned, it stops at the next piece."""
        async for pieces in self._thread.steps(self.pieces(text, lead=lead), urgency):
            for piece in pieces:
                yield piece

    async def speak(self, text: str, *, lead: float = LEAD_LATER, urgency: Urgency = Urgency.LATER) -> Sequence[Piece]:
        """All pieces of `stream`."""
        return [piece async for piece in self.stream(text, lead=lead, urgency=urgency)]

    async def prepare(self, phrases: Iterable[str]) -> None:
        """Synthesise phrases that must not wait for the thread; `prepared` returns them from then on.

        Raises:
            ConfigurationError: a phrase contains nothing that can be spoken.
        """
        for phrase in map(str.strip, phrases):
            if phrase not in self._prepared:
                pieces = await self.speak(phrase, lead=LEAD_FIRST)
                if not len(samples_of(pieces)):
                    raise ConfigurationError(f"The phrase “{phrase}” has nothing that can be spoken; write words.")
                self._prepared[phrase] = pieces

    def prepared(self, text: str) -> Sequence[Piece] | None:
        """A prepared phrase as `stream` yields it with a lead of `LEAD_FIRST`; None for any other text."""
        return self._prepared.get(text.strip())

    async def prepare_introductions(self, texts: Iterable[str]) -> None:
        """Synthesise beginnings of answers ("Sure,"), which may then be spoken before the rest of their clause."""
        for text in texts:
            pieces = await self.speak(text, lead=LEAD_FIRST, urgency=Urgency.AHEAD)
            self._prepared[text], self._pauses[text] = split_pause(pieces, self.sample_rate, keep=TAIL)

    def pause_after(self, text: str) -> Samples | None:
        """The voice's own pause after an introduction, beyond `TAIL`; None for any other text."""
        return self._pauses.get(text.strip())

    def introduction(self, text: str) -> float | None:
        """The seconds that an introduction lasts with the voice's own pause after it; None for any other text."""
        pause = self.pause_after(text)
        if pause is None:
            return None
        return (len(samples_of(self._prepared[text.strip()])) + len(pause)) / self.sample_rate

    def close(self) -> None:
        """End the thread."""
        self._thread.close()

    def _read(self, sentence: str) -> list[SpokenWord]:
        """The words of a text, with their spoken forms."""
        if self._reads is None:
            return [SpokenWord(word, _without_controls(word)) for word in sentence.split()]
        return read_aloud(sentence, language=self._reads)

    def _phoneme_ids(self, sentence: str) -> list[int]:
        """Ids of the phonemes of a text, as one sentence; empty if there is nothing to pronounce."""
        *parts, last = self._piper.phonemize(sentence) or [[]]
        phonemes = []
        for part in parts:
            # The phonemiser ends a sentence at every full stop, even the one in "Dr.".
            phonemes += [*(part[:-1] if part[-1:] == ["."] else part), " "]
        phonemes += last
        return list(self._piper.phonemes_to_ids(phonemes)) if phonemes else []

    def _feeds(self, ids: list[int]) -> dict[str, Any]:
        settings = self._piper.config
        feeds = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array([settings.noise_scale, settings.length_scale, settings.noise_w_scale], np.float32),
        }
        if settings.num_speakers > 1:
            feeds["sid"] = np.array([settings.default_speaker_id], np.int64)
        return feeds

    def _pronounce(self, word: str) -> list[str]:
        """The phonemes of a single word, in runs without a space."""
        return "".join(phoneme for part in self._piper.phonemize(word) for phoneme in (*part, " ")).split()

    def _ids_of(self, phonemes: str) -> frozenset[int]:
        known = self._piper.config.phoneme_id_map
        return frozenset(phoneme_id for phoneme in phonemes for phoneme_id in known.get(phoneme, ()))


def _without_controls(text: str) -> str:
    """The text with spaces in place of control characters: the phonemiser stops at a NUL."""
    return "".join(char if char.isprintable() or char.isspace() else " " for char in text)


def embedded_voice() -> Path:
    """The .onnx file of the package's own voice."""
    return Path(str(resources.files("voice.tts.voices").joinpath(f"{EMBEDDED}.onnx")))
