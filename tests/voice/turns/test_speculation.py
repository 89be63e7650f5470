"""When an answer may be begun ahead of the end of a turn."""

from voice.turns.endpointing import Silence
from voice.turns.speculation import LEAST_APART, PATIENCE, Speculation, Waiting

FINISHED = Silence(needed=0.2, likely=0.0)
DOUBTFUL = Silence(needed=0.8, likely=0.0)


def begun(text: str = "what time is it", now: float = 10.0) -> Speculation:
    speculation = Speculation()
    speculation.turn_began()
    speculation.start(text, now)
    return speculation


def test_finished_words_are_answered_at_the_hint_and_doubtful_ones_shortly_before_they_count_as_finished() -> None:
    speculation = Speculation()
    assert speculation.due("what time is it", silence=0.096, meaning=FINISHED, now=10.0)
    assert not speculation.due("what time is", silence=0.096, meaning=DOUBTFUL, now=10.0)
    assert speculation.due("what time is", silence=0.21, meaning=DOUBTFUL, now=10.0)
    assert not speculation.due("", silence=0.5, meaning=FINISHED, now=10.0)


def test_nothing_is_begun_before_the_turn_is_likely_over() -> None:
    patient = Silence(needed=1.0, likely=0.7)
    assert not Speculation().due("what time is", silence=0.69, meaning=patient, now=10.0)
    assert Speculation().due("what time is", silence=0.71, meaning=patient, now=10.0)


def test_at_most_one_at_a_time_and_none_too_soon_after_the_last() -> None:
    speculation = begun(now=10.0)
    assert not speculation.due("what time is it in", silence=0.1, meaning=FINISHED, now=11.0)
    assert speculation.withdraw()
    assert not speculation.due("what time is it in", silence=0.1, meaning=FINISHED, now=10.0 + LEAST_APART - 0.01)
    assert speculation.due("what time is it in", silence=0.1, meaning=FINISHED, now=10.0 + LEAST_APART)


def test_it_is_confirmed_by_the_same_words_only() -> None:
    assert begun("what time is it").confirm("What time is it?")
    other = begun("what time is it")
    assert not other.confirm("what time is it in Rome")
    assert other.withdraw()
    assert not other.withdraw()
    assert (other.started, other.discarded) == (1, 1)
    assert not Speculation().confirm("")


def test_what_was_confirmed_cannot_be_withdrawn() -> None:
    speculation = begun("hello")
    assert speculation.confirm("hello")
    assert not speculation.withdraw()
    assert (speculation.started, speculation.discarded) == (1, 0)


def test_words_whose_answer_needs_a_tool_are_not_tried_again_in_this_turn() -> None:
    speculation = begun("book a table", now=1.0)
    speculation.refuse()
    # What withdraws it on the way back finds nothing any more.
    speculation.refuse()
    assert not speculation.due("book a table", silence=0.1, meaning=FINISHED, now=9.0)
    assert speculation.due("book a table for two", silence=0.1, meaning=FINISHED, now=9.0)
    speculation.turn_began()
    assert speculation.due("book a table", silence=0.1, meaning=FINISHED, now=9.0)


def test_counts_are_those_of_the_turn() -> None:
    speculation = begun()
    speculation.withdraw()
    speculation.turn_began()
    assert (speculation.started, speculation.discarded) == (0, 0)


def test_others_wait_until_they_are_answered_or_too_late() -> None:
    waiting = Waiting()
    waiting.begin(1, 10.0)
    assert not waiting.others(1, 10.1)
    assert waiting.others(2, 10.1)
    assert not waiting.others(2, 10.0 + PATIENCE)
    waiting.begin(1, 20.0)
    waiting.end(1)
    waiting.end(1)
    assert not waiting.others(2, 20.1)
