"""How many digits or letters the words end with."""

import pytest

from voice.turns.evidence_gatherer import symbols_at_end


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("five five five", 3),
        ("it is five five five oh one", 5),
        ("my number is 555-0172", 7),
        ("double five one", 2),
        ("forty two seven", 2),
        ("b as in bravo r o", 3),
        ("S, M, I", 3),
        ("set a timer for ten minutes", 0),
        ("five five five please", 0),
        ("", 0),
    ],
)
def test_the_digits_and_letters_at_the_end_are_counted(text: str, count: int) -> None:
    assert symbols_at_end(text) == count
