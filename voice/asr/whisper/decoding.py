"""One pass of Whisper over an utterance: the length of the encoding, the decoding, and checks of the text.

Whisper was trained on windows of 30 s, and faster-whisper always encodes a whole window, which takes most of the time
for a short utterance with a small model on a CPU. Context "auto" encodes only the audio and `SILENCE_AFTER` seconds of
silence. With nothing more, the decoder often finds no end: of 121 recordings of people, tiny.en repeated the text of 11
until it was cut (whisper.cpp, issue 1951 reports the same). It lacks the silence at the end of a window. So the
encoding of the last `SILENT_END` seconds of a silent window, computed once, is appended: then no text was repeated, and
the words were as good as with whole windows (docs/benchmarks/2026-11-25-whisper-contexts.md). If a text of "auto" still
looks wrong, it is decoded again with the full window.

A prefix keeps the confirmed words at the beginning of a text. CTranslate2 forces it on the decoder token by token, so
it saves no time (measured: 20 given and 5 free tokens cost as much as 25 free ones).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from loguru import logger
from numpy.typing import NDArray

from voice.inference_queue import IsWanted, WithdrawnError

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

Context = Literal["full", "auto"]

SAMPLE_RATE = 16_000
PASS_SECONDS = 30.0
"""Seconds of audio in one pass."""

SILENCE_AFTER, LEAST_CONTEXT = 2.5, 6.0
"""Seconds of silence that "auto" encodes after the audio, and the default minimum of its total."""
CHECK_CONTEXT = 15.0
"""The least seconds that a check of the words encodes: tiny.en's words are then as good as with whole windows, at two
fifths of the time (docs/benchmarks/2026-11-25-two-passes.md)."""
SILENT_END = 4.0
"""Seconds of a silent window's end whose encoding is appended by "auto". 1 to 30 s work."""

TEMPERATURES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""With fallback, a text that looks wrong is sampled again at each of these until it looks right: faster-whisper's own
values."""

# Whisper was trained to write at most 224 tokens a window. English at reading speed has 4 tokens a second, spelled
# letters with commas have 8; the constant leaves room for punctuation in the shortest answers. So a runaway decoding of
# 2 s of speech costs 32 tokens, not 224.
TOKENS_AT_MOST, TOKENS_PER_SECOND, TOKENS_ALWAYS = 224, 8, 16
# Whisper's own rules: a window is silent if both no_speech and a low probability say so, and a text that compresses by
# more than 2.4 is a loop.
NO_SPEECH_PROBABILITY, LOW_LOG_PROBABILITY, LOOP_COMPRESSION = 0.6, -1.0, 2.4
SURELY_NO_SPEECH = 0.8
"""Probability of no speech that suffices by itself. In silence and faint noise, tiny.en hears "you" with a fairly high
probability, but no_speech is then 0.84 to 0.97; in 165 recordings of 52 speakers it is at most 0.23, and cut to 0.5 s
at most 0.45."""

_FRAMES_PER_SECOND = 100
_ENCODED_PER_SECOND = 50
_HOP = SAMPLE_RATE // _FRAMES_PER_SECOND
_WHOLE_WINDOW = round(PASS_SECONDS * _FRAMES_PER_SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """The settings of a pass: its computation and number of threads."""

    context: Context = "full"
    """The encoder's input: "full", a window of 30 s, or "auto", little more than the audio."""
    least_context: float = LEAST_CONTEXT
    """The least seconds that "auto" encodes."""
    beam_size: int = 1
    """The beam size; 1 always takes the most probable token."""
    temperature_fallback: bool = False
    """Whether the last pass over a window samples a text that looks wrong again, at higher temperatures."""
    threads: int = 1
    """Threads of one pass. A second thread slows down the decoder, whose matrices are small."""

    def __str__(self) -> str:
        parts = [self.context if self.context == "full" else f"auto of at least {self.least_context:g} s"]
        if self.beam_size > 1:
            parts.append(f"beam {self.beam_size}")
        if self.temperature_fallback:
            parts.append("temperature fallback")
        if self.threads > 1:
            parts.append(f"{self.threads} threads")
        return ", ".join(parts)


FULL = Decoding()
"""Whole windows, as in Whisper's training, with the most probable tokens and one thread."""
AUTO = Decoding(context="auto")
"""Little more than the audio: the default unless another is set or has been measured."""


def always() -> bool:
    """The `is_wanted` of a pass that cannot be withdrawn."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The text of a window."""

    text: str
    log_probability: float
    """The mean of its tokens."""
    looks_wrong: bool = False
    """Whether Whisper's own figures say that it is unreliable: it is broken or unlikely."""
    is_broken: bool = False
    """Whether it repeats itself or was cut off."""


