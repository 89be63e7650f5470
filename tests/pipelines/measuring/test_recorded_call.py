"""The turns of a recording about which nothing else is known: calls with planted figures, and what separates turns."""

import numpy as np
import pytest

from latency.audio.recording import RATE
from latency.judge.barge_in import SoundResult
from latency.judge.session import SessionOutcome, judge_session
from latency.record.session import Session
from latency.record.turn import TurnRecord
from latency.selftest import planted, synthetic
from pipelines.measuring.recorded_call import caller_turns

FRAME = 0.01
CALLS = {call.name: call for call in planted.calls(7)}
NEED_LABELS = {"noise 10 dB", "no labels, noise 10 dB", "music"}
"""Calls in which other sound covers the ends of the caller's words."""
AGENT_IN_NOISE = {"comfort noise", "bot in noise 20 dB"}
"""Calls in which the agent's onset is as uncertain, by a frame, as the caller's end."""
Parts = list[tuple[float, float]]


def judged(stereo: np.ndarray, labels: list[tuple[float, float, str]] | None = None) -> SessionOutcome:
    turns = caller_turns(stereo, "call", labels)
    assert [turn.turn for turn in turns] == list(range(len(turns)))
    return judge_session(Session(name="call"), turns, stereo)


def call_of(caller: Parts, agent: Parts, *, seconds: float = 20.0) -> np.ndarray:
    """A recording in which the two speak at these times."""
    random = np.random.default_rng(3)
    stereo = np.zeros((round(seconds * RATE), 2))
    for channel, (parts, pitch) in enumerate(((caller, 190), (agent, 110))):
        for start, end in parts:
            sound = synthetic.voice(end - start, RATE, random, pitch=pitch)
            stereo[round(start * RATE) :, channel][: len(sound)] = sound
    return np.round(stereo * 32767).astype(np.int16)


def turns_of(caller: Parts, agent: Parts, *, seconds: float = 20.0) -> list[TurnRecord]:
    return caller_turns(call_of(caller, agent, seconds=seconds), "call")


def parts(turns: list[TurnRecord]) -> list[int]:
    """The number of stretches of speech in each turn."""
    return [len(turn.speech) for turn in turns]


@pytest.mark.parametrize("name", sorted(CALLS.keys() - NEED_LABELS))
def test_planted_figures_are_recovered_without_labels(name: str) -> None:
    planted_call = CALLS[name]
    found = judged(planted_call.samples)
    assert len(found.outcomes) == len(planted_call.turns)
    # The answer behind a phrase is known only from the server.
    for hidden in (one for one in planted_call.hidden if one.figure != "answer"):
        outcome = found.outcomes[hidden.turn]
        figure = found.gaps[0].end - found.gaps[0].start if hidden.figure == "gap" else getattr(outcome, hidden.figure)
        tolerance = 2 * FRAME if name in AGENT_IN_NOISE else FRAME
        assert figure == pytest.approx(hidden.seconds, abs=tolerance), hidden
    assert [one.turn.barge_in for one in found.outcomes] == [turn.barge_in for turn in planted_call.turns]
    assert {one.turn.truth for one in found.outcomes} == {"estimated"}


@pytest.mark.parametrize("name", ["noise 10 dB", "music", *sorted(AGENT_IN_NOISE)])
def test_labels_tell_what_noise_hides(name: str) -> None:
    planted_call = CALLS[name]
    labels = [(start, end, "speech") for turn in planted_call.turns for start, end in turn.speech]
    found = judged(planted_call.samples, labels)
    for hidden in planted_call.hidden:
        assert getattr(found.outcomes[hidden.turn], hidden.figure) == pytest.approx(hidden.seconds, abs=FRAME)
    assert {one.turn.truth for one in found.outcomes} == {"labelled"}


def test_pauses_without_the_agent_belong_to_one_turn_and_long_silences_do_not() -> None:
    assert parts(turns_of([(1, 2), (2.8, 4), (10, 11)], [(4.5, 6), (11.5, 13)])) == [2, 1]
    assert parts(turns_of([(1, 2), (6.5, 7.5)], [(8, 9)])) == [1, 1]


def test_the_agent_in_a_pause_cuts_the_caller_off_if_the_caller_could_not_react_to_it() -> None:
    found = judged(call_of([(1, 2), (2.8, 4)], [(2.6, 3.2), (4.5, 6)]))
    assert parts([one.turn for one in found.outcomes]) == [2]
    assert found.outcomes[0].cut_off
    assert found.outcomes[0].pauses_cut == 1


def test_a_caller_who_had_time_to_react_interrupts() -> None:
    found = judged(call_of([(1, 2), (4, 5)], [(2.5, 4.4), (5.5, 7)]))
    assert [one.turn.barge_in for one in found.outcomes] == [False, True]
    assert not any(one.cut_off for one in found.outcomes)
    assert found.outcomes[0].latency == pytest.approx(0.5, abs=FRAME)


def test_a_short_sound_over_which_the_agent_goes_on_is_a_backchannel() -> None:
    found = judged(call_of([(1, 2), (4, 4.5)], [(2.5, 7)]))
    turn = found.outcomes[1].turn
    assert turn.backchannel
    assert not turn.wants_answer
    assert found.outcomes[1].sound is not None
    assert found.outcomes[1].sound.result is SoundResult.WENT_ON


def test_labelled_sounds_are_no_turns() -> None:
    stereo = call_of([(1, 2), (4, 5.5)], [(2.5, 7)])
    found = judged(stereo, [(1.0, 2.0, "speech"), (3.0, 3.2, "noise"), (4.0, 5.5, "cough")])
    assert [one.turn.wants_answer for one in found.outcomes] == [True, False]
    assert found.outcomes[1].sound is not None
    assert found.outcomes[1].sound.kind == "cough"


@pytest.mark.parametrize(("seconds", "wants"), [(9.5, False), (14.0, True)])
def test_last_words_want_an_answer_only_if_the_caller_waited_for_one(seconds: float, wants: bool) -> None:
    turns = turns_of([(1, 2), (6, 7)], [(2.5, 5)], seconds=seconds)
    assert [turn.wants_answer for turn in turns] == [True, wants]


def test_callers_need_not_speak_equally_loud() -> None:
    stereo = call_of([(1, 2), (6, 7)], [(2.5, 5), (7.4, 9)])
    stereo[5 * RATE :, 0] //= 30
    assert [one.latency for one in judged(stereo).outcomes] == pytest.approx([0.5, 0.4], abs=FRAME)
