"""Text is cut where a speaker would pause, and nowhere else."""

import time

import pytest

from voice.tts.clauses import ClauseSplitter


def cut(text: str, size: int) -> list[str]:
    splitter = ClauseSplitter()
    pieces: list[str] = []
    for start in range(0, len(text), size):
        pieces += splitter.feed(text[start : start + size])
    rest = splitter.flush()
    return pieces + ([rest] if rest else [])


CASES = [
    ("It is 4:10 in the afternoon.", ["It is 4:10 in the afternoon."]),
    ("10 miles is 16.09 kilometers. Next?", ["10 miles is 16.09 kilometers.", "Next?"]),
    ("That makes 1,000,000 of them, or more. Yes.", ["That makes 1,000,000 of them,", "or more.", "Yes."]),
    ("Hello, how are you?", ["Hello, how are you?"]),
    (
        "Once upon a time, there was a bell. It rang, loudly.",
        ["Once upon a time,", "there was a bell.", "It rang, loudly."],
    ),
    (
        "Dr. Smith met Mr. J. Jones at 5 p.m. today. Then he left.",
        ["Dr. Smith met Mr. J. Jones at 5 p.m. today.", "Then he left."],
    ),
    ('She said "Stop!" and he did. Fine.', ['She said "Stop!"', "and he did.", "Fine."]),
    ("Wait... what? No!", ["Wait...", "what?", "No!"]),
    ("no mark at all", ["no mark at all"]),
    ("So do I. Good.", ["So do I.", "Good."]),
    ("   ", []),
    (" . . . ", []),
    ("🙂", []),
    ("... Well. 🙂", ["Well."]),
]


@pytest.mark.parametrize(("text", "pieces"), CASES)
@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_pieces_do_not_depend_on_how_the_text_streams_in(text: str, pieces: list[str], size: int) -> None:
    assert cut(text, size) == pieces


def test_a_long_later_sentence_is_cut_at_a_clause() -> None:
    long = "This goes on " + "and on " * 15 + "until it stops, here. End."
    assert cut("First. " + long, 5)[1].endswith("until it stops,")


@pytest.mark.parametrize("unit", ["word ", "So it is. ", "etc. ", "a, "])
def test_a_megabyte_at_once_holds_nobody_up(unit: str) -> None:
    splitter = ClauseSplitter()
    began = time.process_time()
    splitter.feed(unit * (1_000_000 // len(unit)))
    assert time.process_time() - began < 2.0


def test_no_word_is_lost_or_changed() -> None:
    text = "A, b c d, e. F; g h i: j k — l m? N. " * 9
    assert " ".join(cut(text, 4)).split() == text.split()


def test_the_first_piece_is_released_before_the_sentence_ends() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("Giraffe is spelled G, ") == ["Giraffe is spelled G,"]


def test_an_interruption_drops_what_was_pending() -> None:
    splitter = ClauseSplitter()
    splitter.feed("This was never fin")
    splitter.reset()
    assert splitter.flush() is None
    assert splitter.pending == ""