class Transcript(str):
    """The text of an utterance, with the mean log probability of the tokens of its last window."""

    log_probability: float

    def __new__(cls, text: str, log_probability: float) -> Self:
        """Make a text with its probability."""
        transcript = super().__new__(cls, text)
        transcript.log_probability = log_probability
        return transcript

    def __getnewargs__(self) -> tuple[str, float]:  # type: ignore[override]  # as `__new__` takes them
        """Copies and pickles keep the probability."""
        return str(self), self.log_probability


class WhisperPasses:
    """Turns audio into text with one model. Its methods block, and may be called from any thread.

    CTranslate2 can stop neither its encoder nor its decoder, so a pass checks between its steps (features, encoder,
    decoder, and all three again if the text looks wrong) whether it is still wanted.

    Args:
        model: faster-whisper's, loaded.
        name: Its name in logs.
        language: The language spoken; None to have a multilingual model detect it.
        decoding: The settings of a pass; the threads are the model's own.
    """

    def __init__(self, model: "WhisperModel", *, name: str, language: str | None, decoding: Decoding) -> None:
        self._model = model
        self._name = name
        self._language = language
        self._decoding = decoding
        # Only this call creates faster-whisper's options and suppressed tokens; it decodes nothing yet.
        _, info = model.transcribe(
            np.zeros(SAMPLE_RATE, np.float32),
            language=language or "en",
            beam_size=decoding.beam_size,
            temperature=TEMPERATURES if decoding.temperature_fallback else TEMPERATURES[:1],
            condition_on_previous_text=False,
            without_timestamps=True,
        )
        self._options = info.transcription_options
        self._silent_end = None if decoding.context == "full" else _silent_end(model)

    def transcribe(self, audio: NDArray[np.float32], *, prefix: str = "", is_wanted: IsWanted = always) -> Transcript:
        """Decode a whole utterance, window by window.

        Args:
            audio: float32 in -1..1, 16 kHz mono, shape (samples,).
            prefix: The known beginning of the text, for audio of at most one window.
            is_wanted: Whether the text is still awaited; called between the steps.

        Returns:
            The text as Whisper writes it, `prefix` included; empty when no speech was found.

        Raises:
            WithdrawnError: Nobody waits any more.
        """
        step = round(PASS_SECONDS * SAMPLE_RATE)
        windows = [audio[at : at + step] for at in range(0, max(1, len(audio)), step)]
        decoded = [self._window(window, prefix if len(windows) == 1 else "", is_wanted) for window in windows]
        text = " ".join(one.text for one in decoded if one.text)
        has_words = any(character.isalnum() for character in text)
        return Transcript(text if has_words else "", decoded[-1].log_probability)

    def listen(self, audio: NDArray[np.float32], *, prefix: str = "", is_wanted: IsWanted = always) -> Decoded:
        """Decode the beginning of an utterance, at most one window, once.

        Raises:
            WithdrawnError: Nobody waits any more.
        """
        return self._decode(audio, prefix, self._frames(audio), is_wanted, is_last=False)

    @property
    def check_encodes(self) -> float | None:
        """How many times as much as other passes `check` encodes; None if it encodes no more."""
        if self._decoding.context == "full" or self._decoding.least_context >= CHECK_CONTEXT:
            return None
        return CHECK_CONTEXT / self._decoding.least_context

    def check(self, audio: NDArray[np.float32], *, is_wanted: IsWanted = always) -> Transcript | None:
        """Decode an utterance, at most one window, with a longer context; None if the text looks wrong.

        Raises:
            WithdrawnError: Nobody waits any more.
        """
        decoded = self._decode(audio, "", self._frames(audio, CHECK_CONTEXT), is_wanted, is_last=False)
        return None if decoded.looks_wrong else Transcript(decoded.text, decoded.log_probability)

    def _window(self, audio: NDArray[np.float32], prefix: str, is_wanted: IsWanted) -> Decoded:
        frames = self._frames(audio)
        is_last = frames == _WHOLE_WINDOW and not prefix
        decoded = self._decode(audio, prefix, frames, is_wanted, is_last=is_last)
        if decoded.looks_wrong and not is_last:
            logger.debug(f"{self._name}: decoding again, because this looks wrong: {decoded.text}")
            decoded = self._decode(audio, "", _WHOLE_WINDOW, is_wanted, is_last=True)
        return decoded

    def _frames(self, audio: NDArray[np.float32], least: float = 0.0) -> int:
        """The number of feature frames in the encoder's input, for `least` seconds or more."""
        if self._decoding.context == "full":
            return _WHOLE_WINDOW
        seconds = max(self._decoding.least_context, least, len(audio) / SAMPLE_RATE + SILENCE_AFTER)
        return min(_WHOLE_WINDOW, math.ceil(seconds * _FRAMES_PER_SECOND))

    def _decode(
        self, audio: NDArray[np.float32], prefix: str, frames: int, is_wanted: IsWanted, *, is_last: bool
    ) -> Decoded:
        """Decode one window once; `is_last` if no other decoding follows a text that looks wrong."""
        from faster_whisper.audio import pad_or_trim

        model, seconds = self._model, len(audio) / SAMPLE_RATE
        _check(is_wanted)
        # Silent audio, not zero features: a feature of 0 is a sound.
        features = pad_or_trim(model.feature_extractor(audio, padding=max(0, frames * _HOP - len(audio))), frames)
        _check(is_wanted)
        encoded = self._followed_by_silence(model.encode(features), frames)
        _check(is_wanted)
        tokenizer = self._tokenizer(encoded)
        prompt = model.get_prompt(tokenizer, [], without_timestamps=True, prefix=prefix or None)
        given = len(prompt_text(prompt, tokenizer))
        cap = most_tokens(seconds)
        # The first token may end the text only if there is a prefix.
        options = replace(
            self._options,
            max_new_tokens=length_limit(cap, given, len(prompt)),
            suppress_blank=not given,
            temperatures=self._options.temperatures if is_last else TEMPERATURES[:1],
        )
        result, log_probability, _, compression = model.generate_with_fallback(encoded, prompt, tokenizer, options)
        tokens = result.sequences_ids[0]
        # The mean counts the given tokens as certain: take it over the free ones only.
        log_probability *= (len(tokens) + 1) / (max(0, len(tokens) - given) + 1)
        is_unlikely, is_loop = log_probability < LOW_LOG_PROBABILITY, compression > LOOP_COMPRESSION
        is_cut = len(tokens) >= cap
        if result.no_speech_prob > (NO_SPEECH_PROBABILITY if is_unlikely else SURELY_NO_SPEECH):
            return Decoded(text=prefix, log_probability=log_probability)
        if is_cut:
            logger.debug(f"{self._name}: cut at {cap} tokens for {seconds:.1f} s of audio")
        text = "" if is_cut and is_loop else tokenizer.decode(tokens).strip()
        is_broken = is_loop or is_cut
        return Decoded(
            text=text,
            log_probability=log_probability,
            looks_wrong=is_unlikely or is_broken,
            is_broken=is_broken,
        )

    def _followed_by_silence(self, encoded: Any, frames: int) -> Any:
        """A short context's encoding, followed by that of a silent window's end."""
        if self._silent_end is None or frames == _WHOLE_WINDOW:
            return encoded
        from ctranslate2 import Device, StorageView

        longest = round(PASS_SECONDS * _ENCODED_PER_SECOND)
        both = np.concatenate([np.array(encoded.to_device(Device.cpu)), self._silent_end], axis=1)[:, :longest]
        return StorageView.from_array(np.ascontiguousarray(both))

    def _tokenizer(self, encoded: Any) -> Any:
        """The model's tokenizer for the configured language, or for the one detected."""
        from faster_whisper.tokenizer import Tokenizer

        model = self._model
        language = self._language
        if language is None and model.model.is_multilingual:
            ((token, _), *_), *_ = model.model.detect_language(encoded)
            language = token[2:-2]
        return Tokenizer(model.hf_tokenizer, model.model.is_multilingual, task="transcribe", language=language or "en")


