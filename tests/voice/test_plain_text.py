"""Text from outside can be encoded, holds no control characters, and loses nothing else, however it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.plain_text import PlainStream, plain, plain_values

AWKWARD = st.text(st.sampled_from("a \n\r\t\0\x1b[31m;\x07\ud83d\ude00\u2028é😀\ufeff"), max_size=40)


def streamed(text: str, cuts: list[int]) -> str:
    stream = PlainStream()
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    pieces = [stream.feed(text[start:end]) for start, end in zip(bounds, bounds[1:], strict=False)]
    return "".join(pieces) + stream.flush()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Grüße, 5 < 6.\tSo\n", "Grüße, 5 < 6.\tSo\n"),
        ("\ud83d\ude00 whole", "😀 whole"),
        ("half \ud83d and \ude00.", "half  and ."),
        ("Hello\0 there", "Hello there"),
        ("so\x1b[31m on\x07", "so on"),
        ("\x1b[999", "[999"),
        ("a\r\nb\rc\x0bd\u2028e", "a\nb\nc\nd\ne"),
        ("👩\u200d🚒", "👩\u200d🚒"),
    ],
)
def test_what_is_no_text_is_left_out(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(AWKWARD, st.lists(st.integers(0, 40), max_size=5))
def test_it_is_the_same_however_it_is_cut_and_can_always_be_sent(text: str, cuts: list[int]) -> None:
    assert streamed(text, cuts) == plain(text)
    plain(text).encode()
    assert plain(plain(text)) == plain(text)


def test_values_are_made_plain_at_any_depth() -> None:
    value = {"city\0": ["Paris\ud83d", {"n": 1, "x": None}], "ok": True}
    assert plain_values(value) == {"city": ["Paris", {"n": 1, "x": None}], "ok": True}
