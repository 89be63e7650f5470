from datetime import datetime, timedelta

import pytest

from voice.responder.dialogue import Responder

START = datetime(2026, 11, 20, 16, 10)


class Call:
    """A responder with a clock that moves by hand."""

    def __init__(self) -> None:
        self.responder = Responder()
        self.now = START

    def say(self, text: str, *, after: float = 0.0) -> str:
        self.now += timedelta(seconds=after)
        return self.responder.reply(text, self.now).text


@pytest.fixture
def call() -> Call:
    return Call()


@pytest.mark.parametrize(
    ("heard", "answer", "seconds"),
    [
        ("set a timer for ten seconds", "Timer set for 10 seconds.", 10),
        ("could you please set a timer for five minutes", "Timer set for 5 minutes.", 300),
        ("please set a timer for ten minutes because i have bread in the oven", "Timer set for 10 minutes.", 600),
        ("set a timer for for minutes", "Timer set for 4 minutes.", 240),
        ("set a timer four ten minutes", "Timer set for 10 minutes.", 600),
        ("Set a 10-second timer.", "Timer set for 10 seconds.", 10),
        ("set another timer for an hour and a half", "Timer set for 1 hour and 30 minutes.", 5400),
        ("start a ninety second timer", "Timer set for 90 seconds.", 90),
        ("timer for two minutes", "Timer set for 2 minutes.", 120),
        ("set a pasta timer for eight minutes", "Pasta timer set for 8 minutes.", 480),
        ("wake me up in half an hour", "Timer set for 30 minutes.", 1800),
    ],
)
def test_a_timer_is_started_as_asked(heard: str, answer: str, seconds: float) -> None:
    reply = Responder().reply(heard, START)
    assert reply.text == answer
    assert reply.timer is not None
    assert reply.timer.seconds == seconds
    assert reply.timer.due == START + timedelta(seconds=seconds)


def test_a_timer_that_runs_out_announces_itself_once(call: Call) -> None:
    timer = call.responder.reply("set a timer for ten seconds", call.now).timer
    assert timer is not None
    assert call.responder.finish(timer) == "Your 10 second timer is done."
    assert call.responder.finish(timer) is None
    assert call.say("say that again") == "Your 10 second timer is done."


def test_time_left_follows_the_clock(call: Call) -> None:
    call.say("set a timer for two minutes")
    assert call.say("how long is left on the timer", after=30) == "There is 1 minute and 30 seconds left on the timer."
    assert call.say("how much time is left", after=85) == "There are 5 seconds left on the timer."
    assert call.say("how long is left on the timer", after=10) == "There is no timer running."


def test_the_only_timer_is_cancelled_and_then_never_announced(call: Call) -> None:
    timer = call.responder.reply("set a timer for ten seconds", call.now).timer
    reply = call.responder.reply("cancel the timer", call.now)
    assert reply.text == "Timer cancelled."
    assert reply.cancelled == (timer,)
    assert timer is not None
    assert call.responder.finish(timer) is None
    assert call.say("cancel the timer") == "There is no timer running."


def test_the_user_chooses_among_several_timers(call: Call) -> None:
    call.say("set a timer for ten seconds")
    call.say("set a pasta timer for five minutes")
    assert "Which one" in call.say("cancel the timer")
    assert call.say("the pasta one") == "Timer cancelled."
    assert call.say("how many timers do i have") == "You have 1 timer, for 10 seconds."


def test_any_other_request_drops_the_question_which_timer_to_cancel(call: Call) -> None:
    call.say("set a timer for ten seconds")
    call.say("set a timer for five minutes")
    call.say("cancel the timer")
    call.say("what time is it")
    call.say("the five minute one")
    assert call.say("how many timers do i have").startswith("You have 2 timers")


def test_timers_are_cancelled_by_length_by_that_or_all_together(call: Call) -> None:
    for length in ("ten seconds", "five minutes", "one hour", "two hours"):
        call.say(f"set a timer for {length}")
    assert call.say("cancel the five minute timer") == "Timer cancelled."
    assert call.say("cancel the seven minute timer") == "There is no 7 minute timer running."
    assert call.say("cancel that") == "Your 2 hour timer is cancelled."
    assert call.say("cancel all timers") == "All 2 timers cancelled."
    assert call.say("cancel that") == "Okay."


def test_a_missing_length_is_asked_for(call: Call) -> None:
    assert call.say("set a timer for") == "For how long should I set the timer?"
    assert call.say("ten seconds") == "Timer set for 10 seconds."
    assert call.responder.reply("ten seconds", call.now).timer is None


def test_several_timers_are_reported_with_the_next_to_end_first(call: Call) -> None:
    call.say("set a timer for five minutes")
    call.say("set a timer for ten seconds")
    assert call.say("how long is left on the timer") == (
        "Your 10 second timer has 10 seconds left. Your 5 minute timer has 5 minutes left."
    )
