"""Runs a Piper graph from phoneme ids to audio, piece by piece if the graph can be cut, else by sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime

from voice.tts.piper.graph_cut import CutGraph, cut_graph, durations_of
from voice.tts.piper.pieces import Audio

FIRST_PIECE = 0.25
"""Seconds of audio after the start of speech in a first piece: enough to play while the next one is synthesised."""
LATER_PIECE = 0.5
"""Seconds of audio in each later piece; an interruption waits for at most one piece."""

Feeds = Mapping[str, npt.NDArray[Any]]


class Sentence(Protocol):
    """A sentence during synthesis."""

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The duration of each phoneme id in samples; all equal if the graph does not report it."""

    def chunks(self, *, speech_at: int) -> Iterator[Audio]:
        """The audio in order, mono in [-1, 1]; each step computes one piece.

        Args:
            speech_at: the sample at which speech begins.
        """


class Graph(Protocol):
    """A voice's loaded graph."""

    streams: bool
    """Whether audio comes in pieces."""

    def begin(self, feeds: Feeds) -> Sentence:
        """Do the work before the first audio; `feeds` are the inputs of Piper's graphs."""


def load_graph(path: Path, *, sample_rate: int, streaming: bool) -> Graph:
    """Load a voice's .onnx file.

    Args:
        streaming: False keeps the graph whole even if it can be cut.
    """
    model = onnx.load(path)
    cut = cut_graph(model) if streaming else None
    return StreamingGraph(cut, sample_rate=sample_rate) if cut else WholeGraph(model)


def make_session(model: bytes) -> Any:
    """An inference session on one thread that does not spin.

    It reads the graph from a file, because a session made from bytes keeps them, a copy of the whole voice. Without an
    arena, the memory for a long sentence is freed after it. Together this saves 96 of 256 MB for a voice of 61 MB, at
    the same speed.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    with TemporaryDirectory() as folder:
        file = Path(folder, "graph.onnx")
        file.write_bytes(model)
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


@dataclass(frozen=True, slots=True)
class _Made:
    """A sentence whose audio is complete."""

    audio: Audio
    lengths: npt.NDArray[np.int64]

    def chunks(self, *, speech_at: int) -> Iterator[Audio]:
        yield self.audio


class WholeGraph:
    """A graph that runs once per sentence."""

    streams = False

    def __init__(self, model: onnx.ModelProto) -> None:
        output, durations = model.graph.output[0].name, durations_of(model)
        if durations and durations not in {known.name for known in model.graph.output}:
            model.graph.output.add(name=durations)
        self._wanted = [output, *([durations] if durations else [])]
        self._session = make_session(model.SerializeToString())

    def begin(self, feeds: Feeds) -> Sentence:
        """Synthesise the whole sentence."""
        audio, *frames = self._session.run(self._wanted, dict(feeds))
        audio = audio.reshape(-1)
        return _Made(audio, _lengths(feeds, frames, len(audio)))


class StreamingGraph:
    """A graph in two parts: the first runs once per sentence, the second once per piece."""

    streams = True

    def __init__(self, cut: CutGraph, *, sample_rate: int) -> None:
        self._encoder = make_session(cut.encoder)
        self._decoder = make_session(cut.decoder)
        # The sessions hold both halves, which together are as large as the voice's file.
        self._cut = replace(cut, encoder=b"", decoder=b"")
        self._taken = {tensor.name for tensor in self._encoder.get_inputs()}
        self._first = round(FIRST_PIECE * sample_rate)
        self._step = max(1, round(LATER_PIECE * sample_rate / cut.hop))

    def begin(self, feeds: Feeds) -> "_Latent":
        """Compute everything except the audio."""
        wanted = [self._cut.latent, *([self._cut.durations] if self._cut.durations else [])]
        latent, *frames = self._encoder.run(wanted, {name: feeds[name] for name in feeds if name in self._taken})
        lengths = _lengths(feeds, frames, latent.shape[2] * self._cut.hop)
        beside = {name: feeds[name] for name in self._cut.decoder_inputs}
        return _Latent(self, latent, lengths, beside)

    def decode(self, latent: npt.NDArray[np.float32], start: int, end: int, beside: Feeds) -> Audio:
        """Audio of the frames from `start` up to `end`, equal to the output of the whole graph."""
        before = max(0, start - self._cut.context)
        part = latent[:, :, before : end + self._cut.context]
        (audio,) = self._decoder.run(None, {self._cut.latent: part, **beside})
        made: Audio = audio.reshape(-1)[(start - before) * self._cut.hop : (end - before) * self._cut.hop]
        return made

    def bounds(self, frames: int, *, speech_at: int) -> Iterator[tuple[int, int]]:
        """The bounds of the pieces of a sentence of `frames` frames, in frames; `speech_at` is in samples."""
        start, end = 0, min(frames, max(1, -(-(speech_at + self._first) // self._cut.hop)))
        while start < frames:
            yield start, end
            start, end = end, min(frames, end + self._step)


@dataclass(frozen=True, slots=True)
class _Latent:
    """A sentence with everything computed except the audio."""

    graph: StreamingGraph
    latent: npt.NDArray[np.float32]
    lengths: npt.NDArray[np.int64]
    beside: Feeds

    def chunks(self, *, speech_at: int) -> Iterator[Audio]:
        for start, end in self.graph.bounds(self.latent.shape[2], speech_at=speech_at):
            yield self.graph.decode(self.latent, start, end, self.beside)


def _lengths(feeds: Feeds, frames: Sequence[npt.NDArray[np.float32]], samples: int) -> npt.NDArray[np.int64]:
    """Divide a sentence's samples among its phoneme ids by their frames, or equally if those are unknown."""
    known = frames[0].reshape(-1) if frames and frames[0].sum() > 0 else np.ones(feeds["input"].shape[1])
    lengths: npt.NDArray[np.int64] = np.round(known * (samples / known.sum())).astype(np.int64)
    return lengths
