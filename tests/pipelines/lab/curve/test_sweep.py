"""Three rules on silences whose outcome can be told by hand, and on recorded ones."""

import numpy as np
import pytest

from pipelines.lab.curve.recorded import STEP, Silence
from pipelines.lab.curve.rules import calls, judge_call
from pipelines.lab.curve.sweep import Sweep, counted_pauses, sweep_ours, sweep_silence, sweep_smart_turn, with_each_risk
from tests.pipelines.lab.curve.rig import recorded
from tests.pipelines.lab.curve.silences import clip, silence, turn
from voice.turns.endpointing import Endpointing, Pauses

RULE = Endpointing(stop=0.2, fallback=0.7)


def at(sweep: Sweep, **settings: float) -> int:
    return sweep.settings.index(tuple(settings.items()))


def test_silence_alone_cuts_off_longer_pauses_and_delays_every_end_by_itself() -> None:
    sweep = sweep_silence(
        [turn("a", pause=0.5, sound=0.9, end_sound=0.1), turn("b", pause=1.5, sound=0.1, end_sound=0.9)]
    )
    one = at(sweep, silence=1.0)
    assert sweep.cut[one].tolist() == [0, 1]
    assert sweep.delay[one] == pytest.approx([1.0, 1.0], abs=STEP)
    assert sweep.cut[at(sweep, silence=0.3)].tolist() == [1, 1]
    assert sweep.cut[at(sweep, silence=2.0)].tolist() == [0, 0]


def test_smart_turn_alone_believes_what_exceeds_the_threshold_and_waits_otherwise() -> None:
    sweep = sweep_smart_turn(
        [turn("a", pause=0.5, sound=0.9, end_sound=0.4), turn("b", pause=1.5, sound=0.4, end_sound=0.9)]
    )
    one = at(sweep, threshold=0.5, action_delay=0.3, timeout=1.0)
    assert sweep.cut[one].tolist() == [1, 1], "the second pause is longer than the timeout"
    assert sweep.delay[one] == pytest.approx([1.0, 0.3], abs=STEP)
    patient = at(sweep, threshold=0.5, action_delay=0.6, timeout=2.0)
    assert sweep.cut[patient].tolist() == [0, 0]
    assert sweep.delay[patient] == pytest.approx([2.0, 0.6], abs=STEP)


def test_a_pause_that_a_breath_divides_counts_once() -> None:
    breath = clip(
        "a",
        silence("pause", 1.0, 0.4, pause=0),
        silence("pause", 1.5, 0.4, pause=0),
        silence("end", 3.0, 3.0, goes_on=True),
        pauses=[1.0],
    )
    assert sweep_silence([breath]).cut[0].tolist() == [1]
    (outcome,) = judge_call([breath], lambda silence, pauses: 0.3)
    assert outcome.cut == {0}


def test_a_sound_after_the_end_makes_the_end_later() -> None:
    noisy = clip("a", silence("end", 1.0, 0.5), silence("end", 2.0, 3.0, goes_on=True))
    sweep = sweep_silence([noisy])
    assert sweep.delay[at(sweep, silence=0.4)] == pytest.approx([0.4], abs=STEP)
    assert sweep.delay[at(sweep, silence=0.8)] == pytest.approx([1.8], abs=STEP)


def test_only_pauses_of_the_protocol_s_lengths_count() -> None:
    assert counted_pauses(clip("a", pauses=[0.1, 0.2, 3.0, 5.1])) == {1, 2}


@pytest.mark.parametrize("timeout", [1.0, 2.0])
def test_the_table_and_the_judgement_of_a_call_agree(timeout: float) -> None:
    clips = recorded("pauses", 1, 4, 7).clips

    def needed(silence: Silence, _: Pauses) -> float:
        return 0.5 if (silence.sound(0.2) or 0.0) > 0.6 else timeout

    one = list(judge_call(clips, needed))
    sweep = sweep_smart_turn(clips)
    number = at(sweep, threshold=0.6, action_delay=0.5, timeout=timeout)
    assert sweep.cut[number].tolist() == [len(outcome.cut) for outcome in one]
    assert sweep.inside[number].tolist() == [outcome.inside for outcome in one]
    assert sweep.delay[number] == pytest.approx([outcome.delay for outcome in one])


def test_our_rule_waits_longer_the_smaller_the_risk() -> None:
    clips = recorded("pauses", 1, 4, 7).clips
    sweep = sweep_ours(clips, with_each_risk(RULE), seed=1)
    assert (np.diff(sweep.delay.mean(axis=1)) <= 1e-9).all()
    assert (np.diff(sweep.cut.sum(axis=1)) >= 0).all()
    assert (("risk", RULE.risk), ("longest", RULE.longest)) in sweep.settings


def test_a_call_has_one_speaker_and_at_most_eight_turns_in_an_order_that_the_seed_draws() -> None:
    clips = [turn(str(n), pause=None, sound=0, end_sound=1, speaker="Ann" if n < 10 else "Bob") for n in range(15)]
    drawn = list(calls(clips, seed=1))
    assert [len(call) for call in drawn] == [8, 2, 5]
    assert sorted(index for call in drawn for index in call) == list(range(15))
    assert all(len({clips[index].speaker for index in call}) == 1 for call in drawn)
    assert drawn == list(calls(clips, seed=1))
    assert drawn != list(calls(clips, seed=2))


def test_a_pause_that_was_cut_off_is_remembered_as_the_agent_remembers_it() -> None:
    heard: list[list[float]] = []

    def needed(_: Silence, pauses: Pauses) -> float:
        heard.append(list(pauses))
        return 0.4

    long, short = turn("long", pause=1.8, sound=0, end_sound=1), turn("short", pause=0.9, sound=0, end_sound=1)
    list(judge_call([short, long, short], needed))
    assert heard == [[], [0.9], [0.9], [0.9], [0.9], [0.9, 0.9]], "after 1.5 s of silence speech is another turn"
