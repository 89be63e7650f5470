"""When a part has hung, by a manual clock."""

import pytest

from voice.frames import TurnEndFrame
from voice.watchdog.hangs import BLOCKED, Hang, HangDetector, Limits, Reminder

SILENCE, GIVE_UP = 8.0, 30.0


@pytest.fixture
def watch() -> HangDetector:
    return HangDetector(Limits(silence=SILENCE, give_up=GIVE_UP))


def said(watch: HangDetector, at: float) -> None:
    """The caller speaks for a second, to whose end this is the time."""
    watch.speech_started(at - 1)
    watch.turn_opened(at - 0.9)
    watch.speech_stopped(at, 0.2)


def committed(watch: HangDetector, at: float) -> None:
    """The caller's turn is over at this time, and a model is asked."""
    said(watch, at - 0.3)
    watch.heard(at - 0.1, "words", final=True)
    watch.turn_ended(at, TurnEndFrame(ended_by="smart_turn"))
    watch.turn_closed(at)
    watch.asked(at)


def hang(found: object) -> Hang:
    assert isinstance(found, Hang)
    return found


def test_a_silent_caller_waits_for_nothing(watch: HangDetector) -> None:
    assert watch.due is None
    watch.speech_started(1)
    watch.speech_stopped(2, 0.2)
    assert watch.due is None, "a sound that is no turn"


def test_a_recogniser_without_text(watch: HangDetector) -> None:
    said(watch, 10)
    assert watch.due == 10 + SILENCE
    assert watch.check(17.9) is None
    found = hang(watch.check(18))
    assert (found.part, found.seconds, found.times, found.ends_call) == ("recogniser", 8, 1, False)
    assert watch.due is None, "it is found once"


def test_text_in_parts_keeps_the_recogniser_alive(watch: HangDetector) -> None:
    said(watch, 10)
    watch.heard(15, "words", final=False)
    assert watch.due == 15 + SILENCE


@pytest.mark.parametrize("words", [True, False])
def test_a_turn_that_the_pipeline_ended_without_turn_taking(watch: HangDetector, words: bool) -> None:
    said(watch, 10)
    if words:
        watch.heard(10.1, "words", final=True)
    watch.turn_closed(15)
    # With words, a processor between recogniser and turn taking may have dropped them; without, they are still owed.
    assert watch.due == (None if words else 18)


def test_an_end_of_turn_that_is_never_decided(watch: HangDetector) -> None:
    said(watch, 10)
    watch.heard(10.2, "words", final=True)
    assert hang(watch.check(18.2)).part == "turn taking"


def test_a_turn_that_nobody_answers(watch: HangDetector) -> None:
    said(watch, 10)
    watch.heard(10.2, "words", final=True)
    watch.turn_ended(10.5, TurnEndFrame(ended_by="smart_turn"))
    watch.turn_closed(10.5)
    assert hang(watch.check(18.5)).part == "turn taking"


@pytest.mark.parametrize("answered", [True, False])
def test_a_turn_without_words_waits_for_nothing(watch: HangDetector, answered: bool) -> None:
    said(watch, 10)
    if answered:
        watch.heard_nothing(10.2)
    watch.turn_ended(10.5, TurnEndFrame(ended_by="nothing_heard"))
    watch.turn_closed(10.5)
    assert watch.due is None


def test_the_caller_goes_on(watch: HangDetector) -> None:
    said(watch, 10)
    watch.speech_started(12)
    assert watch.due is None
    watch.speech_stopped(30, 0.2)
    assert watch.due == 38


def test_a_model_is_said_to_work_until_it_is_given_up(watch: HangDetector) -> None:
    committed(watch, 10)
    assert watch.check(18) == Reminder(part="language model")
    watch.to_speak(18)
    watch.speech_begun(18, "It is noon.", "a")
    watch.speech_made(18.1, 1.0, "a")
    watch.speech_sent(18.9, 1.0)
    watch.agent_stopped(19)
    assert watch.check(27) == Reminder(part="language model")
    assert watch.check(35) == Reminder(part="language model")
    found = hang(watch.check(43))
    assert (found.part, found.seconds, found.ends_call) == ("language model", 33, False)


def test_a_model_whose_answer_is_on_the_way_when_the_turn_ends(watch: HangDetector) -> None:
    said(watch, 10)
    watch.heard(10.1, "words", final=True)
    watch.turn_ended(10.2, TurnEndFrame(ended_by="smart_turn", confirmed=True))
    watch.turn_closed(10.2)
    assert watch.check(18.2) == Reminder(part="language model")


def test_a_model_that_ends_without_a_word(watch: HangDetector) -> None:
    committed(watch, 10)
    watch.model_ended(11)
    assert watch.due == 10 + SILENCE


def test_a_tool_that_does_not_return(watch: HangDetector) -> None:
    committed(watch, 10)
    watch.tool_began(11, "a")
    watch.model_ended(11)
    assert watch.check(19) == Reminder(part="tool")
    watch.tool_ended(20, "a", goes_on=True)
    assert watch.check(28) == Reminder(part="language model")
    watch.tool_began(29, "b")
    assert hang(watch.check(29 + GIVE_UP)).part == "tool"


