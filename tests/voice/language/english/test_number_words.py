import random
from fractions import Fraction

import pytest

from voice.language.english.number_words import is_exact, parse_number, say_number
from voice.language.english.numbers import cardinal
from voice.responder.language.numbers import sample_number


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("zero", "0"), ("seven", "7"), ("twenty five", "25"), ("one hundred", "100"), ("a hundred", "100"),
        ("one hundred and twenty five", "125"), ("one hundred twenty five", "125"), ("twelve hundred", "1200"),
        ("two thousand five hundred and six", "2506"), ("a million", "1000000"),
        ("five million two hundred", "5000200"),
        ("one hundred twenty three thousand four hundred fifty six", "123456"), ("three point one four", "3.14"),
        ("point five", "0.5"), ("one point five million", "1500000"), ("1.5 million", "1500000"), ("42", "42"),
        ("3.5", "3.5"), ("minus five", "-5"), ("negative two point five", "-2.5"), ("nineteen eighty four", "1984"),
        ("twenty twenty six", "2026"), ("two dozen", "24"), ("for", "4"), ("to", "2"), ("too", "2"), ("won", "1"),
        ("ate", "8"), ("wait", "8"), ("twenty for", "24"),
    ],
)  # fmt: skip
def test_spoken_numbers_have_exact_values(words: str, value: str) -> None:
    assert parse_number(words) == Fraction(value)


@pytest.mark.parametrize(
    "words", ["", "seven eight", "one two three", "point", "three point", "five hundred hundred", "cat", "thirty forty",
              "two thousand three million", "and", "minus"],
)  # fmt: skip
def test_other_words_have_no_value(words: str) -> None:
    assert parse_number(words) is None


@pytest.mark.parametrize("value", [*range(0, 130), 200, 999, 1000, 1001, 12345, 100000, 999999])
def test_spelling_and_reading_a_number_are_inverse(value: int) -> None:
    assert parse_number(cardinal(value)) == value


def test_every_sample_is_a_number() -> None:
    rng = random.Random(1)
    assert all(parse_number(sample_number(rng)) is not None for _ in range(500))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(56), "56"), (Fraction(5280), "5280"), (Fraction(86400), "86,400"), (Fraction(12345678), "12,345,678"),
        (Fraction(7, 2), "3.5"), (Fraction(1, 8), "0.125"), (Fraction(10, 3), "3.33"), (Fraction(2, 3), "0.667"),
        (Fraction(1, 300), "0.00333"), (Fraction(-7, 2), "minus 3.5"), (Fraction("16.09344"), "16.09"),
        (Fraction(0), "0"),
        (Fraction(2) ** 100, "1.27 times 10 to the power of 30"),
        (Fraction(1, 10**7), "1 times 10 to the power of minus 7"),
        (Fraction(100), "100"), (Fraction("0.3"), "0.3"), (Fraction("99999.5"), "99,999.5"),
    ],
)  # fmt: skip
def test_numbers_are_readable_and_rounded_in_answers(value: Fraction, text: str) -> None:
    assert say_number(value) == text


def test_places_limit_even_exact_decimals() -> None:
    assert say_number(Fraction("1.524"), places=2) == "1.52"


def test_only_a_number_said_without_rounding_is_exact() -> None:
    assert is_exact(Fraction("2.5"))
    assert not is_exact(Fraction(1, 3))
