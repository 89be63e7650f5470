"""How much silence ends a turn, from evidence and the caller's habits."""

import pytest

from voice.turns.endpointing import LONGEST, Endpointing, Evidence, Pauses
from voice.turns.sentence_end import SentenceEnds

RULE = Endpointing(stop=0.2, fallback=0.8)
FIXED = Endpointing(stop=0.2, fallback=0.8, adaptive=False)
WHOLE, CUT = -0.6, -2.0  # base-10 log probabilities of a sentence end


def paused(*turns: float) -> Pauses:
    """A caller whose turns had these longest pauses."""
    pauses = Pauses()
    for pause in turns:
        pauses.add(pause)
        pauses.turn_over()
    return pauses


@pytest.mark.parametrize(
    ("evidence", "least", "most"),
    [
        (Evidence(sound=0.95, read=WHOLE), 0.2, 0.2),
        (Evidence(sound=0.55, read=WHOLE), 0.2, 0.2),
        # It sounds complete, but reads as if more were to come: Smart Turn alone would end it at once.
        (Evidence(sound=0.6, read=CUT), 0.45, 0.79),
        # It reads complete and sounds unfinished.
        (Evidence(sound=0.1, read=WHOLE), 0.3, 0.79),
        # It is a whole request, to which "times four" could be added.
        (Evidence(sound=0.01, read=CUT, whole=True), 0.2, 0.2),
        (Evidence(sound=0.02, read=CUT), 0.75, 0.8),
        (Evidence(sound=0.9), 0.2, 0.2),
        (Evidence(), 0.8, 0.8),
    ],
)
def test_the_less_finished_the_words_the_more_silence(evidence: Evidence, least: float, most: float) -> None:
    assert least <= RULE.silence_needed(evidence, Pauses()) <= most + 1e-9


def test_more_evidence_of_the_end_never_asks_for_more_silence() -> None:
    for read in (CUT, -1.2, WHOLE, None):
        needed = [RULE.silence_needed(Evidence(sound=p / 20, read=read), Pauses()) for p in range(21)]
        assert needed == sorted(needed, reverse=True)
    for sound in (0.05, 0.5, 0.95):
        needed = [RULE.silence_needed(Evidence(sound=sound, read=-r / 10), Pauses()) for r in range(30)]
        assert needed == sorted(needed)


def test_a_fixed_setting_believes_smart_turn_or_waits() -> None:
    assert FIXED.silence_needed(Evidence(sound=0.5, read=CUT), Pauses()) == 0.2
    assert FIXED.silence_needed(Evidence(sound=0.49, read=WHOLE, whole=True), paused(0.7, 0.7)) == 0.8
    assert FIXED.silence_needed(Evidence(), Pauses()) == 0.8


def test_a_caller_who_usually_pauses_is_given_more_time_for_words_in_doubt() -> None:
    unfinished, doubtful, finished = (Evidence(sound=p, read=WHOLE) for p in (0.001, 0.4, 0.99))
    hasty, patient = Pauses(), paused(0.9, 0.8, 1.0)
    assert RULE.silence_needed(unfinished, hasty) < 0.8 < 1.2 < RULE.silence_needed(unfinished, patient)
    assert RULE.silence_needed(doubtful, hasty) == 0.2 < 0.7 < RULE.silence_needed(doubtful, patient)
    assert RULE.silence_needed(finished, hasty) == RULE.silence_needed(finished, patient) == 0.2
    assert RULE.silence_needed(unfinished, paused(9.0, 9.0)) <= LONGEST


def test_short_pauses_and_rare_ones_are_no_habit() -> None:
    unfinished = Evidence(sound=0.01, read=CUT)
    usual = RULE.silence_needed(unfinished, Pauses())
    assert RULE.silence_needed(unfinished, paused(0.25, 0.25, 0.25)) == usual
    assert RULE.silence_needed(unfinished, paused(1.2, 0.0, 0.0, 0.0)) == usual


def test_habits_are_those_of_the_latest_turns() -> None:
    assert paused(*[1.5] * 8, *[0.0] * 8).usual == 0.0
    assert paused(*[0.0] * 8, *[1.5] * 3).usual == 1.5
    assert Pauses().usual == 0.0


def test_the_longest_pause_of_a_turn_counts_also_when_the_turn_was_cut_in_it() -> None:
    pauses = Pauses()
    pauses.add(0.4)
    pauses.turn_over()
    pauses.turn_goes_on()
    pauses.add(0.9)
    pauses.add(0.2)
    pauses.turn_over()
    assert pauses.usual == 0.9


@pytest.mark.parametrize(
    ("whole", "cut"),
    [
        ("set a timer for ten minutes", "set a timer for"),
        ("what time is it", "what time is"),
        ("I would like to go to the station", "I would like to go to the"),
        ("Convert 10 miles to kilometers", "convert 10 miles to"),
        ("he was not an ill disposed young man", "he was not an ill disposed"),
        ("Yes.", "Yes, and then I"),
        ("That is all", "That is all,"),
    ],
)
def test_whole_sentences_read_more_finished_than_cut_ones(whole: str, cut: str) -> None:
    ends = SentenceEnds.shared()
    finished, unfinished = ends.log_probability(whole), ends.log_probability(cut)
    assert finished is not None
    assert unfinished is not None
    assert finished > unfinished + 0.3


def test_nothing_is_said_of_no_words() -> None:
    assert SentenceEnds.shared().log_probability("...") is None


def test_case_and_marks_do_not_count() -> None:
    ends = SentenceEnds.shared()
    assert ends.log_probability("What time is it?") == ends.log_probability("what time is it")
