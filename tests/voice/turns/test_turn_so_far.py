"""The words of a turn and the silence after them, report by report."""

import pytest

from voice.turns.turn_so_far import DETECTION, MOST_JOINS, ONE_TURN, START_TRIES, TurnSoFar, joined


def spoken(text: str = "what time is it") -> TurnSoFar:
    """A turn with one stretch of speech, recognised at the stop after 0.2 s."""
    turn = TurnSoFar()
    turn.begin()
    turn.speech_started()
    turn.speech_stopped(0.2)
    turn.recognise(text, final=True)
    return turn


def test_a_turn_may_be_over_once_all_speech_is_recognised_and_the_user_is_silent() -> None:
    turn = TurnSoFar()
    turn.begin()
    turn.speech_started()
    assert not turn.may_be_over
    turn.speech_stopped(0.2)
    turn.recognise("what", final=False)
    assert not turn.may_be_over
    turn.recognise("time is it", final=True)
    assert turn.may_be_over
    assert turn.text == "what time is it"
    turn.speech_started()
    assert not turn.may_be_over


def test_eager_words_count_until_speech_resumes_or_the_transcript_comes() -> None:
    turn = TurnSoFar()
    turn.begin()
    turn.speech_started()
    assert not turn.expect("what")  # the user speaks
    turn.speech_may_have_stopped(0.1)
    assert turn.expect("what time")
    assert turn.may_be_answered
    assert not turn.may_be_over
    assert turn.text == "what time"
    turn.speech_resumed()
    assert turn.text == ""
    assert not turn.may_be_answered
    turn.speech_stopped(0.2)
    turn.recognise("what time is it", final=True)
    assert not turn.expect("what time")
    assert turn.text == "what time is it"


def test_silence_is_counted_in_audio_except_around_a_possible_start_of_speech() -> None:
    turn = spoken()
    assert turn.hear(0.5, may_be_starting=False)
    assert turn.silence == 0.7
    assert not turn.hear(0.1, may_be_starting=True)
    assert not turn.hear(START_TRIES, may_be_starting=False)
    assert turn.silence == 0.7
    assert turn.hear(0.1, may_be_starting=False)
    assert 0.79 < turn.silence < 0.81


def test_there_is_no_silence_before_the_first_speech_and_while_the_user_speaks() -> None:
    turn = TurnSoFar()
    assert not turn.hear(1.0, may_be_starting=False)
    assert turn.silence is None
    turn.speech_started()
    assert not turn.hear(1.0, may_be_starting=False)
    assert turn.silence is None


def test_a_caller_who_goes_on_soon_after_the_commit_continues_the_turn() -> None:
    turn = spoken()
    turn.end()
    assert turn.hear(0.3, may_be_starting=False)
    assert turn.begin()
    turn.speech_started()
    assert list(turn.pauses) == [0.5]
    assert turn.pauses.turns == 0
    assert turn.text == "what time is it"
    turn.speech_stopped(0.2)
    turn.recognise("in rome", final=True)
    assert turn.text == "what time is it in rome"
    assert turn.joins == 1


def test_a_caller_who_speaks_after_the_answer_begins_a_new_turn() -> None:
    turn = spoken()
    turn.end()
    assert turn.hear(ONE_TURN, may_be_starting=False)
    turn.begin()
    turn.speech_started()
    assert list(turn.pauses) == []
    assert turn.pauses.turns == 1
    assert turn.text == ""


def test_a_turns_length_counts_its_pauses_and_not_the_silence_after_it() -> None:
    turn = TurnSoFar()
    turn.begin()
    turn.speech_started()
    turn.hear(1.0, may_be_starting=False)
    assert turn.spoken is None
    turn.speech_may_have_stopped(0.1)
    assert turn.spoken == pytest.approx(DETECTION + 0.9)
    turn.hear(0.1, may_be_starting=False)
    turn.speech_stopped(0.2)
    turn.hear(1.0, may_be_starting=False)
    assert turn.spoken == pytest.approx(DETECTION + 0.9)
    turn.speech_started()
    turn.hear(1.0, may_be_starting=False)
    turn.speech_stopped(0.2)
    assert turn.spoken == pytest.approx(DETECTION + 2.9)


def test_a_turn_that_goes_on_after_its_end_keeps_its_length_and_the_next_begins_anew() -> None:
    turn = spoken()
    turn.hear(1.0, may_be_starting=False)
    turn.end()
    turn.begin()
    turn.speech_started()
    turn.hear(1.0, may_be_starting=False)
    turn.speech_stopped(0.2)
    assert turn.spoken == pytest.approx(DETECTION + 1.8)
    turn.end()
    turn.hear(ONE_TURN, may_be_starting=False)
    turn.begin()
    turn.speech_started()
    turn.hear(1.0, may_be_starting=False)
    turn.speech_stopped(0.2)
    assert turn.spoken == pytest.approx(DETECTION + 0.8)


