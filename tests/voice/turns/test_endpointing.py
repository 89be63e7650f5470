"""How much silence ends a turn, from evidence and the caller's habits."""

import random

import pytest

from voice.turns.endpointing import (
    HARDLY_LONGER,
    LONGEST_SILENCE,
    PAUSE_SCALE,
    PAUSE_SHAPE,
    PAUSES_BEFORE,
    RISK,
    TURNS_BEFORE,
    Endpointing,
    Pauses,
)
from voice.turns.evidence import Evidence

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
        (Evidence(sound=0.99, read=WHOLE), 0.2, 0.2),
        # It sounds complete, but reads as if more were to come: Smart Turn alone would end it at once.
        (Evidence(sound=0.9, read=CUT), 0.4, 0.79),
        # It reads complete and sounds unfinished.
        (Evidence(sound=0.1, read=WHOLE), 0.3, 0.79),
        # It is a whole request, to which "times four" could be added.
        (Evidence(sound=0.01, read=CUT, whole=True), 0.2, 0.2),
        (Evidence(sound=0.1, read=-1.2), 0.75, 0.8),
        (Evidence(sound=0.01, read=CUT), 1.2, 0.8 * HARDLY_LONGER),
        # It sounds and reads complete, but the agent knows that more must come.
        (Evidence(sound=0.9, read=WHOLE, whole=False), 1.2, 0.8 * HARDLY_LONGER),
        (Evidence(sound=0.99), 0.2, 0.2),
        (Evidence(sound=0.9), 0.2, 0.4),
        (Evidence(), 0.8, 0.8),
    ],
)
def test_less_finished_words_need_more_silence(evidence: Evidence, least: float, most: float) -> None:
    assert least <= needed(RULE, evidence, Pauses()) <= most + 1e-9


def test_more_evidence_of_the_end_never_asks_for_more_silence() -> None:
    for pauses in (Pauses(), paused(0.4), paused(0.9, 0.0, 1.1)):
        for read in (CUT, -1.2, WHOLE, None):
            silences = [RULE.judge(Evidence(sound=p / 20, read=read), pauses) for p in range(21)]
            assert [one.needed for one in silences] == sorted((one.needed for one in silences), reverse=True)
            assert [one.likely for one in silences] == sorted((one.likely for one in silences), reverse=True)
        for sound in (0.05, 0.5, 0.95):
            silences = [RULE.judge(Evidence(sound=sound, read=-r / 10), pauses) for r in range(30)]
            assert [one.needed for one in silences] == sorted(one.needed for one in silences)


def test_without_adaptation_smart_turn_alone_decides() -> None:
    assert needed(FIXED, Evidence(sound=0.5, read=CUT), Pauses()) == 0.2
    assert needed(FIXED, Evidence(sound=0.49, read=WHOLE, whole=True), paused(0.7, 0.7)) == 0.8
    assert needed(FIXED, Evidence(), Pauses()) == 0.8
    assert FIXED.judge(Evidence(), Pauses()).likely == 0.0


def test_a_caller_who_pauses_is_given_more_time_except_after_whole_requests() -> None:
    unfinished, doubtful, finished = (Evidence(sound=p, read=WHOLE) for p in (0.02, 0.7, 0.99))
    hasty, patient = Pauses(), paused(0.9, 0.8, 1.0)
    assert needed(RULE, unfinished, hasty) == 0.8 < 1.2 < needed(RULE, unfinished, patient)
    assert needed(RULE, doubtful, hasty) < 0.45 < 0.7 < needed(RULE, doubtful, patient)
    assert needed(RULE, finished, hasty) == 0.2 < needed(RULE, finished, patient) < 1.0
    assert needed(RULE, Evidence(whole=True), patient) == 0.2
    assert needed(RULE, unfinished, paused(9.0, 9.0)) == LONGEST_SILENCE


def test_a_caller_who_seldom_pauses_waits_no_longer_than_the_silence_timeout() -> None:
    unfinished = Evidence(sound=0.1, read=-1.2)
    assert needed(RULE, unfinished, paused(0.0, 0.0, 0.9)) == 0.8
    assert needed(RULE, unfinished, paused(0.0, 0.9)) == 0.8
    assert needed(RULE, unfinished, paused(0.0, 0.9, 0.9)) > 1.2
    within = paused(0.9, 0.0)
    assert needed(RULE, unfinished, within) == 0.8
    within.add(0.5)
    assert needed(RULE, unfinished, within) > 1.2


def test_the_beginning_of_a_request_is_waited_for_whatever_it_sounds_like() -> None:
    begun, other = Evidence(sound=0.98, read=WHOLE, whole=False), Evidence(sound=0.98, read=WHOLE)
    for turns in range(8):
        assert needed(RULE, begun, paused(*[0.0] * turns)) > 1.2 > needed(RULE, other, paused(*[0.0] * turns))


def test_words_without_evidence_do_not_count_as_hardly_finished() -> None:
    assert needed(RULE, Evidence(), Pauses()) == 0.8
    assert needed(RULE, Evidence(whole=False), Pauses()) > 1.2


def test_the_time_given_is_as_long_as_the_callers_pauses() -> None:
    unfinished = Evidence(sound=0.2, read=CUT)
    short, long = paused(0.25, 0.25, 0.25), paused(0.9, 0.9, 0.9)
    assert needed(RULE, unfinished, short) < needed(RULE, unfinished, long) - 0.3
    rare, often = paused(0.9, 0.0, 0.0, 0.0), paused(0.9, 0.9, 0.9, 0.9)
    doubtful = Evidence(sound=0.9, read=WHOLE)
    assert needed(RULE, doubtful, rare) < needed(RULE, doubtful, often) - 0.1


def test_a_caller_who_has_not_paused_is_answered_sooner_but_never_trusted_fully() -> None:
    doubtful, unfinished = Evidence(sound=0.6, read=WHOLE), Evidence(sound=0.02, read=CUT)
    known = [needed(RULE, doubtful, paused(*[0.0] * turns)) for turns in range(8)]
    assert known == sorted(known, reverse=True)
    assert known[7] < known[0]
    assert needed(RULE, unfinished, paused(*[0.0] * 8)) > 0.7


def test_the_risk_of_cutting_the_caller_off_is_the_stated_one() -> None:
    """Drawn from the rule's own model of a caller: the chance that a pause outlasts the silence waited for."""
    chance = random.Random(1)
    evidence = Evidence(sound=0.5, read=-1.0)
    over = evidence.probability
    patient = Endpointing(stop=0.2, fallback=9.0)
    turns_per_pause = TURNS_BEFORE / PAUSES_BEFORE
    cut, silences = 0, 200_000
    limit = needed(patient, evidence, Pauses())
    for _ in range(silences):
        goes_on = chance.random() < (1 - over) / (1 - over + turns_per_pause * over)
        cut += goes_on and 0.2 + chance.expovariate(chance.gammavariate(PAUSE_SHAPE, 1 / PAUSE_SCALE)) > limit
    assert RISK * 0.9 < cut / silences < RISK * 1.1


def test_a_smaller_risk_needs_a_longer_silence() -> None:
    rules = [Endpointing(stop=0.2, fallback=5.0, risk=risk) for risk in (0.2, 0.05, RISK, 0.002)]
    silences = [needed(rule, Evidence(sound=0.6, read=WHOLE), Pauses()) for rule in rules]
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