def _silent_end(model: "WhisperModel") -> NDArray[Any]:
    """The encoding of the last seconds of a silent window: shape (1, positions, width)."""
    from ctranslate2 import Device

    features = model.feature_extractor(np.zeros(round(PASS_SECONDS * SAMPLE_RATE), np.float32), padding=0)
    encoded = np.array(model.encode(features).to_device(Device.cpu))
    return encoded[:, -round(SILENT_END * _ENCODED_PER_SECOND) :].copy()


def _check(is_wanted: IsWanted) -> None:
    if not is_wanted():
        raise WithdrawnError


def most_tokens(seconds: float) -> int:
    """The most tokens for the text of so much audio; a text with as many is cut off, and looks wrong."""
    return min(TOKENS_AT_MOST, TOKENS_ALWAYS + math.ceil(TOKENS_PER_SECOND * seconds))


def prompt_text(prompt: Sequence[int], tokenizer: Any) -> list[int]:
    """The tokens at the end of a prompt that must begin the text."""
    special = max((index for index, token in enumerate(prompt) if token >= tokenizer.eot), default=-1)
    return list(prompt[special + 1 :])


def length_limit(tokens: int, given: int, prompt: int) -> int:
    """The `max_new_tokens` for a text of at most `tokens`, of which `given` end a prompt of `prompt` tokens.

    faster-whisper adds the prompt to it. CTranslate2 generates half of the sum, or the rest after the prompt if that is
    less; given tokens count as generated.
    """
    return max(2 * tokens, tokens + prompt - given - 1) - prompt
