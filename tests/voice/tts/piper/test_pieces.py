"""Silence in front is cut off while audio still comes, and every word leaves with the sample that ends it."""

import numpy as np
import pytest

from voice.tts.piper.pieces import Piece, PieceCutter, onset, samples_of

RATE = 1000


def tone(samples: int) -> np.ndarray:
    return np.full(samples, 0.5, np.float32)


def silence(samples: int) -> np.ndarray:
    return np.zeros(samples, np.float32)


def run(cutter: PieceCutter, audio: np.ndarray, size: int) -> list[Piece]:
    pieces = [piece for start in range(0, len(audio), size) for piece in cutter.feed(audio[start : start + size])]
    return [*pieces, *cutter.end()]


@pytest.mark.parametrize("size", [1, 7, 50, 10_000])
def test_the_silent_start_is_left_out_however_the_audio_comes(size: int) -> None:
    cutter = PieceCutter(RATE, lead=0.02)
    made = samples_of(run(cutter, np.concatenate([silence(203), tone(400), silence(60)]), size))
    # The block in which the tone begins counts as audible.
    assert len(made) == 20 + 3 + 400 + 60
    assert not made[:23].any()
    assert made[23:423].all()


def test_nothing_leaves_while_all_is_silent() -> None:
    cutter = PieceCutter(RATE, lead=0.02)
    assert cutter.feed(silence(500)) == []
    assert samples_of(cutter.feed(tone(100))).size == 120


def test_silence_alone_is_kept() -> None:
    assert onset(silence(300), RATE) is None
    assert len(samples_of(run(PieceCutter(RATE, lead=0.02), silence(300), 50))) == 300


@pytest.mark.parametrize("size", [1, 64, 10_000])
def test_words_leave_with_their_last_sample(size: int) -> None:
    cutter = PieceCutter(RATE, lead=0.0)
    cutter.expect(["a", "b", "c", "late"], [150, 150, 260, 999])
    words = {}
    position = 50
    for piece in run(cutter, np.concatenate([silence(50), tone(350)]), size):
        position += len(piece.samples)
        words |= dict.fromkeys(piece.words, position)
    assert words == {"a": 150, "b": 150, "c": 260, "late": 400}


def test_words_of_a_second_sentence_count_from_its_start() -> None:
    cutter = PieceCutter(RATE, lead=0.0)
    cutter.expect(["one"], [100])
    first = cutter.feed(tone(200))
    cutter.expect(["two"], [50])
    second = cutter.feed(tone(200))
    assert [(len(p.samples), p.words) for p in first + second] == [
        (100, ("one",)),
        (100, ()),
        (50, ("two",)),
        (100, ()),
        (50, ()),
    ]


def test_no_piece_is_longer_than_a_tenth_of_a_second() -> None:
    assert [len(piece.samples) for piece in run(PieceCutter(RATE, lead=0.0), tone(250), 250)] == [100, 100, 50]
