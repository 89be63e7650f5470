from fractions import Fraction

import pytest

from voice.responder.language.expression import parse_bare, parse_expression
from voice.responder.matching import is_whole_request


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("seven times eight", "56"), ("two plus three times four", "14"), ("two times three plus four", "10"),
        ("ten minus four minus three", "3"), ("ten minus four times two", "2"),
        ("one hundred divided by ten divided by two", "5"),
        ("twelve divided by four times three", "9"), ("five squared", "25"),
        ("three squared plus four squared", "25"), ("the square root of sixteen", "4"),
        ("square root of nine times two", "6"),
        ("minus three squared", "-9"), ("minus five plus three", "-2"), ("five minus minus three", "8"),
        ("negative two times negative three", "6"), ("twenty percent of fifty", "10"),
        ("ten percent of fifty plus five", "10"),
        ("half of ten", "5"), ("a third of nine", "3"), ("three quarters of eight", "6"), ("double eight", "16"),
        ("double two point five", "5"), ("three point five plus one point two five", "4.75"),
        ("zero point one plus zero point two", "0.3"), ("one hundred and twenty five minus one hundred", "25"),
        ("to plus too", "4"), ("for times ate", "32"), ("won plus won", "2"), ("seven time eight", "56"),
        ("seven times wait", "56"), ("7 times 8", "56"), ("1.5 times 4", "6"), ("ten over four", "2.5"),
        ("one million times one million", "1000000000000"), ("five take away two", "3"),
    ],
)  # fmt: skip
def test_sums_are_exact_and_obey_precedence(words: str, value: str) -> None:
    worked = parse_expression(words)
    assert worked is not None
    assert worked.value == Fraction(value)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ("ten divided by zero", "zero"), ("one plus ten divided by zero", "zero"),
        ("square root of minus four", "square root"),
    ],
)  # fmt: skip
def test_an_undefined_sum_is_refused_with_its_reason(words: str, refusal: str) -> None:
    worked = parse_expression(words)
    assert worked is not None
    assert worked.value is None
    assert refusal in (worked.refusal or "")


@pytest.mark.parametrize(
    "words",
    ["seven", "minus seven", "seven times", "times eight", "seven eight plus", "plus", ""],
)
def test_an_unfinished_sum_is_no_sum(words: str) -> None:
    assert parse_expression(words) is None


def test_the_sum_is_repeated_in_digits() -> None:
    worked = parse_expression("two plus three times the square root of four")
    assert worked is not None
    assert worked.text == "2 plus 3 times the square root of 4"


def test_misheard_words_alone_are_no_sum_without_a_question() -> None:
    assert parse_bare("too over for") is None
    assert parse_bare("too over four") is not None


def test_a_long_row_of_numbers_fails_quickly() -> None:
    # An expression that backtracks would take minutes.
    assert not is_whole_request("what is " + "one hundred and two " * 12 + "bananas")
