"""When a turn ends and what decided it, on the real Silero and Smart Turn with synthetic sound."""

import asyncio
from collections.abc import Callable

import pytest
from pipecat.audio.turn.base_turn_analyzer import EndOfTurnState
from pipecat.audio.vad.vad_analyzer import VADParams, VADState

from voice.turns.models import BoundedSmartTurn, SharedSilero, TurnModels

RATE = 16000
CHUNK = RATE // 50
SILENCE = bytes(2 * CHUNK)


@pytest.fixture(scope="module")
def models() -> TurnModels:
    return TurnModels(smart_turn=True)


def detector(models: TurnModels, fallback: float = 0.6) -> tuple[SharedSilero, BoundedSmartTurn]:
    vad = models.vad(VADParams(min_volume=0.4))
    vad.set_sample_rate(RATE)
    turn = models.end_of_turn(vad, fallback=fallback)
    turn.set_sample_rate(RATE)
    return vad, turn


def silences_until_end(turn: BoundedSmartTurn, most: int = 200) -> int | None:
    for count in range(1, most + 1):
        if turn.append_audio(SILENCE, False) is EndOfTurnState.COMPLETE:
            return count
    return None


async def test_speech_is_found_and_its_end_too(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    vad, _ = detector(models)
    sound = speak("what time is it") + SILENCE * 50
    chunks = [sound[start : start + 2 * CHUNK] for start in range(0, len(sound), 2 * CHUNK)]
    states = [await vad.analyze_audio(chunk) for chunk in chunks]
    assert VADState.SPEAKING in states
    assert states[-1] is VADState.QUIET
    await vad.cleanup()


async def test_two_calls_do_not_share_what_they_have_heard(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    (one, _), (other, _) = detector(models), detector(models)
    await one.analyze_audio(speak("what time is it")[: RATE * 2])
    assert await other.analyze_audio(SILENCE * 10) is VADState.QUIET
    await asyncio.gather(one.cleanup(), other.cleanup())


def test_the_fallback_silence_ends_a_turn_and_says_so(models: TurnModels) -> None:
    _, turn = detector(models, fallback=0.6)
    turn.append_audio(SILENCE, True)
    assert silences_until_end(turn) == 30
    assert turn.ended_by == "fallback"


def test_silence_before_any_speech_ends_nothing(models: TurnModels) -> None:
    assert silences_until_end(detector(models)[1]) is None


def test_what_may_be_a_new_word_is_not_silence(models: TurnModels) -> None:
    vad, turn = detector(models, fallback=0.6)
    turn.append_audio(SILENCE, True)
    for _ in range(29):
        turn.append_audio(SILENCE, False)
    vad._vad_state = VADState.STARTING
    assert silences_until_end(turn, most=10) is None
    vad._vad_state = VADState.QUIET
    assert silences_until_end(turn) == 1


async def test_smart_turn_is_asked_and_its_opinion_kept(models: TurnModels, speak: Callable[[str], bytes]) -> None:
    _, turn = detector(models)
    speech = speak("what time is it")
    for start in range(0, len(speech) - 2 * CHUNK, 2 * CHUNK):
        turn.append_audio(speech[start : start + 2 * CHUNK], True)
    state, _ = await turn.analyze_end_of_turn()
    assert turn.probability is not None
    assert 0 <= turn.probability <= 1
    assert turn.inference is not None
    assert (state is EndOfTurnState.COMPLETE) == (turn.probability > 0.5)
    assert turn.ended_by == ("smart_turn" if turn.probability > 0.5 else "timeout")
    turn.clear()
    assert turn.probability is None
    await turn.cleanup()


async def test_without_smart_turn_only_silence_decides() -> None:
    _, turn = detector(TurnModels(smart_turn=False))
    turn.append_audio(SILENCE, True)
    assert await turn.analyze_end_of_turn() == (EndOfTurnState.INCOMPLETE, None)
    assert silences_until_end(turn) == 30
