"""The start of speech: by made-up confidences, and by recorded sound on the real Silero."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from pipecat.audio.vad.vad_analyzer import VADParams, VADState

from voice.turns.barge_in import SpeechStart
from voice.turns.models import SharedSilero, TurnModels

RATE, WINDOW = 16000, 512


def started_with(confidences: Sequence[float], *, windows: int = 6, confidence: float = 0.7) -> int | None:
    """The number of the window with which speech started."""
    start = SpeechStart(windows, confidence)
    return next((number for number, one in enumerate(confidences, 1) if start.hear(one)), None)


@pytest.mark.parametrize(
    ("confidences", "number"),
    [
        ([1.0] * 9, 7),
        ([0.4] + [1.0] * 9, 7),
        ([0.8, 0.9, 0.5, 0.6, 0.9, 1.0, 1.0, 1.0], 8),
        ([0.75] * 50, None),
        ([1.0] * 6 + [0.0] * 20, None),
        ([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0] * 5, None),
    ],
    ids=["clear", "soft onset", "a dip", "never more than likely", "too short", "in bursts"],
)
def test_speech_starts_when_the_mean_is_sure_enough(confidences: list[float], number: int | None) -> None:
    assert started_with(confidences) == number


def test_speech_does_not_start_with_a_window_in_doubt() -> None:
    assert started_with([1.0] * 6 + [0.6, 0.69, 0.7]) == 9


@pytest.mark.parametrize("windows", [1, 2, 3, 6, 31])
@pytest.mark.parametrize("confidence", [0.05, 0.5, 0.99])
def test_certain_speech_starts_whatever_is_asked_of_it(windows: int, confidence: float) -> None:
    number = started_with([1.0] * 60, windows=windows, confidence=confidence)
    assert number is not None
    assert number <= round(windows * 4 / 3)
    assert started_with([confidence / 2] * 60, windows=windows, confidence=confidence) is None


def test_what_was_heard_before_counts_no_more_once_cleared() -> None:
    start = SpeechStart(6, 0.7)
    assert not any(start.hear(1.0) for _ in range(6))
    start.clear()
    assert not start.hear(1.0)


@pytest.fixture(scope="module")
def models() -> TurnModels:
    return TurnModels(smart_turn=False)


def detector(models: TurnModels) -> SharedSilero:
    vad = models.vad(VADParams(min_volume=0.4))
    vad.set_sample_rate(RATE)
    return vad


async def heard(vad: SharedSilero, sound: bytes) -> list[VADState]:
    return [await vad.analyze_audio(sound[at : at + 2 * WINDOW]) for at in range(0, len(sound), 2 * WINDOW)]


async def test_speech_starts_once_for_each_time_somebody_speaks(
    models: TurnModels, speak: Callable[[str], bytes]
) -> None:
    vad = detector(models)
    silence = bytes(2 * RATE)
    states = await heard(vad, (silence + speak("what time is it")) * 2 + silence)
    changes = [after for before, after in zip(states, states[1:], strict=False) if after is not before]
    assert [state for state in changes if state in (VADState.SPEAKING, VADState.QUIET)].count(VADState.QUIET) >= 2
    assert states[-1] is VADState.QUIET
    await vad.cleanup()


async def test_a_start_as_short_as_a_click_is_none(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    vad = detector(models)
    sound = np.frombuffer(speak("what time is it"), np.int16)
    loud = int(np.argmax(np.abs(sound) > 3000))
    short = sound[loud : loud + RATE // 10].tobytes()
    assert VADState.SPEAKING not in await heard(vad, bytes(2 * RATE) + short + bytes(2 * RATE))
    await vad.cleanup()


async def test_speech_softer_than_asked_for_does_not_start(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    sound = np.frombuffer(speak("what time is it"), np.int16)
    soft = bytes(2 * RATE) + (sound // 300).astype(np.int16).tobytes()
    deaf, keen = detector(models), detector(models)
    keen.set_params(VADParams(min_volume=0.0, confidence=0.3))
    deaf.set_params(VADParams(min_volume=0.9, confidence=0.3))
    assert VADState.SPEAKING in await heard(keen, soft)
    assert VADState.SPEAKING not in await heard(deaf, soft)


async def test_a_sound_is_in_doubt_before_speech_begins_to_start_and_not_for_long(
    models: TurnModels, speak: Callable[[str], bytes]
) -> None:
    vad = detector(models)
    # Too soft to count: it stays in doubt, though it is a voice, no longer than a start of speech takes to show.
    vad.set_params(VADParams(min_volume=0.9))
    soft = (np.frombuffer(speak("what time is it"), np.int16) // 30).astype(np.int16)
    sound = bytes(RATE) + soft.tobytes()
    doubt = []
    for at in range(0, len(sound), 2 * WINDOW):
        assert await vad.analyze_audio(sound[at : at + 2 * WINDOW]) is VADState.QUIET
        doubt.append(vad.in_doubt)
    first = doubt.index(True)
    assert first >= RATE / 2 // WINDOW
    assert doubt[first : first + 5] == [True] * 4 + [False]
    await vad.cleanup()
