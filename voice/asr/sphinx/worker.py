"""The worker process: a PocketSphinx decoder between two pipes (`python -m voice.asr.sphinx.worker`).

It is a separate process because the decoder holds Python's lock while it computes, and because a decoder serves a
single speaker. Without event loop, pipeline or numpy, it reads commands (`messages`) from standard input, replies on
standard output, and exits when its input ends.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from io import FileIO
from pathlib import Path

import pocketsphinx

from voice.asr.sphinx.cepstral_mean import CepstralMean
from voice.asr.sphinx.messages import (
    BYTES_PER_SECOND,
    SAMPLE_RATE,
    AbandonUtterance,
    Audio,
    Command,
    Failed,
    Final,
    FinishUtterance,
    Partial,
    Peeked,
    PeekUtterance,
    Ready,
    Reply,
    StartUtterance,
    encode,
    read_command,
)
from voice.asr.sphinx.overlap import OverlapSearch

PARTIAL_EVERY = 0.1
"""Seconds of audio between two partial texts."""

FOLLOW_EVERY = 0.2
FOLLOW_FROM = 0.6
"""Seconds of an utterance before each correction of the cepstral mean.

Corrections are made only in the first five seconds of a call's speech, where each helps the rest of the utterance.
"""

# A single pass: the second pass (fwdflat) runs only after the end of speech and takes 80-260 ms for 2-10 s of speech,
# against about 20 ms for the best path through the first pass's word lattice.
_SEARCH = {"fwdflat": False, "bestpath": True, "maxhmmpf": 5000}


def load_decoder(language_model: Path | None = None) -> pocketsphinx.Decoder:
    """A decoder for US English at 16 kHz with PocketSphinx's own models.

    Args:
        language_model: A trigram model for the same dictionary, instead of the general one.

    Raises:
        RuntimeError: PocketSphinx cannot load a model.
    """
    models = Path(pocketsphinx.get_model_path()) / "en-us"
    return pocketsphinx.Decoder(
        hmm=str(models / "en-us"),
        dict=str(models / "cmudict-en-us.dict"),
        lm=str(language_model or models / "en-us.lm.bin"),
        samprate=SAMPLE_RATE,
        loglevel="FATAL",
        **_SEARCH,
    )


class Recognition:
    """Carries out the commands of one call on a decoder, one utterance at a time.

    Args:
        decoder: recognises the words.
        overlap: classifies sounds over an answer; None for no classification.
    """

    def __init__(self, decoder: pocketsphinx.Decoder, overlap: OverlapSearch | None = None) -> None:
        self._decoder, self._overlap = decoder, overlap
        self._mean = CepstralMean()
        self._given = ""  # the last mean set, after this many frames of the utterance
        self._given_after = 0
        self._utterance: int | None = None
        self._text = ""
        self._bytes = 0
        self._spent = 0.0

    @property
    def utterance(self) -> int | None:
        """The utterance under way."""
        return self._utterance

    def carry_out(self, command: Command) -> Reply | None:
        """Carry out a command; commands about any other utterance than the one under way are ignored."""
        match command:
            case StartUtterance(utterance, over_answer):
                self._stop()
                self._utterance, self._text, self._bytes, self._spent = utterance, "", 0, 0.0
                self._set_mean(0)
                self._decoder.start_utt()
                if over_answer and self._overlap is not None:
                    self._overlap.start(self._decoder.get_cmn(False))
            case Audio(pcm) if self._utterance is not None:
                return self._hear(pcm, self._utterance)
            case FinishUtterance(utterance) if utterance == self._utterance:
                return self._finish(utterance)
            case PeekUtterance(utterance) if utterance == self._utterance:
                return Peeked(utterance, self._hypothesis(), self._overlap.evidence() if self._overlap else None)
            case AbandonUtterance(utterance) if utterance == self._utterance:
                self._stop()
            case _:
                pass
        return None

    def _hear(self, pcm: bytes, utterance: int) -> Partial | None:
        start = time.perf_counter()
        self._decoder.process_raw(pcm)
        if self._overlap is not None:
            self._overlap.hear(pcm)
        text, evidence = self._text, None
        if self._passes(PARTIAL_EVERY, pcm):
            text = self._hypothesis()
            evidence = self._overlap.evidence() if self._overlap else None
        if self._passes(FOLLOW_EVERY, pcm) and self._bytes >= FOLLOW_FROM * BYTES_PER_SECOND:
            self._follow_mean()
        self._bytes += len(pcm)
        self._spent += time.perf_counter() - start
        if text == self._text and evidence is None:
            return None
        self._text = text
        return Partial(utterance, text, evidence)

    def _passes(self, seconds: float, pcm: bytes) -> bool:
        """Whether `pcm` completes another stretch of `seconds` of the utterance."""
        stretch = int(seconds * BYTES_PER_SECOND)
        return (self._bytes + len(pcm)) // stretch > self._bytes // stretch

    def _finish(self, utterance: int) -> Final:
        start = time.perf_counter()
        evidence = self._overlap.finish() if self._overlap else None
        self._stop()
        text = self._hypothesis()
        took = time.perf_counter() - start
        return Final(utterance, text, self._spent + took, took, evidence)

    def _stop(self) -> None:
        # This is cheap without the second pass; the lattice is searched only when the text is read.
        if self._utterance is not None:
            self._utterance = None
            self._decoder.end_utt()
            self._follow_mean()
            if self._overlap is not None:
                self._overlap.stop()

    def _follow_mean(self) -> None:
        """Take over the mean learnt by the decoder, and set a better one for the rest of the utterance."""
        if not self._mean.is_settled:
            frames = self._decoder.n_frames()
            self._mean.take_in(given=self._given, learnt=self._decoder.get_cmn(True), frames=frames - self._given_after)
            self._set_mean(frames)

    def _set_mean(self, frames: int) -> None:
        if not self._mean.is_settled:
            self._given, self._given_after = self._mean.estimate(), frames
            self._decoder.set_cmn(self._given)

    def _hypothesis(self) -> str:
        hypothesis = self._decoder.hyp()
        return hypothesis.hypstr if hypothesis else ""


def serve(recognition: Recognition, commands: int, replies: FileIO) -> None:
    """Carry out and answer the commands from a file descriptor until they end.

    Raises:
        msgspec.DecodeError: Something other than commands arrives.
        BrokenPipeError: The service is gone.
    """
    for batch in _batches(commands):
        abandoned = {command.utterance for command in batch if isinstance(command, AbandonUtterance)}
        for command in batch:
            if isinstance(command, Audio) and recognition.utterance in abandoned:
                continue
            reply = recognition.carry_out(command)
            if reply is not None:
                replies.write(encode(reply))


def _batches(descriptor: int) -> Iterator[list[Command]]:
    """The commands, in batches of all that have arrived."""
    rest = b""
    while data := os.read(descriptor, 1 << 16):
        while select.select([descriptor], [], [], 0)[0] and (more := os.read(descriptor, 1 << 16)):
            data += more
        *lines, rest = (rest + data).split(b"\n")
        yield [read_command(line) for line in lines]


def main(arguments: Sequence[str]) -> int:
    """Load the decoder, report that, and serve until standard input ends; returns 1 after a failure.

    Args:
        arguments: the name of the language model in reports, and its file, unless it is the general one.
    """
    # Ctrl-C ends the service, which ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Only replies may reach the pipe: output of libraries goes to the logs.
    replies = FileIO(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    name, *paths = arguments
    try:
        decoder = load_decoder(*map(Path, paths))
        recognition = Recognition(decoder, OverlapSearch(decoder))
        replies.write(encode(Ready(f"pocketsphinx {version('pocketsphinx')} {name}")))
        serve(recognition, sys.stdin.fileno(), replies)
    except BrokenPipeError:  # the service is gone
        return 0
    except Exception as error:  # the service must learn why its worker exits, for any error
        with contextlib.suppress(BrokenPipeError):
            replies.write(encode(Failed(f"{type(error).__name__}: {error}")))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
