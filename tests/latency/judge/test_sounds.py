"""Sounds over an answer, as the recording shows them."""

from typing import Any

import numpy as np
import pytest

from latency.audio.dropouts import split_at_flushes
from latency.audio.onset import Span, as_floats, utterances
from latency.judge.barge_in import BotSpeech, SoundResult, ducked_after, judge_sound
from latency.record.turn import OverlapRecord, TurnRecord
from latency.selftest import synthetic

RATE = 16000


def sound(start: float, end: float, kind: str = "cough") -> TurnRecord:
    return TurnRecord(session="s", turn=0, labels=((start, end, kind),), wants_answer=False)


def speaking(*parts: tuple[float, float]) -> Any:
    """A bot that speaks at full level from each start to each end, seconds."""
    samples = np.zeros(round(12 * RATE))
    for number, (start, end) in enumerate(parts):
        voice = synthetic.voice(end - start + 0.7, RATE, np.random.default_rng(number))
        samples[round(start * RATE) : round(end * RATE)] = voice[: round((end - start) * RATE)]
    return as_floats(samples)


def judged(samples: Any, turn: TurnRecord, *, flushes: tuple[float, ...] = (), **record: Any) -> SoundResult:
    spoken = split_at_flushes(utterances(samples, RATE), samples, RATE, flushes)
    overlaps = [OverlapRecord(**record)] if record else []
    found = judge_sound(turn, BotSpeech(spoken=spoken, samples=samples, flushes=flushes, overlaps=overlaps))
    assert found is not None
    return found.result


def test_an_answer_that_nothing_stopped_went_on() -> None:
    assert judged(speaking((1, 9)), sound(3, 3.4)) is SoundResult.WENT_ON


def test_an_answer_that_was_flushed_was_stopped_or_resumed_as_the_server_says() -> None:
    samples = speaking((1, 3.7), (4.5, 9))
    assert judged(samples, sound(3, 3.4), flushes=(3.7,)) is SoundResult.STOPPED
    back = {"onset": 3.05, "silenced": 3.69, "decided": 4.4, "verdict": "resumed", "because": "nothing_heard"}
    assert judged(samples, sound(3, 3.4), flushes=(3.7,), **back) is SoundResult.RESUMED
    assert judged(samples, sound(3, 3.4), flushes=(3.7,), **back | {"onset": 1.2}) is SoundResult.STOPPED


def test_what_stops_an_answer_after_the_user_was_heard_again_is_not_due_to_the_sound() -> None:
    samples, cough = speaking((1, 4.6), (8, 9)), sound(3, 3.4)
    spoken = utterances(samples, RATE)
    for following, result in (3.9, SoundResult.WENT_ON), (4.7, SoundResult.STOPPED), (None, SoundResult.STOPPED):
        bot = BotSpeech(spoken=spoken, samples=samples, flushes=(4.61,))
        found = judge_sound(cough, bot, following=following)
        assert found is not None
        assert found.result is result


def test_a_server_that_says_nothing_is_judged_by_the_sound_alone() -> None:
    assert judged(speaking((1, 3.7), (8, 9)), sound(3, 3.4)) is SoundResult.STOPPED


def test_a_silent_bot_cannot_be_interrupted() -> None:
    assert judged(speaking((1, 3)), sound(5, 5.4)) is SoundResult.SILENT


def test_speech_is_no_such_sound_and_neither_is_a_turn_without_labels() -> None:
    plain = TurnRecord(session="s", turn=0, speech=((3.0, 4.0),), wants_answer=True)
    nothing = TurnRecord(session="s", turn=0, wants_answer=False)
    for turn in (plain, nothing):
        assert judge_sound(turn, BotSpeech(spoken=[Span(1, 9)], samples=speaking((1, 9)))) is None


def test_how_soon_the_loudspeaker_was_softer() -> None:
    def after(onset: float, *ducked: tuple[float, float]) -> float | None:
        bot = BotSpeech(spoken=[Span(1, 9)], samples=speaking((1, 9)), ducked=ducked)
        return ducked_after(sound(onset, onset + 0.4), bot)

    assert after(3, (0.5, 0.9), (3.15, 3.6)) == pytest.approx(0.15)
    assert after(3, (5.0, 6.0)) is None
    assert after(9.5, (9.6, 9.8)) is None


def test_an_answer_soon_after_an_interruption_is_another_utterance() -> None:
    samples = speaking((1, 3.0), (3.15, 5))
    (whole,) = utterances(samples, RATE)
    first, second = split_at_flushes([whole], samples, RATE, (3.01,))
    assert (first.start, second.end) == (whole.start, whole.end)
    assert first.end == pytest.approx(3.0, abs=0.01)
    assert second.start == pytest.approx(3.15, abs=0.02)
    assert split_at_flushes([whole], samples, RATE, ()) == [whole]
    assert split_at_flushes([whole], samples, RATE, (2.0,)) == [whole], "no silence follows"


def test_a_softer_answer_that_was_stopped_in_a_pause_between_words_was_stopped() -> None:
    samples, cough = speaking((1, 3.5), (8, 9)), sound(3, 3.4)
    faded = samples.copy()
    faded[round(3.3 * RATE) : round(3.5 * RATE)] *= np.linspace(1, 0, round(0.2 * RATE))
    spoken = utterances(faded, RATE)
    for ducked, result in (((3.15, 3.7),), SoundResult.STOPPED), ((), SoundResult.WENT_ON):
        found = judge_sound(cough, BotSpeech(spoken=spoken, samples=faded, flushes=(3.7,), ducked=ducked))
        assert found is not None
        assert found.result is result
