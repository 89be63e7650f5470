"""The scripted caller on a manual clock: when each turn starts, judged by what was played."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from voice.client.caller.scripted_caller import ScriptedCaller
from voice.client.fixtures.fixture import FixtureTurn
from voice.client.fixtures.scenario import SendAfter
from voice.client.playback.playout import Playout
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE

SECONDS = MESSAGE_SAMPLES / RATE


def turn(seconds: float = 1.0, *, pad: float = 0.2, level: int = 5000, **how) -> FixtureTurn:
    """A recording: `pad` s of silence, `seconds` of sound, `pad` s of silence."""
    silence = np.zeros(round(pad * RATE), np.int16)
    sound = np.full(round(seconds * RATE), level, np.int16)
    settings = {
        "name": "t.wav",
        "wav": Path("t.wav"),
        "text": "",
        "speaker": "someone",
        "samples": np.concatenate([silence, sound, silence]),
        "speech": ((pad, pad + seconds),),
        "labels": (),
        "send_after": None,
        "wants_answer": True,
        "contains": (),
        "truth": "labelled",
        "sha256": "",
    }
    return FixtureTurn(**settings | how)


class Bot:
    """Pushes tones at given instants of the recording; `say` may also be called while the call goes on."""

    def __init__(self) -> None:
        self.playout = Playout(0.0)
        self.plan: list[tuple[float, Callable[[], None]]] = []

    def say(self, at: float, seconds: float) -> None:
        tone = (8000 * np.sin(np.arange(round(seconds * RATE)) / 6)).astype(np.int16)
        self.plan.append((at, lambda: self.playout.push(at, tone, RATE)))

    def stop(self, at: float) -> None:
        self.plan.append((at, lambda: self.playout.flush(at)))

    def hold(self, caller: ScriptedCaller, *, limit: float = 120.0) -> tuple[list[float], float, np.ndarray]:
        """Let the caller speak; when each turn began, when it hung up, and what it sent."""
        frames = []
        for tick in range(round(limit * RATE / MESSAGE_SAMPLES)):
            at = tick * MESSAGE_SAMPLES / RATE
            for planned in sorted((p for p in self.plan if p[0] <= at), key=lambda p: p[0]):
                planned[1]()
                self.plan.remove(planned)
            self.playout.advance(at)
            frame = caller.next_frame(at, self.playout)
            if frame is None:
                return [placed.at for placed in caller.placed], at, np.concatenate(frames)
            assert len(frame) == MESSAGE_SAMPLES
            assert frame.dtype == np.int16
            frames.append(frame)
        raise AssertionError("the caller never hung up")


def test_the_first_turn_starts_a_second_after_the_bot_is_ready():
    starts, _, _ = Bot().hold(ScriptedCaller([turn()]))
    assert starts == [pytest.approx(1.0, abs=SECONDS)]


def test_the_first_turn_waits_for_the_end_of_a_greeting():
    bot = Bot()
    bot.say(0.2, 2.0)
    starts, _, _ = bot.hold(ScriptedCaller([turn()]))
    assert starts == [pytest.approx(2.2 + 0.8, abs=0.05)]


def test_the_next_turn_starts_800_ms_after_the_bot_has_gone_silent():
    bot = Bot()
    bot.say(3.0, 2.0)
    starts, _, _ = bot.hold(ScriptedCaller([turn(), turn()]))
    assert starts[1] == pytest.approx(5.0 + 0.8, abs=0.05)


def test_without_an_answer_the_next_turn_starts_four_seconds_after_the_last_ones_speech():
    starts, ended, _ = Bot().hold(ScriptedCaller([turn(1.0, pad=0.2), turn(1.0, pad=0.2)]))
    assert starts[1] == pytest.approx(1.0 + 1.2 + 4.0, abs=SECONDS * 2)
    assert ended == pytest.approx(starts[1] + 1.2 + 4.0, abs=SECONDS * 2)


class Waiting(ScriptedCaller):
    """A caller who hears at 3 s that the answer is still to come, and at `until` that it has begun."""

    until = 7.0

    def next_frame(self, at: float, playout: Playout) -> np.ndarray | None:
        self.answer_pending = 3.0 <= at < self.until
        return super().next_frame(at, playout)


def test_a_caller_who_is_asked_to_wait_waits_for_the_answer_itself():
    bot = Bot()
    bot.say(3.0, 0.7)
    bot.say(7.0, 2.0)
    starts, _, _ = bot.hold(Waiting([turn(), turn()]))
    assert starts[1] == pytest.approx(9.0 + 0.8, abs=0.05)


def test_the_caller_waits_twelve_seconds_for_an_announced_answer():
    bot = Bot()
    bot.say(3.0, 0.7)
    caller = Waiting([turn(), turn()])
    caller.until = 100.0
    starts, _, _ = bot.hold(caller, limit=60.0)
    assert starts[1] == pytest.approx(1.0 + 1.2 + 12.0 + 0.8, abs=0.05)


def test_the_caller_hangs_up_a_second_after_the_last_answer():
    bot = Bot()
    bot.say(3.0, 2.0)
    _, ended, _ = bot.hold(ScriptedCaller([turn()]))
    assert ended == pytest.approx(5.0 + 1.0, abs=0.05)


def test_a_barge_in_starts_its_delay_after_the_bot_was_first_heard():
    bot = Bot()
    bot.say(3.0, 6.0)
    barge_in = turn(send_after=SendAfter(event="bot_started_speaking", delay=0.8))
    starts, _, _ = bot.hold(ScriptedCaller([turn(), barge_in]))
    assert starts[1] == pytest.approx(3.0 + 0.8, abs=0.03)


def test_a_barge_in_on_a_bot_that_never_speaks_is_sent_after_the_reply_wait():
    barge_in = turn(send_after=SendAfter(event="bot_started_speaking", delay=0.8))
    starts, _, _ = Bot().hold(ScriptedCaller([turn(), barge_in]))
    assert starts[1] == pytest.approx(2.2 + 4.0, abs=SECONDS * 2)


def test_speech_that_a_barge_in_interrupted_is_not_its_answer():
    bot = Bot()
    bot.say(3.0, 10.0)
    # Heard from 3.0; the barge-in sounds from 4.0 to 4.3 and is obeyed only at 4.5; its answer comes at 6.5.
    bot.stop(4.5)
    bot.say(6.5, 1.0)
    barge_in = turn(0.3, send_after=SendAfter(event="bot_started_speaking", delay=0.8))
    starts, _, _ = bot.hold(ScriptedCaller([turn(), barge_in, turn()]))
    assert starts[2] == pytest.approx(7.5 + 0.8, abs=0.05)


def test_the_reply_wait_after_a_barge_in_counts_from_the_interruption():
    bot = Bot()
    bot.say(3.0, 10.0)
    bot.stop(6.0)
    barge_in = turn(0.3, send_after=SendAfter(event="bot_started_speaking", delay=0.8))
    starts, _, _ = bot.hold(ScriptedCaller([turn(), barge_in, turn()]))
    assert starts[2] == pytest.approx(6.0 + 4.0, abs=0.05)


def test_after_a_backchannel_the_caller_lets_the_bot_finish():
    bot = Bot()
    bot.say(3.0, 5.0)
    backchannel = turn(
        0.3,
        speech=(),
        labels=((0.2, 0.5, "backchannel"),),
        wants_answer=False,
        send_after=SendAfter(event="bot_started_speaking", delay=1.0),
    )
    starts, _, _ = bot.hold(ScriptedCaller([turn(), backchannel, turn()]))
    assert starts[1:] == [pytest.approx(4.0, abs=0.03), pytest.approx(8.0 + 0.8, abs=0.05)]


def test_a_plain_delay_counts_from_the_end_of_the_speech_before_and_never_truncates_a_recording():
    resumed = turn(send_after=SendAfter(event=None, delay=1.5))
    at_once = turn(send_after=SendAfter(event=None, delay=0.01))
    starts, _, _ = Bot().hold(ScriptedCaller([turn(1.0, pad=0.2), resumed, at_once]))
    assert starts[1] == pytest.approx(1.0 + 1.2 + 1.5, abs=SECONDS * 2)
    assert starts[2] == pytest.approx(starts[1] + 1.4, abs=SECONDS * 2)


def test_a_turn_after_the_bot_stopped_speaking_waits_for_its_own_delay():
    bot = Bot()
    bot.say(3.0, 1.0)
    eager = turn(send_after=SendAfter(event="bot_stopped_speaking", delay=2.0))
    starts, _, _ = bot.hold(ScriptedCaller([turn(), eager]))
    assert starts[1] == pytest.approx(4.0 + 2.0, abs=0.05)


def test_the_caller_talks_over_a_bot_that_never_stops():
    bot = Bot()
    bot.say(2.5, 200.0)
    starts, ended, _ = bot.hold(ScriptedCaller([turn(), turn()], patience=20.0))
    assert starts[1] == pytest.approx(2.2 + 20.0, abs=0.03)
    assert ended == pytest.approx(starts[1] + 1.2 + 20.0, abs=0.03)


def test_turns_lie_where_the_caller_says_with_digital_silence_in_between():
    turns = [turn(0.5, level=3000), turn(0.333, level=4000)]
    caller = ScriptedCaller(turns)
    _, _, sent = Bot().hold(caller)
    expected = np.zeros_like(sent)
    for placed in caller.placed:
        expected[placed.position : placed.position + len(placed.turn.samples)] = placed.turn.samples
    assert np.array_equal(sent, expected)
    first = caller.placed[0]
    assert first.speech == ((pytest.approx(first.at + 0.2), pytest.approx(first.at + 0.7)),)
    assert (first.onset, first.end) == first.speech[0]


def test_turns_begin_anywhere_in_a_frame_and_at_the_same_places_in_every_replay():
    callers = [ScriptedCaller([turn(0.2, pad=0.1) for _ in range(16)], reply_wait=0.5) for _ in range(2)]
    for caller in callers:
        Bot().hold(caller)
    positions, again = ([placed.position for placed in caller.placed] for caller in callers)
    assert positions == again
    within = sorted(position % MESSAGE_SAMPLES for position in positions)
    assert max(np.diff([*within, within[0] + MESSAGE_SAMPLES])) < MESSAGE_SAMPLES / 8


def test_labels_move_with_the_turn():
    caller = ScriptedCaller([turn(labels=((0.0, 0.4, "noise"),))])
    Bot().hold(caller)
    (first,) = caller.placed
    assert first.labels == ((first.at, pytest.approx(first.at + 0.4), "noise"),)
