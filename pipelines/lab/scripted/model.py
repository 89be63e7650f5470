"""A faster-whisper model whose words come from a script and whose computing time is real."""

import json
import random
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from faster_whisper import WhisperModel
from faster_whisper.feature_extractor import FeatureExtractor
from faster_whisper.transcribe import get_compression_ratio
from numpy.typing import NDArray

from latency.audio.recording import RATE
from pipelines.engines.scripted import SCRIPT
from pipelines.lab.scripted.model_folder import MODEL_NAME, build
from pipelines.lab.scripted.spoken_words import Recording, SpokenWords, Word, spread
from voice.asr.whisper.decoding import length_limit, most_tokens, prompt_text
from voice.client.fixtures.fixture import load_fixtures

TOKENS_PER_WORD = 1.3
"""Tokens of GPT-2's vocabulary in an English word, on average."""

UNSETTLED = 0.05
"""Seconds; a word that ends within this time before the end of the audio can be misheard."""

GUESSED, KNOWN = 0.35, 0.85
"""Shares of a word from which it is sometimes heard right, and from which it is heard as well as a whole word.

PocketSphinx heard 38 recordings (requests and sentences of some 25 speakers), cut inside a last word that it knows.
Compared with a cut at the end of that word, it heard the words of the whole recording 41 % as often with 60 % of the
word, and 92 % as often with 80 %. Whisper's own figures are unknown.
"""

UNKNOWN_WORDS = "please tell me more about that"
"""The words heard in speech without a text: a whole request, so that they read as finished."""
UNKNOWN_SECONDS = 2.4
"""Seconds of speech for each repetition of `UNKNOWN_WORDS`: 2.5 words a second."""

_WINDOW = 30 * RATE
_NO_SPEECH = (1.0, -1.5)  # no-speech probability and log probability that Whisper reports for audio without words


@dataclass(frozen=True, slots=True, kw_only=True)
class HearingScript:
    """The script of a model.

    Parameters:
        fixtures: scenario files, folders or recordings, as `voice replay` takes them.
        misheard: how often a word that has just been spoken is mistaken for another one, 0 to 1; one that is cut off
            is mistaken more often. 0: never.
        seed: seeds the mishearings; the same audio always gives the same words.
    """

    fixtures: tuple[str, ...]
    misheard: float = 0.2
    seed: int = 1


def build_for_fixtures(
    out: Path,
    fixtures: Sequence[str | Path],
    *,
    size: str = "tiny",
    misheard: float = 0.2,
    seed: int = 1,
    multilingual: bool = False,
) -> Path:
    """Write the folder of a model that hears the words of fixtures. This takes a second or two.

    Args:
        out: Folder to create; files in it are overwritten.
        fixtures: As `voice replay` takes them.
        size: Shape of the model: "quick", "tiny" or "base".
        misheard: How often a word that has just been spoken is misheard, 0 to 1.
        seed: Seeds the mishearings.
        multilingual: Use the vocabulary and prompt of "tiny" instead of "tiny.en"; words may then also be German.

    Returns:
        `out`; the recordings are not copied, but read when the model is loaded.

    Raises:
        FixtureError: A fixture cannot be used.
    """
    if not 0 <= misheard <= 1:
        raise ValueError(f"misheard is {misheard}; it must be from 0 to 1")
    script = HearingScript(fixtures=tuple(str(Path(path).resolve()) for path in fixtures), misheard=misheard, seed=seed)
    words = SpokenWords(recordings(script.fixtures)).vocabulary
    # The decoder emits numbers, as many as a pass allows; the words are in the vocabulary for prompts of later passes.
    text = " ".join(str(number) for number in range(460))
    build(out, text=text, size=size, name=f"{MODEL_NAME}-{size}", vocabulary=words, multilingual=multilingual)
    (out / SCRIPT).write_text(json.dumps(asdict(script), indent=2), encoding="utf-8")
    return out


def recordings(fixtures: Sequence[str]) -> list[Recording]:
    """The fixtures' recordings and when each word is spoken; a backchannel ("uh huh") counts as speech.

    Speech without a text, as in a bare recording, is given `UNKNOWN_WORDS`.

    Raises:
        FixtureError: A fixture cannot be used.
    """
    found = []
    for turn in (turn for fixture in load_fixtures(fixtures) for turn in fixture.turns):
        heard = turn.speech or tuple((start, end) for start, end, label in turn.labels if label == "backchannel")
        text = turn.text or (_unknown(turn.speech) if turn.speech else "")
        found.append(Recording(turn.samples, spread(text, heard) if text and heard else ()))
    return found


def _unknown(speech: Sequence[tuple[float, float]]) -> str:
    """`UNKNOWN_WORDS`, as often as there is time for them."""
    seconds = sum(end - start for start, end in speech)
    return " ".join([UNKNOWN_WORDS] * max(1, round(seconds / UNKNOWN_SECONDS)))


