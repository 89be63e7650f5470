from datetime import datetime

import pytest

from voice.responder.dialogue import Responder

NOW = datetime(2026, 11, 20, 16, 10)


@pytest.mark.parametrize(
    ("heard", "answer"),
    [
        ("how many feet are in a mile", "There are 5280 feet in a mile."),
        ("how many feet and a mile", "There are 5280 feet in a mile."),
        ("how many feet in one mile", "There are 5280 feet in 1 mile."),
        ("how many ounces in a pound", "There are 16 ounces in a pound."),
        ("how many ounces are there in a cup", "There are 8 fluid ounces in a cup."),
        ("could you please tell me how many feet there are in a mile", "There are 5280 feet in a mile."),
        ("how many cups in a gallon", "There are 16 cups in a gallon."),
        ("how many minutes in a day", "There are 1440 minutes in a day."),
        ("how many seconds are in an hour", "There are 3600 seconds in an hour."),
        ("how many seconds in a year", "There are 31,536,000 seconds in a year."),
        ("how many inches in half a mile", "There are 31,680 inches in half a mile."),
        ("how many meters in two and a half kilometers", "There are 2500 meters in 2.5 kilometers."),
        ("how many miles in a kilometer", "There are 0.621 miles in a kilometer."),
        ("how many days are in three weeks", "There are 21 days in 3 weeks."),
        ("how many centuries in one hundred years", "There is 1 century in 100 years."),
        ("convert ten miles to kilometers", "10 miles is 16.09 kilometers."),
        ("convert a mile to kilometers", "1 mile is 1.61 kilometers."),
        ("convert to miles to kilometers", "2 miles is 3.22 kilometers."),
        ("Convert 5.5 kg to pounds.", "5.5 kilograms is 12.13 pounds."),
        ("what is one hundred pounds in kilograms", "100 pounds is 45.36 kilograms."),
        ("what is twenty degrees celsius in fahrenheit", "20 degrees celsius is 68 degrees fahrenheit."),
        ("What's 72°F in Celsius?", "72 degrees fahrenheit is 22.22 degrees celsius."),
        ("what is minus forty celsius in fahrenheit", "Minus 40 degrees celsius is minus 40 degrees fahrenheit."),
        ("what is zero kelvin in celsius", "0 degrees kelvin is minus 273.15 degrees celsius."),
        ("convert sixty miles per hour to kilometers per hour", "60 miles per hour is 96.56 kilometers per hour."),
        ("ten kilometers in miles", "10 kilometers is 6.21 miles."),
        ("how many feet in a pound", "I can't convert pounds to feet: one measures weight, the other length."),
    ],
)
def test_conversions_are_right_and_rounded(heard: str, answer: str) -> None:
    assert Responder().reply(heard, NOW).text == answer


@pytest.mark.parametrize(
    "heard",
    ["how many feet are in", "convert ten miles", "convert ten miles to", "how many feet"],
)
def test_an_unfinished_conversion_is_not_guessed(heard: str) -> None:
    assert Responder().reply(heard, NOW).intent != "units"
