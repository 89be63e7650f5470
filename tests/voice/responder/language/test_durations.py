import random

import pytest

from voice.responder.language.durations import attributive, parse_duration, sample_duration, say_seconds


@pytest.mark.parametrize(
    ("words", "seconds", "text"),
    [
        ("ten seconds", 10, "10 seconds"),
        ("a minute", 60, "1 minute"),
        ("ninety seconds", 90, "90 seconds"),
        ("an hour and a half", 5400, "1 hour and 30 minutes"),
        ("half an hour", 1800, "30 minutes"),
        ("a quarter of an hour", 900, "15 minutes"),
        ("two and a half minutes", 150, "2 minutes and 30 seconds"),
        ("one minute thirty", 90, "1 minute and 30 seconds"),
        ("two hours and thirty minutes", 9000, "2 hours and 30 minutes"),
        ("one hour two minutes and three seconds", 3723, "1 hour, 2 minutes, 3 seconds"),
        ("1.5 hours", 5400, "1 hour and 30 minutes"),
        ("for minutes", 240, "4 minutes"),
        ("one hundred and twenty seconds", 120, "120 seconds"),
        ("0.5 seconds", 0.5, "0.5 seconds"),
    ],
)
def test_spoken_durations_have_seconds_and_keep_the_users_units(words: str, seconds: float, text: str) -> None:
    duration = parse_duration(words)
    assert duration is not None
    assert (duration.seconds, duration.text) == (seconds, text)


@pytest.mark.parametrize(
    "words", ["ten", "minutes", "ten seconds two hours", "zero seconds", "minus five minutes", "a banana", "",
              "nine hundred days", "ten minutes ninety"],
)  # fmt: skip
def test_other_words_are_no_duration(words: str) -> None:
    assert parse_duration(words) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "less than a second"), (1, "1 second"), (65, "1 minute and 5 seconds"), (59.6, "1 minute"),
     (3723, "1 hour, 2 minutes and 3 seconds"), (86400, "1 day")],
)  # fmt: skip
def test_measured_time_is_said_in_whole_seconds(seconds: float, text: str) -> None:
    assert say_seconds(seconds) == text


def test_a_duration_before_a_noun_loses_its_plural() -> None:
    assert attributive("1 minute and 30 seconds") == "1 minute and 30 second"


def test_every_sample_is_a_duration() -> None:
    rng = random.Random(1)
    assert all(parse_duration(sample_duration(rng)) for _ in range(300))