class ScriptedWhisperModel(WhisperModel):  # type: ignore[misc]
    """Replaces `faster_whisper.WhisperModel`; takes the same arguments and a folder made by `build_for_fixtures`.

    Besides `transcribe`, its parts may be used, all in one thread: `feature_extractor` on the audio received so far
    (silence that a recogniser adds goes into its `padding`), then `encode`, `get_prompt` and `generate_with_fallback`.
    """

    def __init__(self, model_size_or_path: str, *args: Any, **options: Any) -> None:
        super().__init__(model_size_or_path, *args, **options)
        script = json.loads((Path(model_size_or_path) / SCRIPT).read_text(encoding="utf-8"))
        self.script = HearingScript(**{**script, "fixtures": tuple(script["fixtures"])})
        self._spoken = SpokenWords(recordings(self.script.fixtures))
        self._vocabulary = self._spoken.vocabulary
        self._heard = threading.local()
        self.feature_extractor = _NotingExtractor(self._note, **self.feat_kwargs)

    def generate_with_fallback(
        self, encoder_output: Any, prompt: list[int], tokenizer: Any, options: Any
    ) -> tuple[Any, float, float, float]:
        """Run the genuine decoder for as many tokens as the words take, then replace its output with the words.

        Returns:
            The result, average log probability, temperature and compression ratio, as faster-whisper does.
        """
        words, most = self._next_window()
        given = prompt_text(prompt, tokenizer)
        beginning = tokenizer.decode(given).split()
        words = [*beginning, *words[len(beginning) :]]
        # Whisper's tokens suffice for any speech: a script with more would look wrong and be decoded twice.
        while len(words) > len(beginning) and len(tokenizer.encode(f" {' '.join(words)}")) >= most:
            words.pop()
        text = " ".join(words)
        tokens = max(len(given) + 1, round(TOKENS_PER_WORD * len(words)))
        limit = length_limit(tokens, len(given), len(prompt))
        if options.max_new_tokens is not None:
            limit = min(limit, options.max_new_tokens)
        genuine, log_probability, temperature, _ = super().generate_with_fallback(
            encoder_output, prompt, tokenizer, replace(options, max_new_tokens=limit)
        )
        no_speech, log_probability = (0.0, log_probability) if words else _NO_SPEECH
        ids = tokenizer.encode(f" {text}") if text else []
        result = SimpleNamespace(sequences_ids=[ids], scores=genuine.scores, no_speech_prob=no_speech)
        return result, log_probability, temperature, get_compression_ratio(text)

    def _note(self, samples: NDArray[np.float32]) -> None:
        """Remember the words in the audio, window by window, for this thread's passes."""
        pcm = np.rint(samples * 32768).astype(np.int16)
        words = self._spoken.heard_in(pcm)
        windows = [
            [word for word in words if start <= round(word.middle * RATE) < start + _WINDOW]
            for start in range(0, max(1, len(pcm)), _WINDOW)
        ]
        windows[-1] = self._mishear(windows[-1], len(pcm))
        seconds = [len(pcm[start : start + _WINDOW]) / RATE for start in range(0, max(1, len(pcm)), _WINDOW)]
        self._heard.windows = [
            ([word.text for word in window], most_tokens(length))
            for window, length in zip(windows, seconds, strict=True)
        ]

    def _next_window(self) -> tuple[list[str], int]:
        """The words of the next window, and an upper bound on their tokens; the last window may be decoded again."""
        windows: list[tuple[list[str], int]] = self._heard.windows
        return windows.pop(0) if len(windows) > 1 else windows[0]

    def _mishear(self, words: list[Word], samples: int) -> list[Word]:
        """The words, with the last one replaced if it is unsettled and drawn as misheard.

        The less of a word the audio contains, the more often it is misheard.
        """
        if not self.script.misheard or not words or words[-1].end <= samples / RATE - UNSETTLED:
            return words
        spoken = (samples / RATE - words[-1].start) / (words[-1].end - words[-1].start)
        right = (1 - self.script.misheard) * min(1.0, max(0.0, (spoken - GUESSED) / (KNOWN - GUESSED)))
        chance = random.Random(f"{self.script.seed} {samples} {' '.join(word.text for word in words)}")
        others = [text for text in self._vocabulary if text != words[-1].text]
        if not others or chance.random() < right:
            return words
        return [*words[:-1], replace(words[-1], text=chance.choice(others))]


class _NotingExtractor(FeatureExtractor):  # type: ignore[misc]
    """Whisper's feature extractor; it also passes its audio to `note`."""

    def __init__(self, note: Any, **options: Any) -> None:
        super().__init__(**options)
        self._note = note

    def __call__(self, waveform: NDArray[np.float32], *args: Any, **options: Any) -> Any:
        self._note(waveform)
        return super().__call__(waveform, *args, **options)
