"""A ducked voice."""

import numpy as np

from voice.ducking import FADE, Ducking

RATE = 16000
CHUNK = np.full(320, 10000, np.int16).tobytes()


def levels(ducking: Ducking, chunks: int) -> "np.ndarray[tuple[int], np.dtype[np.int16]]":
    return np.frombuffer(b"".join(ducking.apply(CHUNK) for _ in range(chunks)), np.int16)


def test_it_becomes_softer_and_louder_without_a_step() -> None:
    ducking = Ducking(sample_rate=RATE)
    assert ducking.apply(CHUNK) is CHUNK
    ducking.target = 0.178
    down = levels(ducking, 3)
    assert down[-1] == 1780
    assert down[round(FADE * RATE)] == 1780
    ducking.target = 1.0
    up = levels(ducking, 3)
    assert up[-1] == 10000
    heard = np.concatenate([[10000], down, up]).astype(int)
    assert np.abs(np.diff(heard)).max() < 50
    assert ducking.apply(CHUNK) is CHUNK


def test_a_new_utterance_is_as_loud_as_usual_at_once() -> None:
    ducking = Ducking(sample_rate=RATE)
    ducking.target = 0.1
    levels(ducking, 3)
    ducking.reset()
    assert ducking.apply(CHUNK) is CHUNK


def test_silence_and_no_ducking_at_all_are_gains_like_others() -> None:
    ducking = Ducking(sample_rate=RATE)
    assert ducking.apply(CHUNK) is CHUNK
    ducking.target = 0.0
    assert levels(ducking, 3)[-1] == 0
    assert ducking.apply(b"") == b""
