"""One Whisper model in memory, shared by all calls, and the thread that runs it.

On small machines, set `OPENBLAS_NUM_THREADS=1` and `OMP_WAIT_POLICY=passive` before numpy is imported: otherwise idle
OpenBLAS workers spin for 70-100 ms on a second core after every feature extraction.

In each pass over the full window, glibc requests blocks of 54 MB and more from the system anew: 53,000 page faults, 100
of 450 ms on a virtual machine. `MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=2147483647` keeps these blocks
(those of tiny; larger models' blocks do not fit an arena). It is not the default because protobuf calls `malloc_trim`
on the event loop after every 10,000 messages, which then takes 6-14 ms instead of 2-3.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from voice.asr.whisper.decoding import AUTO, SAMPLE_RATE, Decoded, Decoding, Transcript, WhisperPasses, always
from voice.asr.whisper.weights import from_folder
from voice.errors import ComponentError, ConfigurationError
from voice.inference_queue import InferenceJob, InferenceQueue, IsWanted, Text, WithdrawnError
from voice.models.store import repair
from voice.queue_waits import QueueWaits

if TYPE_CHECKING:
    from faster_whisper import WhisperModel


SHARE = 0.2
"""Share of a processor core for passes over unfinished speech, for all calls of a model together."""

LONGEST_PASS = 0.2
"""The longest partial pass, in seconds; slower models run none. A pass cannot be stopped, so one that runs when the
user falls silent delays the final pass. A pass as long as the silence that ends an utterance would cost more than
partial texts are worth."""

PASSES_AT_FADES = 0.3
"""Seconds of passes that may run ahead of the pacing when their timing matters: the passes of two fades with tiny."""

ENCODING = 0.5
"""The share of the encoder in a pass, until a check has been timed: with tiny.en 0.4."""
FORGETTING = 0.03
"""The part of a check's estimated time that is forgotten with each check that is left out because of it."""

_WEIGHT = 0.3  # weight of the latest pass in the estimate


class PassPacing:
    """Decides when the next partial pass may begin.

    Args:
        cost: A first estimate of the seconds per pass.
    """

    def __init__(self, cost: float) -> None:
        self.cost = cost
        """Estimated seconds for the next pass."""
        self._free_at = float("-inf")

    def is_due(self, now: float, *, at_once: float = 0.0) -> bool:
        """Whether a partial pass may begin, at `now` seconds of any monotonic clock.

        Args:
            now: seconds.
            at_once: seconds of earlier passes that need not be offset by rest yet.
        """
        return self.cost <= LONGEST_PASS and now >= self._free_at - at_once / SHARE

    def took(self, began: float, ended: float) -> None:
        """Count a pass of any kind; on a busy machine passes take longer, so fewer are run."""
        self.cost += _WEIGHT * (ended - began - self.cost)
        self.rest(began, ended)

    def rest(self, began: float, ended: float) -> None:
        """Count the time of an abandoned pass, without using it to estimate a whole one."""
        self._free_at = max(self._free_at, began) + (ended - began) / SHARE


PASSES_AT_ONCE = {"cpu": 2, "cuda": 1}
"""Simultaneous passes of a model: the wanted one, and on a CPU also one that has been withdrawn."""


def load_model(
    path: Path,
    *,
    name: str,
    device: str,
    compute_type: str,
    threads: int,
    language: str | None = "en",
    model_class: Callable[..., "WhisperModel"] | None = None,
) -> "WhisperModel":
    """Load a model folder; use it inside `loading`, which explains failures. Arguments: see `SharedWhisper.load`.

    Raises:
        ConfigurationError: The folder is not a model, or it does not know the language.
    """
    from_folder(path)
    if model_class is None:
        from faster_whisper import WhisperModel

        model_class = WhisperModel
    workers = PASSES_AT_ONCE[device]
    model = model_class(str(path), device=device, compute_type=compute_type, cpu_threads=threads, num_workers=workers)
    if language is not None and language not in model.supported_languages:
        raise ConfigurationError(
            f'The Whisper model {name} does not understand language = "{language}"; '
            "use multilingual weights: those without .en in their name."
        )
    return model


@contextmanager
def loading(path: Path, *, device: str, compute_type: str) -> Iterator[None]:
    """Turn engine errors during a model's loading and first run into one sentence.

    Raises:
        ConfigurationError: The model cannot use the compute type.
        ComponentError: The engine cannot load or run the model.
    """
    try:
        yield
    except ValueError as error:
        raise ConfigurationError(f"Whisper cannot run on {device} with {compute_type}: {error}.") from error
    except RuntimeError as error:
        raise ComponentError(
            f'The Whisper model in {path} does not run on {device}: {error}; {repair(path)}, or set asr.device = "cpu".'
        ) from error


class Check(NamedTuple):
    """The result of a check: the text, None if it looks wrong, and the seconds that the pass ran."""

    text: Transcript | None
    seconds: float


