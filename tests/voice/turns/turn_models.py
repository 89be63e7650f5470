"""The real models of turn taking for tests, and recorded sound in the pieces in which it arrives."""

from functools import cache

from pipecat.audio.vad.vad_analyzer import VADParams

from voice.turns.turn_models import TurnModels
from voice.turns.vad import SharedSilero

RATE = 16000
CHUNK_BYTES = 2 * RATE // 50
SILENCE = bytes(CHUNK_BYTES)
"""20 ms."""


@cache
def turn_models() -> TurnModels:
    """Silero and Smart Turn, loaded once for all tests."""
    return TurnModels(smart_turn=True)


def detector() -> SharedSilero:
    """A call's voice activity detector at 16 kHz."""
    vad = turn_models().vad(VADParams(min_volume=0.4))
    vad.set_sample_rate(RATE)
    return vad


def chunks(sound: bytes) -> list[bytes]:
    """A sound in pieces of 20 ms."""
    return [sound[start : start + CHUNK_BYTES] for start in range(0, len(sound), CHUNK_BYTES)]
