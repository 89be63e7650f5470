"""When a speculative answer may start, and what becomes of it."""

from voice.turns.early_answers import MOST_A_TURN, ExtraRequests
from voice.turns.endpointing import Silence
from voice.turns.speculation import LEAST_APART, LONGEST_WAIT, SpeculativeAnswer, WaitingCalls

FINISHED = Silence(needed=0.2, likely=0.0)
DOUBTFUL = Silence(needed=0.8, likely=0.0)


def started(text: str = "what time is it", now: float = 10.0) -> SpeculativeAnswer:
    speculation = SpeculativeAnswer()
    speculation.turn_began()
    speculation.start(text, now)
    return speculation


def test_finished_words_are_answered_at_the_hint_and_doubtful_ones_shortly_before_the_silence_ends_the_turn() -> None:
    speculation = SpeculativeAnswer()
    assert speculation.due("what time is it", silence=0.096, meaning=FINISHED, now=10.0)
    assert not speculation.due("what time is", silence=0.096, meaning=DOUBTFUL, now=10.0)
    assert speculation.due("what time is", silence=0.21, meaning=DOUBTFUL, now=10.0)
    assert not speculation.due("", silence=0.5, meaning=FINISHED, now=10.0)


def test_no_answer_starts_before_the_turn_is_likely_over() -> None:
    patient = Silence(needed=1.0, likely=0.7)
    assert not SpeculativeAnswer().due("what time is", silence=0.69, meaning=patient, now=10.0)
    assert SpeculativeAnswer().due("what time is", silence=0.71, meaning=patient, now=10.0)


def test_at_most_one_answer_starts_at_a_time_and_none_too_soon_after_the_last() -> None:
    speculation = started(now=10.0)
    assert not speculation.due("what time is it in", silence=0.1, meaning=FINISHED, now=11.0)
    assert speculation.discard()
    assert not speculation.due("what time is it in", silence=0.1, meaning=FINISHED, now=10.0 + LEAST_APART - 0.01)
    assert speculation.due("what time is it in", silence=0.1, meaning=FINISHED, now=10.0 + LEAST_APART)


def test_only_the_same_words_confirm_an_answer() -> None:
    assert started("what time is it").confirm("What time is it?")
    other = started("what time is it")
    assert not other.confirm("what time is it in Rome")
    assert other.discard()
    assert not other.discard()
    assert (other.started, other.discarded) == (1, 1)
    assert not SpeculativeAnswer().confirm("")


def test_a_confirmed_answer_cannot_be_discarded() -> None:
    speculation = started("hello")
    assert speculation.confirm("hello")
    assert not speculation.discard()
    assert (speculation.started, speculation.discarded) == (1, 0)


def test_words_whose_answer_needs_a_tool_are_not_tried_again_in_this_turn() -> None:
    speculation = started("book a table", now=1.0)
    speculation.refuse()
    # The frame that discards it on the way back finds nothing left.
    speculation.refuse()
    assert not speculation.due("book a table", silence=0.1, meaning=FINISHED, now=9.0)
    assert speculation.due("book a table for two", silence=0.1, meaning=FINISHED, now=9.0)
    speculation.turn_began()
    assert speculation.due("book a table", silence=0.1, meaning=FINISHED, now=9.0)


def test_every_turn_counts_from_zero() -> None:
    speculation = started()
    speculation.discard()
    speculation.turn_began()
    assert (speculation.started, speculation.discarded) == (0, 0)


def test_others_wait_until_they_are_answered_or_have_waited_too_long() -> None:
    waiting = WaitingCalls()
    waiting.begin(1, 10.0)
    assert not waiting.others(1, 10.1)
    assert waiting.others(2, 10.1)
    assert not waiting.others(2, 10.0 + LONGEST_WAIT)
    waiting.begin(1, 20.0)
    waiting.end(1)
    waiting.end(1)
    assert not waiting.others(2, 20.1)


def test_early_answers_are_counted_and_do_not_delay_the_answer_at_the_hint() -> None:
    speculation = SpeculativeAnswer(ExtraRequests(2.0))
    assert speculation.may_start_early("what time is it")
    speculation.start_early("what time is it")
    assert not speculation.may_start_early("What time is it?"), "only the spelling has changed"
    assert not speculation.due("what time is it in Rome", silence=0.1, meaning=FINISHED, now=0.1)
    assert speculation.discard()
    assert speculation.due("what time is it in Rome", silence=0.1, meaning=FINISHED, now=0.1)
    assert (speculation.started, speculation.early, speculation.discarded, speculation.extra.made) == (1, 1, 1, 1)


def test_a_turn_starts_few_early_answers_and_none_that_the_budget_forbids() -> None:
    speculation = SpeculativeAnswer(ExtraRequests(9.0))
    for number in range(MOST_A_TURN):
        assert speculation.may_start_early(f"words {number}")
        speculation.start_early(f"words {number}")
        speculation.discard()
    assert not speculation.may_start_early("more words")
    speculation.turn_began()
    assert speculation.may_start_early("more words")
    assert not speculation.may_start_early("")
    assert not SpeculativeAnswer(ExtraRequests(0.0)).may_start_early("words")


def test_only_early_answers_count_against_the_early_requests() -> None:
    speculation = SpeculativeAnswer(ExtraRequests(0.4))
    speculation.start("what time is it", 1.0)
    speculation.discard()
    speculation.start("what time is it", 2.0)
    assert speculation.extra.made == 0
    assert speculation.may_start_early("what time is it in Rome"), "the one under way was not early"


def test_other_words_replace_an_answer_when_they_are_heard_twice_or_go_on() -> None:
    speculation = SpeculativeAnswer(ExtraRequests(9.0))
    assert not speculation.doubts("begin when the leader arrives"), "nothing is under way"
    speculation.start_early("begin when the leader arrives")
    assert not speculation.doubts("Begin when the leader arrives.")
    assert speculation.doubts("begin when the leader arises")
    assert speculation.doubts("begin when the leader rises"), "heard once, like the one before"
    assert not speculation.doubts("begin when the leader rises"), "heard twice"
    assert not speculation.doubts("Begin, when the leader arrives at noon")
    assert speculation.doubts("begin when the leader rises"), "the count starts over"
    speculation.discard()
    speculation.start_early("begin when the leader")
    assert speculation.doubts("begin when a leader")
    speculation.discard()
    speculation.start_early("begin when the leader")
    assert speculation.doubts("begin when a leader"), "another answer, another count"


def test_early_words_whose_answer_needs_a_tool_are_not_tried_again_in_this_turn() -> None:
    speculation = SpeculativeAnswer(ExtraRequests(9.0))
    speculation.start_early("book a table")
    speculation.refuse()
    assert not speculation.may_start_early("book a table")
