"""The start of speech, by made-up confidences and by recorded sound on the real Silero; what starts a user's turn."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from pipecat.audio.vad.vad_analyzer import VADParams, VADState
from pipecat.frames.frames import Frame, InterimTranscriptionFrame, VADUserStartedSpeakingFrame
from pipecat.turns.types import ProcessFrameResult
from pipecat.turns.user_start import UserTurnStartedParams, VADUserTurnStartStrategy

from tests.voice.turns.turn_models import RATE, detector
from voice.turns.vad import SharedSilero, VadOnset

Speak = Callable[[str], bytes]

WINDOW = 512


def started_with(confidences: Sequence[float], *, windows: int = 6, confidence: float = 0.7) -> int | None:
    """The number of the window with which speech started."""
    start = VadOnset(windows, confidence)
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
def test_certain_speech_starts_with_every_setting(windows: int, confidence: float) -> None:
    number = started_with([1.0] * 60, windows=windows, confidence=confidence)
    assert number is not None
    assert number <= round(windows * 4 / 3)
    assert started_with([confidence / 2] * 60, windows=windows, confidence=confidence) is None


def test_windows_heard_before_a_clear_do_not_count() -> None:
    start = VadOnset(6, 0.7)
    assert not any(start.hear(1.0) for _ in range(6))
    start.clear()
    assert not start.hear(1.0)


async def heard(vad: SharedSilero, sound: bytes) -> list[VADState]:
    return [await vad.analyze_audio(sound[at : at + 2 * WINDOW]) for at in range(0, len(sound), 2 * WINDOW)]


async def test_speech_starts_once_for_each_time_somebody_speaks(speak: Speak) -> None:
    vad = detector()
    silence = bytes(2 * RATE)
    states = await heard(vad, (silence + speak("what time is it")) * 2 + silence)
    changes = [after for before, after in zip(states, states[1:], strict=False) if after is not before]
    assert [state for state in changes if state in (VADState.SPEAKING, VADState.QUIET)].count(VADState.QUIET) >= 2
    assert states[-1] is VADState.QUIET
    await vad.cleanup()


async def test_a_sound_as_short_as_a_click_starts_no_speech(speak: Speak) -> None:
    vad = detector()
    sound = np.frombuffer(speak("what time is it"), np.int16)
    loud = int(np.argmax(np.abs(sound) > 3000))
    short = sound[loud : loud + RATE // 10].tobytes()
    assert VADState.SPEAKING not in await heard(vad, bytes(2 * RATE) + short + bytes(2 * RATE))
    await vad.cleanup()


async def test_speech_softer_than_the_least_volume_does_not_start(speak: Speak) -> None:
    sound = np.frombuffer(speak("what time is it"), np.int16)
    soft = bytes(2 * RATE) + (sound // 300).astype(np.int16).tobytes()
    deaf, keen = detector(), detector()
    keen.set_params(VADParams(min_volume=0.0, confidence=0.3))
    deaf.set_params(VADParams(min_volume=0.9, confidence=0.3))
    assert VADState.SPEAKING in await heard(keen, soft)
    assert VADState.SPEAKING not in await heard(deaf, soft)


async def test_the_detectors_report_alone_starts_a_turn_and_interrupts() -> None:
    strategy = VADUserTurnStartStrategy(enable_interruptions=True)
    started: list[UserTurnStartedParams] = []

    @strategy.event_handler("on_user_turn_started")  # type: ignore[untyped-decorator]
    async def note(_: object, params: UserTurnStartedParams) -> None:
        started.append(params)

    words: Frame = InterimTranscriptionFrame("stop", "user", "")
    assert await strategy.process_frame(words) is ProcessFrameResult.CONTINUE
    assert not started
    assert await strategy.process_frame(VADUserStartedSpeakingFrame(start_secs=0.2)) is ProcessFrameResult.STOP
    assert [params.enable_interruptions for params in started] == [True]