class SharedWhisper:
    """One Whisper model and the threads of its passes.

    Passes run in order of arrival, and not on the default executor, where they would delay the detector. A pass whose
    future is cancelled is dropped, or stops at its next step (`InferenceQueue`). A partial pass is skipped if another
    pass runs or waits, and a check is withdrawn when another pass comes.
    """

    def __init__(self, model: "WhisperModel", *, name: str, language: str | None, decoding: Decoding) -> None:
        self.name = name
        """The model's name in reports; begins with "scripted:" for a test double."""
        self.language = language
        """The spoken language; None if a multilingual model detects it."""
        self._passes = WhisperPasses(model, name=name, language=language, decoding=decoding)
        self.waits = QueueWaits("recognition")
        """The waits of whole utterances for a pass."""
        self._queue = InferenceQueue("whisper", threads=model.model.num_workers)
        self._pace = PassPacing(0.0)
        second = np.zeros(SAMPLE_RATE, np.float32)
        self.submit(second).result()  # a process's first pass is the slowest
        began = time.perf_counter()
        self.submit(second).result()
        self.pass_seconds = time.perf_counter() - began
        """Wall time of a pass over a second of audio with almost no text."""
        self._pace = PassPacing(self.pass_seconds)
        encodes = self._passes.check_encodes
        self.check_seconds = None if encodes is None else self.pass_seconds * (1 + ENCODING * (encodes - 1))
        """Estimated wall time of a check; None if there is nothing to check."""

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        name: str | None = None,
        device: str = "cpu",
        compute_type: str = "int8",
        language: str | None = "en",
        decoding: Decoding = AUTO,
        model_class: Callable[..., "WhisperModel"] | None = None,
    ) -> Self:
        """Load a model folder and run it; blocks for about a second.

        Args:
            path: Folder in CTranslate2 format (see `voice.asr.whisper.weights`).
            name: Its name in reports; None for the name of the folder.
            device: "cpu" or "cuda".
            compute_type: CTranslate2's; int8 halves the memory, and the decoder's time on a CPU.
            language: The language spoken, such as "en"; None to have a multilingual model detect it.
            decoding: How each pass decodes.
            model_class: Used instead of `faster_whisper.WhisperModel`; None for that class.

        Raises:
            ConfigurationError: The model does not know the language or compute type.
            ComponentError: The folder is not a model, or the engine cannot load or run it.
        """
        name = name or from_folder(path).name
        with loading(path, device=device, compute_type=compute_type):
            model = load_model(
                path,
                name=name,
                device=device,
                compute_type=compute_type,
                threads=decoding.threads,
                language=language,
                model_class=model_class,
            )
            return cls(model, name=name, language=language, decoding=decoding)

    def may_listen(self, *, at_once: float = 0.0) -> bool:
        """Whether a partial pass may begin now: no pass runs or waits, and the pacing allows it.

        Args:
            at_once: see `PassPacing.is_due`.
        """
        return self._queue.is_idle and self._pace.is_due(time.monotonic(), at_once=at_once)

    def submit(self, audio: NDArray[np.float32], *, prefix: str = "") -> InferenceJob[str]:
        """Decode a whole utterance in a thread of the model; arguments and result as in `transcribe`."""
        return self._run(self.transcribe, audio, prefix, waits=self.waits)

    def submit_partial(self, audio: NDArray[np.float32], *, prefix: str = "") -> InferenceJob[Decoded]:
        """Decode the beginning of an utterance in a thread of the model; result as of `WhisperPasses.listen`."""
        return self._run(self.listen, audio, prefix)

    def submit_check(self, audio: NDArray[np.float32]) -> InferenceJob[Check]:
        """Check the words of a whole utterance in a thread of the model, unless any other pass of any call comes."""

        def timed(is_wanted: IsWanted) -> Check:
            began = time.monotonic()
            try:
                text = self.check(audio, is_wanted=is_wanted)
            except WithdrawnError:
                self._check_took(time.monotonic() - began, at_least=True)
                raise
            seconds = time.monotonic() - began
            self._check_took(seconds)
            return Check(text, seconds)

        return self._queue.submit(timed, spare=True)

    def skip_check(self) -> None:
        """Note that a check was left out because of its estimated time; it shrinks, so that one is tried again."""
        if self.check_seconds is not None:
            self.check_seconds *= 1 - FORGETTING

    def _check_took(self, seconds: float, *, at_least: bool = False) -> None:
        """Learn from the time of a check, or from one that was withdrawn after so many seconds."""
        if self.check_seconds is not None and (seconds > self.check_seconds or not at_least):
            self.check_seconds += _WEIGHT * (seconds - self.check_seconds)

    def check(self, audio: NDArray[np.float32], *, is_wanted: IsWanted = always) -> Transcript | None:
        """Check the words of a whole utterance; blocks. See `WhisperPasses.check`."""
        return self._passes.check(audio, is_wanted=is_wanted)

    def transcribe(self, audio: NDArray[np.float32], *, prefix: str = "", is_wanted: IsWanted = always) -> str:
        """Decode a whole utterance; blocks. See `WhisperPasses.transcribe`."""
        return self._passes.transcribe(audio, prefix=prefix, is_wanted=is_wanted)

    def listen(self, audio: NDArray[np.float32], *, prefix: str = "", is_wanted: IsWanted = always) -> Decoded:
        """Decode the beginning of an utterance; blocks. See `WhisperPasses.listen`."""
        return self._passes.listen(audio, prefix=prefix, is_wanted=is_wanted)

    def close(self) -> None:
        """Withdraw every pass and let the threads end."""
        self._queue.close()

    def _run(
        self, decode: Callable[..., Text], audio: NDArray[np.float32], prefix: str, *, waits: QueueWaits | None = None
    ) -> InferenceJob[Text]:
        submitted = time.monotonic()

        def timed(is_wanted: IsWanted) -> Text:
            began = time.monotonic()
            if waits is not None:
                waits.note(began - submitted, began)
            try:
                text = decode(audio, prefix=prefix, is_wanted=is_wanted)
            except WithdrawnError:
                self._pace.rest(began, time.monotonic())
                raise
            self._pace.took(began, time.monotonic())
            return text

        return self._queue.submit(timed)
