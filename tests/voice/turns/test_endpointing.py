"""How much silence ends a turn, from evidence and the caller's habits."""

import itertools
import random
from typing import Any

import pytest

from voice.turns.endpointing import (
    CUT_OFF_WEIGHTS,
    LEAD_IN_SILENCE,
    LEAST_PAUSES_PER_TURN,
    MOST_PAUSES_PER_TURN,
    PAUSE_SCALE,
    PAUSE_SHAPE,
    RISK,
    Endpointing,
    Pauses,
    cut_off_weight,
)
from voice.turns.evidence import ENOUGH_DIGITS, LEAST_SPOKEN, MOST_SPOKEN, Evidence

RULE = Endpointing(stop=0.2, fallback=0.8)
FIXED = Endpointing(stop=0.2, fallback=0.8, adaptive=False)
WHOLE, CUT = -0.6, -2.0  # base-10 log probabilities of a sentence end


def paused(*turns: float) -> Pauses:
    """A caller whose turns had these pauses; 0 for none."""
    pauses = Pauses()
    for pause in turns:
        if pause:
            pauses.add(pause)
        pauses.turn_over()
    return pauses


def needed(rule: Endpointing, evidence: Evidence, pauses: Pauses) -> float:
    return rule.judge(evidence, pauses).needed


@pytest.mark.parametrize(
    ("evidence", "least", "most"),
    [
        (Evidence(sound=0.99, read=WHOLE, spoken=4.0), 0.2, 0.2),
        # It sounds complete, but reads as if more were to come: Smart Turn alone would end it at once.
        (Evidence(sound=0.9, read=CUT, spoken=2.0), 0.9, 2.0),
        # It reads complete and sounds unfinished.
        (Evidence(sound=0.1, read=WHOLE, spoken=2.0), 0.5, 1.2),
        # It is a whole request, to which "times four" could be added.
        (Evidence(sound=0.01, read=CUT, spoken=1.0, whole=True), 0.2, 0.2),
        (Evidence(sound=0.01, read=CUT, spoken=2.0), 2.5, 2.5),
        # It sounds and reads complete, but the agent knows that more must come.
        (Evidence(sound=0.9, read=WHOLE, spoken=4.0, whole=False), 1.5, 2.5),
        (Evidence(sound=0.99, spoken=4.0), 0.2, 0.4),
        (Evidence(sound=0.9), 0.3, 0.8),
        (Evidence(), 0.8, 0.8),
        (Evidence(read=WHOLE, spoken=4.0), 0.8, 0.8),
        (Evidence(whole=False), 1.5, 2.5),
    ],
)
def test_less_finished_words_need_more_silence(evidence: Evidence, least: float, most: float) -> None:
    assert least <= needed(RULE, evidence, Pauses()) <= most + 1e-9


def test_more_evidence_of_the_end_never_asks_for_more_silence() -> None:
    def falls(evidences: list[Evidence], pauses: Pauses) -> None:
        silences = [RULE.judge(evidence, pauses) for evidence in evidences]
        assert [one.needed for one in silences] == sorted((one.needed for one in silences), reverse=True)
        assert [one.likely for one in silences] == sorted((one.likely for one in silences), reverse=True)
        assert (silences[-1].likely, silences[-1].needed) < (silences[0].likely, silences[0].needed)

    for pauses in (Pauses(), paused(0.4), paused(0.9, 0.0, 1.1)):
        for read, spoken in itertools.product((CUT, -1.2, WHOLE, None), (0.5, 2.0, None)):
            falls([Evidence(sound=p / 20, read=read, spoken=spoken) for p in range(21)], pauses)
        for sound in (0.05, 0.5, 0.95):
            falls([Evidence(sound=sound, read=r / 10 - 3) for r in range(30)], pauses)
            falls([Evidence(sound=sound, read=WHOLE, spoken=s / 10) for s in range(1, 60)], pauses)


def test_the_length_of_a_turn_counts_only_between_its_bounds() -> None:
    for read in (WHOLE, None):
        shortest, short, long, longest = (
            Evidence(sound=0.5, read=read, spoken=spoken).probability
            for spoken in (0.1, LEAST_SPOKEN, MOST_SPOKEN, 60.0)
        )
        assert shortest == short < long == longest