def test_who_has_heard_the_whole_answer_does_not_continue_the_turn() -> None:
    turn = spoken()
    turn.end()
    turn.hear(0.3, may_be_starting=False)
    assert turn.begin()
    turn.answer_ended()  # this turn stopped it
    turn.end()
    assert turn.begin()
    turn.end()
    turn.answer_ended()
    assert not turn.begin()
    assert turn.text == ""


def test_a_turn_is_continued_only_so_often() -> None:
    turn = spoken("and")
    for number in range(MOST_JOINS):
        turn.end()
        assert turn.begin()
        turn.speech_started()
        turn.speech_stopped(0.2)
        turn.recognise("on", final=True)
        assert turn.joins == number + 1
    turn.end()
    assert not turn.begin()
    assert turn.text == ""


def test_speech_before_the_decision_belongs_to_the_turn_that_it_becomes() -> None:
    turn = spoken("count to ten")
    turn.end()
    turn.hear(2.0, may_be_starting=False)
    turn.speech_started()
    turn.hear(1.0, may_be_starting=False)
    turn.speech_stopped(0.2)
    turn.recognise("stop", final=True)
    assert not turn.may_be_over or not turn.is_open
    assert not turn.begin()
    assert turn.text == "stop"
    assert turn.may_be_over
    assert turn.spoken == pytest.approx(DETECTION + 0.8)
    assert list(turn.pauses) == []


def test_speech_before_the_decision_may_continue_the_turn_before_it() -> None:
    turn = spoken("set a timer")
    turn.end()
    turn.hear(0.5, may_be_starting=False)
    turn.speech_started()
    turn.hear(0.6, may_be_starting=False)
    assert turn.begin()
    turn.speech_stopped(0.2)
    turn.recognise("for ten minutes", final=True)
    assert turn.text == "set a timer for ten minutes"
    assert turn.committed == "set a timer"
    assert list(turn.pauses) == [pytest.approx(0.7)]
    assert turn.joins == 1


def test_speech_that_is_set_aside_is_no_part_of_the_next_turn() -> None:
    turn = spoken("count to ten")
    turn.end()
    turn.speech_started()
    turn.speech_stopped(0.2)
    turn.set_aside()
    turn.recognise("yeah", final=True)
    turn.hear(0.5, may_be_starting=False)
    assert not turn.begin()
    turn.speech_started()
    turn.speech_stopped(0.2)
    turn.recognise("stop", final=True)
    assert turn.text == "stop"
    assert list(turn.pauses) == []


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["What is 20%?", "of 50?"], "What is 20% of 50?"),
        (["Remember that my car up.", "is on level 3."], "Remember that my car up is on level 3."),
        (["Set a timer...", "for ten", "", "minutes."], "Set a timer for ten minutes."),
        (["Thank you.", "What time is it?"], "Thank you. What time is it?"),
        (["Wake me at 5 a.m.", "on Monday."], "Wake me at 5 a.m. on Monday."),
        (["what is twenty percent", "of fifty"], "what is twenty percent of fifty"),
        (["On Monday,", "please."], "On Monday, please."),
        (["?", "of 50?"], "of 50?"),
        ([], ""),
    ],
)
def test_a_mark_at_a_pause_is_dropped_where_the_sentence_goes_on(parts: list[str], text: str) -> None:
    assert joined(parts) == text


def test_the_text_of_a_turn_is_that_of_its_stretches_joined() -> None:
    turn = spoken("What is 20%?")
    turn.speech_started()
    turn.speech_may_have_stopped(0.1)
    assert turn.expect("of 50?")
    assert turn.text == "What is 20% of 50?"
    turn.speech_stopped(0.2)
    turn.recognise("of 50?", final=True)
    assert turn.text == "What is 20% of 50?"
    turn.end()
    assert turn.committed == "What is 20% of 50?"


def test_a_revised_text_replaces_the_transcript_before_it() -> None:
    turn = spoken("What is 20%?")
    turn.speech_started()
    assert turn.text == "What is 20%?"
    turn.speech_may_have_stopped(0.1)
    turn.revises = True
    assert turn.expect("What is 20% of 50")
    assert turn.text == "What is 20% of 50"
    turn.speech_resumed()
    assert turn.text == "What is 20%?", "an eager text is forgotten when speech resumes"
    turn.speech_stopped(0.2)
    turn.revises = True
    turn.recognise("What is 20% of 50?", final=True)
    assert turn.words == ["What is 20% of 50?"]
    turn.speech_started()
    turn.speech_stopped(0.2)
    turn.recognise("And of 60?", final=True)
    assert turn.words == ["What is 20% of 50?", "And of 60?"]


def test_words_of_a_committed_turn_are_not_replaced_when_it_goes_on() -> None:
    turn = spoken("Set a timer.")
    turn.end()
    turn.hear(0.3, may_be_starting=False)
    assert turn.begin()
    for text, revises in (("For ten.", False), ("For ten minutes.", True)):
        turn.speech_started()
        turn.speech_stopped(0.2)
        turn.revises = revises
        turn.recognise(text, final=True)
    assert turn.words == ["Set a timer.", "For ten minutes."]