def test_a_tool_after_which_nothing_is_asked(watch: HangDetector) -> None:
    committed(watch, 10)
    watch.tool_began(11, "a")
    watch.model_ended(11)
    watch.tool_ended(12, "a", goes_on=False)
    assert watch.due is None


def answering(watch: HangDetector, *, clauses: int) -> None:
    """A model has given so many clauses by 11, and is done."""
    committed(watch, 10)
    watch.text_came(11, clauses=clauses)
    watch.model_ended(11)


def test_synthesis_without_a_sound(watch: HangDetector) -> None:
    answering(watch, clauses=1)
    watch.speech_begun(11.1, "It is noon.", "a")
    found = hang(watch.check(19))
    assert (found.part, found.ends_call, found.answered) == ("synthesis", False, False)
    watch.to_speak(19, reason=True)
    found = hang(watch.check(27))
    assert (found.part, found.ends_call) == ("synthesis", True), "the reason cannot be said either"


def test_synthesis_that_loses_a_later_clause(watch: HangDetector) -> None:
    answering(watch, clauses=2)
    watch.speech_begun(11.1, "It is noon.", "a")
    watch.speech_made(11.2, 1.0, "a")
    watch.speech_sent(12, 1.0)
    watch.agent_stopped(12)
    found = hang(watch.check(20))
    assert (found.part, found.answered) == ("synthesis", True)


def test_a_long_answer_is_no_silence(watch: HangDetector) -> None:
    answering(watch, clauses=2)
    for _ in range(2):
        watch.speech_begun(11.1, "It is noon.", "a")
        watch.speech_made(11.2, 10.0, "a")
    for second in range(12, 32):
        assert watch.check(second) is None
        watch.speech_sent(second, 1.0)
    watch.agent_stopped(32)
    assert watch.due is None


def test_a_transport_that_sends_nothing_ends_the_call(watch: HangDetector) -> None:
    answering(watch, clauses=1)
    watch.speech_begun(11.1, "It is noon.", "a")
    watch.speech_made(11.2, 10.0, "a")
    watch.speech_sent(12, 0.02)
    found = hang(watch.check(20))
    assert (found.part, found.ends_call, found.answered) == ("transport", True, True)


def test_while_the_caller_speaks_over_it_nothing_is_due(watch: HangDetector) -> None:
    answering(watch, clauses=1)
    watch.speech_started(12)
    assert watch.due is None
    watch.turn_opened(12.5)
    watch.speech_stopped(13, 0.2)
    watch.heard_nothing(13.2)
    assert watch.due is None


def test_the_third_hang_in_a_row_ends_the_call(watch: HangDetector) -> None:
    for number in range(3):
        said(watch, 100 * number)
        found = hang(watch.check(100 * number + SILENCE))
        assert (found.times, found.ends_call) == (number + 1, number == 2)


def test_an_answer_between_two_hangs(watch: HangDetector) -> None:
    said(watch, 0)
    assert hang(watch.check(SILENCE)).times == 1
    answering(watch, clauses=0)
    said(watch, 100)
    assert hang(watch.check(100 + SILENCE)).times == 1


def test_audio_that_does_not_come_through(watch: HangDetector) -> None:
    for _ in range(2 * BLOCKED):
        watch.audio_came()
    assert watch.due is None, "a pipeline whose processors keep audio to themselves is not watched for it"
    watch.audio_through(1)
    for _ in range(BLOCKED):
        watch.audio_came()
    watch.speech_started(2)
    found = hang(watch.check(9))
    assert (found.part, found.times, found.ends_call) == (None, 1, False)
    assert watch.due is None, "a client that sends nothing more is not waited for"
    for _ in range(BLOCKED):
        watch.audio_came()
    assert hang(watch.check(17)).ends_call


def test_a_microphone_that_is_switched_off(watch: HangDetector) -> None:
    for _ in range(BLOCKED - 1):
        watch.audio_came()
    watch.audio_through(1)
    watch.audio_came()
    assert watch.due is None


def test_nobody_waits_while_the_client_is_away(watch: HangDetector) -> None:
    answering(watch, clauses=1)
    watch.paused(True, 12)
    assert watch.due is None
    watch.paused(False, 40)
    assert watch.due == 48


def test_audio_that_could_not_be_sent_while_the_client_was_away_is_sent_when_it_is_back(watch: HangDetector) -> None:
    answering(watch, clauses=1)
    watch.speech_begun(11, "It is noon.", "a")
    watch.speech_made(11, 5.0, "a")
    watch.speech_sent(11.5, 0.5)
    watch.paused(True, 12)
    watch.paused(False, 40, again=3)
    assert watch.check(40) is None
    watch.speech_sent(40.1, 0.02)
    assert watch.due == 51, "its turn comes when the client has played what it was sent again"
    assert hang(watch.check(51)).part == "transport"