@pytest.mark.parametrize("sound", [0.01, 0.5, 0.99, None])
@pytest.mark.parametrize("whole", [True, None])
def test_a_lead_in_is_given_time_for_its_request_unless_it_answers_a_question(
    sound: float | None, whole: bool | None
) -> None:
    answers = {("yes_no", "yes"), ("yes_no", "no"), ("offer", "no")}
    for asked, kind in itertools.product(
        (None, "yes_no", "offer", "number", "short", "open"), ("yes", "no", "greeting", "joint")
    ):
        evidence = Evidence(sound=sound, read=WHOLE, spoken=0.7, whole=whole, lead_in=kind, asked=asked)
        silences = [needed(RULE, evidence, pauses) for pauses in (Pauses(), paused(0.9, 0.9), paused(*[0.0] * 8))]
        if (asked, kind) in answers:
            assert silences == [0.2] * 3
        else:
            assert min(silences) >= LEAD_IN_SILENCE
            assert max(silences) <= RULE.longest


def test_between_the_groups_of_a_number_more_silence_is_needed() -> None:
    def given(**more: Any) -> float:
        return needed(RULE, Evidence(sound=0.7, read=WHOLE, **more), Pauses())

    usual = given()
    assert given(symbols=2) == usual < given(symbols=3) == given(symbols=1, asked="number")
    assert given(symbols=4, asked="spelling") == given(symbols=12, asked="spelling") > usual
    assert given(symbols=ENOUGH_DIGITS, asked="number") == given(asked="number") == usual
    assert given(symbols=4, whole=True) == 0.2


def test_without_adaptation_smart_turn_alone_decides() -> None:
    assert needed(FIXED, Evidence(sound=0.5, read=CUT), Pauses()) == 0.2
    assert needed(FIXED, Evidence(sound=0.49, read=WHOLE, whole=True), paused(0.7, 0.7)) == 0.8
    assert needed(FIXED, Evidence(), Pauses()) == 0.8
    assert FIXED.judge(Evidence(), Pauses()).likely == 0.0


def test_a_caller_who_pauses_is_given_more_time_except_after_whole_requests() -> None:
    unfinished, doubtful, finished = (Evidence(sound=p, read=WHOLE, spoken=3.0) for p in (0.02, 0.7, 0.99))
    hasty, patient = paused(0.0, 0.0, 0.0), paused(0.9, 0.8, 1.0)
    assert needed(RULE, unfinished, hasty) < 0.8 < 1.2 < needed(RULE, unfinished, patient)
    assert needed(RULE, doubtful, hasty) < 0.4 < 0.6 < needed(RULE, doubtful, patient)
    assert needed(RULE, finished, hasty) == 0.2 < needed(RULE, finished, patient) < 1.0
    assert needed(RULE, Evidence(whole=True), patient) == 0.2
    assert needed(RULE, unfinished, paused(9.0, 9.0, 9.0)) == RULE.longest


def test_the_beginning_of_a_request_is_waited_for_whatever_it_sounds_like() -> None:
    begun, other = (Evidence(sound=0.98, read=WHOLE, spoken=3.0, whole=whole) for whole in (False, None))
    for turns in range(8):
        assert needed(RULE, begun, paused(*[0.0] * turns)) > 0.8 > needed(RULE, other, paused(*[0.0] * turns))


def test_the_time_given_is_as_long_as_the_callers_pauses() -> None:
    unfinished = Evidence(sound=0.2, read=WHOLE, spoken=2.0)
    short, long = paused(0.25, 0.25, 0.25), paused(0.9, 0.9, 0.9)
    assert needed(RULE, unfinished, short) < needed(RULE, unfinished, long) - 0.3
    rare, often = paused(0.9, 0.0, 0.0, 0.0), paused(0.9, 0.9, 0.9, 0.9)
    assert needed(RULE, unfinished, rare) < needed(RULE, unfinished, often) - 0.1


