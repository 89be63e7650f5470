"""A voice's graph is cut where its audio can be made piece by piece, equal to what is made at once; nowhere else."""

import statistics
import time
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.voice.tts.piper import vits_graph as vits
from voice.tts.piper.graph_cut import CutGraph, cut_graph
from voice.tts.piper.streaming import Feeds, StreamingGraph, WholeGraph, make_session
from voice.tts.piper.voice import Voice, embedded_voice

RANDOM_OPERATIONS = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
SENTENCE = "I have moved your appointment to Monday morning and sent a short reminder to everyone."


def cut(shape: vits.Shape) -> CutGraph:
    found = cut_graph(vits.vits_model(shape))
    assert found is not None
    return found


def feeds_of(shape: vits.Shape, phonemes: int, *, noise: float) -> Feeds:
    ids = np.random.default_rng(1).integers(1, 120, (1, phonemes))
    feeds = {
        "input": ids,
        "input_lengths": np.array([phonemes]),
        "scales": np.array([noise, 1.0, 0.8], np.float32),
    }
    return feeds | ({"sid": np.array([1])} if shape.speakers > 1 else {})


@pytest.mark.parametrize("size", ["SMALL", "SMALL_HIGH", "SMALL_OF_MANY"])
@pytest.mark.parametrize("first", [1, 2500, 10_000_000])
def test_audio_made_in_pieces_is_that_made_at_once(size: str, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("voice.tts.piper.streaming.FIRST_PIECE", 0.0)
    shape = getattr(vits, size)
    # Without noise the same latent comes from both.
    feeds = feeds_of(shape, 70, noise=0.0)
    (whole,) = WholeGraph(vits.vits_model(shape)).begin(feeds).chunks(speech_at=0)
    sentence = StreamingGraph(cut(shape), sample_rate=shape.rate).begin(feeds)
    chunks = list(sentence.chunks(speech_at=first))
    assert (len(chunks) > 2) == (first < 10_000_000)
    assert np.abs(whole).max() > 0.1
    np.testing.assert_allclose(np.concatenate(chunks), whole, atol=1e-5)


@pytest.mark.parametrize("start", [0, 1, 20, 40])
def test_a_piece_of_one_draw_of_noise_is_that_of_the_whole(start: int) -> None:
    graph = StreamingGraph(cut(vits.SMALL), sample_rate=vits.SMALL.rate)
    sentence = graph.begin(feeds_of(vits.SMALL, 70, noise=1.0))
    whole = graph.decode(sentence.latent, 0, sentence.latent.shape[2], {})
    piece = graph.decode(sentence.latent, start, start + 30, {})
    np.testing.assert_allclose(piece, whole[start * 256 : (start + 30) * 256], atol=1e-5)


def test_with_less_context_the_audio_would_differ() -> None:
    graph = cut(vits.SMALL_HIGH)
    latent = np.random.default_rng(2).normal(size=(1, vits.SMALL_HIGH.hidden, 60)).astype(np.float32)
    decoder = make_session(graph.decoder)
    (whole,) = decoder.run(None, {graph.latent: latent})
    here = slice(30 * graph.hop, 31 * graph.hop)

    def error(context: int) -> float:
        (part,) = decoder.run(None, {graph.latent: latent[:, :, 30 - context : 31 + context]})
        mine = part.reshape(-1)[context * graph.hop : (context + 1) * graph.hop]
        return float(np.abs(mine - whole.reshape(-1)[here]).max())

    assert error(graph.context) < 1e-5
    assert error(graph.context // 2) > 1e-4


@pytest.mark.parametrize(("size", "context"), [("SMALL", 11), ("SMALL_HIGH", 14)])
def test_the_context_is_what_the_generator_reaches(size: str, context: int) -> None:
    graph = cut(getattr(vits, size))
    assert (graph.context, graph.hop) == (context, 256)


def test_chance_is_drawn_in_front_of_the_cut() -> None:
    graph = cut(vits.SMALL)
    kinds = [
        {node.op_type for node in onnx.load_from_string(part).graph.node} for part in (graph.encoder, graph.decoder)
    ]
    assert kinds[0] & RANDOM_OPERATIONS
    assert not kinds[1] & RANDOM_OPERATIONS


def test_a_graph_without_the_generators_input_stays_whole() -> None:
    assert cut_graph(onnx.load(embedded_voice())) is None


@pytest.mark.parametrize("kind", ["Softmax", "CumSum"])
def test_a_generator_that_looks_at_everything_stays_whole(kind: str) -> None:
    model = vits.vits_model(vits.SMALL)
    last = next(node for node in model.graph.node if node.op_type == "Identity")
    last.op_type = kind
    if kind == "CumSum":
        last.input.append("one")
    assert cut_graph(model) is None


def test_a_generator_that_needs_the_phonemes_stays_whole() -> None:
    model = vits.vits_model(vits.SMALL)
    last = next(node for node in model.graph.node if node.op_type == "Identity")
    last.op_type = "Mul"
    last.input.append("scales")
    assert cut_graph(model) is None


def test_a_voice_that_does_not_tell_durations_spreads_them() -> None:
    shape = vits.Shape(tells_durations=False)
    lengths = StreamingGraph(cut(shape), sample_rate=shape.rate).begin(feeds_of(shape, 10, noise=0.0)).lengths
    assert lengths.tolist() == [shape.frames * 256] * 10


def test_streaming_can_be_switched_off(tmp_path: Path) -> None:
    path = vits.write_voice(tmp_path, vits.SMALL)
    flowing, whole = Voice(path), Voice(path, streaming=False)
    assert (flowing.streams, whole.streams) == (True, False)
    assert len(list(whole.pieces(SENTENCE))) == 2
    assert len(list(flowing.pieces(SENTENCE))) > 4
    assert len(flowing.synthesize(SENTENCE)) == pytest.approx(len(whole.synthesize(SENTENCE)), rel=0.05)


@pytest.mark.slow
def test_first_audio_inside_a_sentence_and_whole(tmp_path: Path) -> None:
    # Processor time of this one thread is what a machine with nothing else to do needs, or a little more.
    path = vits.write_voice(tmp_path, vits.MEDIUM)
    print()
    first = {}
    for streaming in (True, False):
        began = time.perf_counter()
        voice = Voice(path, streaming=streaming)
        loading = time.perf_counter() - began
        voice.synthesize("Ready.")
        runs = [first_and_all(voice) for _ in range(7)]
        first[streaming], total = (statistics.median(column) for column in zip(*runs, strict=True))
        print(
            f"{'streaming' if streaming else 'whole':>9}: first audio {first[streaming] * 1000:.0f} ms, all "
            f"{total * 1000:.0f} ms of one processor, loaded in {loading:.2f} s"
        )
    assert first[True] < first[False]


def first_and_all(voice: Voice) -> tuple[float, float]:
    """Seconds of this thread to the first audio of the sentence, and to its end."""
    began = time.thread_time()
    firsts = [time.thread_time() - began for pieces in voice.pieces(SENTENCE) if pieces]
    return firsts[0], time.thread_time() - began
