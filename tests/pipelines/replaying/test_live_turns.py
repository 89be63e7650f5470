"""Turns of a call without a script."""

import numpy as np
import pytest

from tests.pipelines.replaying.test_call_records import call, report, said, server
from voice.client.call.call_result import Recorder
from voice.client.caller.live_turns import with_live_turns
from voice.client.playback.playout import Playout
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE


def test_who_speaks_in_a_live_call_while_the_bot_does_interrupts_it():
    playout = Playout(0.0)
    recorder = Recorder(playout)
    time = np.arange(RATE) / RATE
    voice = sum(np.cos(2 * np.pi * 120 * k * time) / k for k in range(1, 10)) * 0.1
    voice = np.round(voice * (0.7 + 0.3 * np.cos(2 * np.pi * 4 * time)) * 32767).astype(np.int16)
    user = np.zeros(12 * RATE, np.int16)
    user[RATE : 2 * RATE] = user[5 * RATE : 6 * RATE] = voice
    for at in range(0, len(user), MESSAGE_SAMPLES):
        recorder.inject(user[at : at + MESSAGE_SAMPLES])
    playout.advance(12.0)
    commits = [{"marks": {"turn_commit": server(at)}, "heard": "words"} for at in (2.5, 6.4)]
    reports = tuple(report(number, **how) for number, how in enumerate(commits))
    result, _ = call(turns=None, reports=reports, recorder=recorder, utterances=(said(3.0, 6.2),))
    _, fixture = with_live_turns(result, name="talk")
    assert [one.barge_in for one in fixture.turns] == [False, True]
    assert fixture.turns[1].send_after.delay == pytest.approx(2.0, abs=0.02)
