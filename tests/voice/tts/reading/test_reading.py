"""What is said for what is written; `cases.txt` has the table."""

import itertools
import time
from pathlib import Path

import pytest

from voice.llm.answer.clauses import LONGEST
from voice.tts.reading.reading import read_aloud, speech

LINES = Path(__file__).with_name("cases.txt").read_text(encoding="utf-8").splitlines()[1:]
CASES = [tuple(part.strip() for part in line.split("  |  ")) for line in LINES]


def test_the_table_is_long_and_has_no_case_twice() -> None:
    assert len(CASES) == len({written for written, _ in CASES}) >= 150


@pytest.mark.parametrize(("written", "spoken"), CASES, ids=[written for written, _ in CASES])
def test_it_is_read_well(written: str, spoken: str) -> None:
    assert speech(written) == spoken
    assert [word.written for word in read_aloud(written)] == written.split()


@pytest.mark.parametrize(
    "text",
    [
        "Your car is on level three.", "Hello there, how can I help?",
        "Necessary is spelled N, E, C, E, S, S, A, R, Y.",
        "Why can't a nose be twelve inches long?", "I'll wait; you go on!", "A well-known, state-of-the-art idea…",
        "It is May, and Mark will march on Sunday.", "", "Yes",
    ],
)  # fmt: skip
def test_plain_words_are_left_alone(text: str) -> None:
    assert speech(text) == " ".join(text.split())


def test_without_rules_only_markup_is_left_out() -> None:
    read = [word.spoken for word in read_aloud("Das kostet **3,50 €** am 5.1.", rules=())]
    assert read == ["Das", "kostet", "3,50", "€", "am", "5.1."]


def test_words_that_are_said_together_share_what_is_said() -> None:
    read = [(word.written, word.spoken) for word in read_aloud("At 5:30 p.m. it costs $5 million, I think.")]
    assert read == [
        ("At", "At"), ("5:30", "five thirty"), ("p.m.", "P M"), ("it", "it"), ("costs", "costs"), ("$5", "five"),
        ("million,", "million dollars,"), ("I", "I"), ("think.", "think."),
    ]  # fmt: skip
    assert [word.spoken for word in read_aloud("# Heading with 🎉 **bold** text")] == [
        "", "Heading", "with", "", "bold", "text",
    ]  # fmt: skip


def test_nothing_takes_long_to_read() -> None:
    """The longest piece of an answer, of any parts: no pattern may try more and more ways to read it."""
    parts = [
        "1",
        "1,",
        "1.",
        "/1",
        "-1",
        ":11",
        " 1",
        "$1",
        "*",
        "_",
        "[",
        "](",
        "<a ",
        "a@",
        "a.",
        "A1",
        "|",
        "#",
        "+1 ",
    ]
    began = time.process_time()
    for one, other in itertools.product(parts, parts):
        text = ((one + other) * LONGEST)[:LONGEST]
        assert len(read_aloud(text)) == len(text.split())
    assert time.process_time() - began < 30


def test_an_ordinary_sentence_is_read_in_no_time() -> None:
    text = "Your appointment is on November 20 at 4:30 p.m., and it will cost about $45.50, or 10% less for members."
    began = time.process_time()
    for _ in range(100):
        read_aloud(text)
    assert time.process_time() - began < 1
