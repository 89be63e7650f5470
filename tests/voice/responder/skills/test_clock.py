from datetime import datetime

import pytest

from voice.responder.dialogue import Responder
from voice.responder.language.clock_times import say_time

NOW = datetime(2026, 11, 20, 16, 10)


@pytest.mark.parametrize(
    ("heard", "answer"),
    [
        ("what time is it", "It is 4:10 in the afternoon."),
        ("What's the time?", "It is 4:10 in the afternoon."),
        ("the what time is it", "It is 4:10 in the afternoon."),
        ("uh can you tell me what time it is please", "It is 4:10 in the afternoon."),
        ("do you have the time", "It is 4:10 in the afternoon."),
        ("hello what time is it", "It is 4:10 in the afternoon."),
        ("what time will it be in ten minutes", "In 10 minutes it will be 4:20 in the afternoon."),
        ("what day is it", "Today is Friday, November 20."),
        ("what is the date today", "Today is Friday, November 20."),
        ("what's today's date", "Today is Friday, November 20."),
        ("what day is tomorrow", "Tomorrow is Saturday, November 21."),
        ("what day was yesterday", "Yesterday was Thursday, November 19."),
    ],
)
def test_time_and_date_are_answered(heard: str, answer: str) -> None:
    assert Responder().reply(heard, NOW).text == answer


@pytest.mark.parametrize("heard", ["what time is it on the moon", "what year was the war", "what day is the meeting"])
def test_other_times_are_not_answered_with_the_local_one(heard: str) -> None:
    assert Responder().reply(heard, NOW).intent == "no language model"


@pytest.mark.parametrize(
    ("hour", "minute", "text"),
    [
        (0, 0, "midnight"), (0, 5, "12:05 in the morning"), (9, 0, "9 o'clock in the morning"),
        (12, 0, "noon"), (12, 30, "12:30 in the afternoon"), (18, 0, "6 o'clock in the evening"),
        (23, 59, "11:59 at night"),
    ],
)  # fmt: skip
def test_parts_of_the_day_are_named(hour: int, minute: int, text: str) -> None:
    assert say_time(datetime(2026, 1, 1, hour, minute)) == text