def test_a_caller_who_has_not_paused_is_answered_sooner_but_never_trusted_fully() -> None:
    doubtful, unfinished = Evidence(sound=0.6, read=WHOLE), Evidence(sound=0.02, read=CUT)
    known = [needed(RULE, doubtful, paused(*[0.0] * turns)) for turns in range(9)]
    assert known == sorted(known, reverse=True)
    assert known[8] < known[0]
    assert needed(RULE, unfinished, paused(*[0.0] * 8)) > 0.7


def test_what_is_expected_of_a_caller_follows_the_callers_turns() -> None:
    assert paused().per_turn == pytest.approx(0.2)
    assert paused(*[0.0] * 8).per_turn == pytest.approx(0.2 / 9)
    assert LEAST_PAUSES_PER_TURN < 0.2 / 9
    assert paused(*[0.5] * 8).per_turn == pytest.approx(8.2 / 9)
    many = Pauses()
    for _ in range(9):
        many.add(0.4)
    assert many.per_turn == MOST_PAUSES_PER_TURN
    assert paused().scale(0.2) == PAUSE_SCALE
    assert paused(1.2, 1.2).scale(0.2) > PAUSE_SCALE > paused(0.2, 0.2).scale(0.2) > 0.1


def test_the_mean_delay_is_far_below_that_of_a_fixed_silence_that_cuts_off_as_many_pauses() -> None:
    """Drawn from the rule's own model of pauses; how the words sound is drawn from two overlapping distributions."""
    chance = random.Random(1)
    silences = [(bool(n % 2), chance.betavariate(3, 1) if n % 2 else chance.betavariate(1, 3)) for n in range(4_000)]
    pauses = [0.2 + PAUSE_SCALE * (chance.random() ** (-1 / PAUSE_SHAPE) - 1) for _ in silences]
    waits = [needed(RULE, Evidence(sound=sound, read=-0.8, spoken=2.0), Pauses()) for _, sound in silences]
    cut = sum(pause > wait for (over, _), pause, wait in zip(silences, pauses, waits, strict=True) if not over)
    delay = sum(wait for (over, _), wait in zip(silences, waits, strict=True) if over) / (len(silences) / 2)
    lengths = sorted(pause for (over, _), pause in zip(silences, pauses, strict=True) if not over)
    fixed = lengths[-cut - 1] if cut else lengths[-1]
    assert 0 < cut < len(lengths) / 4
    assert delay < 0.75 * fixed


def test_a_cut_off_weighs_as_measured_and_more_the_smaller_the_risk() -> None:
    for share, weight in CUT_OFF_WEIGHTS:
        assert cut_off_weight(share) == pytest.approx(weight)
    weights = [cut_off_weight(risk / 1000) for risk in range(1, 1000)]
    assert weights == sorted(weights, reverse=True)


def test_a_smaller_risk_needs_a_longer_silence() -> None:
    rules = [Endpointing(stop=0.2, fallback=5.0, longest=9.0, risk=risk) for risk in (0.5, 0.2, RISK, 0.02)]
    silences = [needed(rule, Evidence(sound=0.9, read=WHOLE, spoken=3.0), Pauses()) for rule in rules]
    assert silences == sorted(silences)
    assert silences[0] == 0.2 < silences[2] < silences[3]


def test_the_turn_is_likely_over_before_it_ends() -> None:
    for sound in (0.05, 0.3, 0.6, 0.9):
        for pauses in (Pauses(), paused(0.6), paused(0.9, 0.0, 1.1)):
            silence = RULE.judge(Evidence(sound=sound, read=-1.0), pauses)
            assert silence.likely <= silence.needed


def test_only_the_latest_turns_count() -> None:
    assert not list(paused(*[1.5] * 8, *[0.0] * 8))
    assert list(paused(*[0.0] * 8, *[1.5] * 3)) == [1.5] * 3
    assert paused(*[1.5] * 20).turns == 8


def test_a_turn_that_was_cut_off_in_a_pause_is_one_turn_with_that_pause() -> None:
    pauses = Pauses()
    pauses.add(0.4)
    pauses.turn_over()
    pauses.turn_goes_on()
    pauses.add(0.9)
    pauses.turn_over()
    assert list(pauses) == [0.4, 0.9]
    assert pauses.turns == 1
