"""How loud the caller speaks, and who speaks more softly."""

import numpy as np

from voice.turns.barge_in.turn_start import CallerLevel

RATE = 16000


def tone(level: float, seconds: float = 0.5) -> bytes:
    """A tone `level` dB below full scale."""
    wave = np.sqrt(2) * 10 ** (level / 20) * np.sin(np.arange(round(seconds * RATE)) / 8)
    return np.rint(wave * 32767).astype(np.int16).tobytes()


def caller(far: float = 15) -> CallerLevel:
    level = CallerLevel(far)
    for loudness in (-19, -20, -24):
        level.hear(tone(loudness), RATE)
        level.keep()
    return level


def test_a_voice_much_softer_than_the_caller_is_far_off() -> None:
    level = caller()
    level.hear(tone(-37), RATE)
    assert level.is_far
    level.clear()
    level.hear(tone(-33), RATE)
    assert not level.is_far


def test_nobody_is_far_off_before_the_caller_is_known_or_while_little_was_heard() -> None:
    unknown = CallerLevel(15)
    unknown.hear(tone(-50), RATE)
    assert not unknown.is_far
    level = caller()
    level.hear(tone(-50, 0.1), RATE)
    assert not level.is_far
    off = caller(far=0)
    off.hear(tone(-50), RATE)
    assert not off.is_far
