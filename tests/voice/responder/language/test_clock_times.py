from datetime import datetime

import pytest

from voice.responder.language.clock_times import parse_clock

NOW = datetime(2026, 11, 20, 16, 10)


@pytest.mark.parametrize(
    ("said", "day", "hour", "minute"),
    [
        ("seven", 20, 19, 0), ("four", 21, 4, 0), ("seven o'clock", 20, 19, 0), ("seven a m", 21, 7, 0),
        ("seven in the morning", 21, 7, 0), ("six thirty", 20, 18, 30), ("six oh five", 20, 18, 5),
        ("half past six", 20, 18, 30), ("quarter to nine", 20, 20, 45), ("a quarter past nine", 20, 21, 15),
        ("twenty minutes to one", 21, 0, 40), ("twenty five past five", 20, 17, 25), ("5 30 p m", 20, 17, 30),
        ("17 45", 20, 17, 45), ("9 05 am", 21, 9, 5), ("noon", 21, 12, 0), ("midnight", 21, 0, 0),
        ("tomorrow at nine", 21, 9, 0), ("tomorrow at two", 21, 14, 0), ("nine tomorrow evening", 21, 21, 0),
        ("tomorrow morning at seven", 21, 7, 0), ("eleven at night", 20, 23, 0), ("nine tonight", 20, 21, 0),
        ("two at night", 21, 2, 0), ("twelve", 21, 0, 0),
    ],
)  # fmt: skip
def test_a_time_of_day_is_its_next_occurrence(said: str, day: int, hour: int, minute: int) -> None:
    clock = parse_clock(said)
    assert clock is not None
    assert clock.after(NOW) == datetime(2026, 11, day, hour, minute)


@pytest.mark.parametrize(
    "said", ["", "twenty", "ten minutes", "seventy", "half", "six five", "the morning", "nine ten eleven", "to", "0",
             "seven a m p m", "noon a m", "twenty five thirty", "13 o'clock noon"],
)  # fmt: skip
def test_other_words_are_no_time(said: str) -> None:
    assert parse_clock(said) is None


def test_a_time_that_has_passed_today_does_not_come_again() -> None:
    clock = parse_clock("three in the afternoon today")
    assert clock is not None
    assert clock.after(NOW) is None
