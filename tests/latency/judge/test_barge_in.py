from typing import Any

import numpy as np
import pytest

from latency.audio.onset import Span, as_floats, utterances
from latency.judge.barge_in import BargeInResult, BotSpeech, false_barge_ins, judge_barge_in, talk_over
from latency.record.turn import OverlapRecord, TurnRecord
from latency.selftest import synthetic

RATE = 16000


def turn(*speech: tuple[float, float], **values: Any) -> TurnRecord:
    return TurnRecord.from_json({"session": "s", "turn": 0, "speech": speech, "wants_answer": True, **values})


def bot(end: float, *, stopped: bool, seed: int = 1) -> Any:
    """A bot that speaks from 1.0 to `end` and is stopped there, or comes to its end."""
    sound = synthetic.voice(end - 1 + (0.7 if stopped else 0), RATE, np.random.default_rng(seed))
    sound = sound[: round((end - 1) * RATE)] if stopped else synthetic.dying(sound, RATE)
    return as_floats(np.concatenate([np.zeros(RATE), sound, np.zeros(RATE)]))


def speech(spoken: list[Span], samples: Any = None, **known: Any) -> BotSpeech:
    return BotSpeech(spoken=spoken, samples=samples, **known)


def judged(samples: Any, *, flushes: tuple[float, ...] = (), start: float = 3.0) -> Any:
    record = turn((start, start + 1), barge_in=True)
    return judge_barge_in(record, speech(utterances(samples, RATE), samples, flushes=flushes))


@pytest.mark.parametrize("seed", range(4))
def test_a_bot_that_breaks_off_was_stopped_even_where_no_message_is_known(seed: int) -> None:
    found = judged(bot(3.4321, stopped=True, seed=seed))
    assert (found.result, found.stop) == (BargeInResult.STOPPED, pytest.approx(0.4321, abs=0.01))


@pytest.mark.parametrize("seed", range(4))
def test_a_bot_that_comes_to_its_end_has_no_stop_time(seed: int) -> None:
    assert judged(bot(3.4, stopped=False, seed=seed)) == (BargeInResult.ENDED, None)
    assert judged(bot(3.4, stopped=False, seed=seed), flushes=(3.9, 2.0)) == (BargeInResult.ENDED, None)


def test_an_interruption_as_the_bot_falls_silent_stopped_it_however_softly() -> None:
    samples = bot(3.4, stopped=False)
    end = utterances(samples, RATE)[0].end
    assert judged(samples, flushes=(end + 0.02,)) == (BargeInResult.STOPPED, pytest.approx(end - 3.0))


def test_a_silent_bot_cannot_be_interrupted_and_a_plain_turn_does_not_try() -> None:
    samples = bot(3.4, stopped=True)
    assert judged(samples, start=3.6) == (BargeInResult.SILENT, None)
    assert judge_barge_in(turn((3, 4)), speech(utterances(samples, RATE), samples)) is None


def test_talk_over_is_the_time_both_were_heard_pauses_apart() -> None:
    spoken = [Span(0.0, 1.5), Span(1.9, 2.1), Span(2.5, 3.5), Span(9.0, 10.0)]
    assert talk_over(turn((1, 2), (3, 4)), spoken) == pytest.approx(0.5 + 0.1 + 0.5)
    assert talk_over(turn((5, 6)), spoken) == 0


def test_only_an_interruption_that_no_turn_explains_is_false() -> None:
    spoken = [Span(2.5, 4.0), Span(6.0, 8.0)]
    turns = [turn((1, 2)), turn((3.5, 4.5), barge_in=True), turn((7.6, 7.9), backchannel=True)]
    assert false_barge_ins(turns, speech(spoken, flushes=[4.02])) == 0
    assert false_barge_ins(turns, speech(spoken, flushes=[4.02, 8.0])) == 1
    assert false_barge_ins(turns, speech(spoken, flushes=[12.0])) == 0


def test_a_bot_that_goes_on_for_long_after_the_users_onset_talked_on() -> None:
    assert judged(bot(5.0, stopped=False)) == (BargeInResult.IGNORED, None)


def test_a_softer_bot_that_is_interrupted_in_a_pause_between_words_was_stopped() -> None:
    samples, record = bot(3.4, stopped=False), turn((3.0, 4.0), barge_in=True)
    spoken = utterances(samples, RATE)
    paused = spoken[0].end + 0.2
    assert judge_barge_in(record, speech(spoken, samples, flushes=(paused,))) == (BargeInResult.ENDED, None)
    found = judge_barge_in(record, speech(spoken, samples, flushes=(paused,), ducked=[(3.13, paused)]))
    assert found == (BargeInResult.STOPPED, pytest.approx(spoken[0].end - 3.0))


def test_a_silence_that_the_server_took_back_is_no_false_interruption() -> None:
    spoken = [Span(6.0, 8.0), Span(8.6, 12.0)]
    back = OverlapRecord(onset=7.3, ducked=7.5, silenced=7.98, decided=8.5, verdict="resumed", because="nothing_heard")
    assert false_barge_ins([turn((1, 2))], speech(spoken, flushes=[8.0], overlaps=[back])) == 0
    assert false_barge_ins([turn((1, 2))], speech(spoken, flushes=[8.0])) == 1
