"""What is said for what is written; `cases.txt` and `cases_de.txt` have the tables."""

import itertools
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from voice.language import Language
from voice.language.sentence_ends import dot_ends
from voice.llm.answer.clauses import LONGEST, ClauseSplitter
from voice.tts.piper.voice import Voice, embedded_voice
from voice.tts.reading.reading import read_aloud, speech

_ESCAPE = re.compile(r"\\(?:u(?P<four>[0-9a-fA-F]{4})|U(?P<eight>[0-9a-fA-F]{8})|(?P<char>[nt\\]))")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(
        lambda found: (
            chr(int(found["four"] or found["eight"], 16))
            if not found["char"]
            else {"n": "\n", "t": "\t"}.get(found["char"], found["char"])
        ),
        text,
    )


def _table(name: str) -> list[tuple[str, str]]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()[1:]
    return [
        (_unescaped(written.strip()), spoken.strip()) for written, _, spoken in (x.partition("  |  ") for x in lines)
    ]


TABLES: dict[Language, list[tuple[str, str]]] = {"en": _table("cases.txt"), "de": _table("cases_de.txt")}
CASES = [(language, *case) for language, table in TABLES.items() for case in table]


def clauses(text: str, language: Language, sizes: Callable[[], int]) -> list[str]:
    """The clauses of a text that streams in."""
    splitter, found, at = ClauseSplitter(language=language), list[str](), 0
    while at < len(text):
        size = sizes()
        found += splitter.feed(text[at : at + size])
        at += size
    rest = splitter.flush()
    return [*found, rest] if rest else found


@pytest.fixture(scope="module")
def given() -> Callable[[str, Language], list[str]]:
    """The sentences that Piper is given for a clause."""
    voice = Voice(embedded_voice(), streaming=False)

    def sentences_for(clause: str, language: Language) -> list[str]:
        voice._language = voice._reads = language
        said = list[str]()
        voice._phoneme_ids = lambda sentence: said.append(sentence) or []  # type: ignore[method-assign,func-returns-value]
        list(voice.pieces(clause))
        return [sentence for sentence in said if sentence]

    return sentences_for


def test_the_tables_are_long_and_have_no_case_twice() -> None:
    assert len(TABLES["en"]) == len({written for written, _ in TABLES["en"]}) >= 440
    assert len(TABLES["de"]) == len({written for written, _ in TABLES["de"]}) >= 40


@pytest.mark.parametrize(("language", "written", "spoken"), CASES, ids=[f"{case[0]} {case[1]}" for case in CASES])
def test_it_is_read_well(
    language: Language, written: str, spoken: str, given: Callable[[str, Language], list[str]]
) -> None:
    """From the stream of an answer to what Piper is given."""
    pieces = clauses(written, language, lambda: 7)
    assert " ".join(said for piece in pieces for said in given(piece, language)) == spoken
    assert [word.written for word in read_aloud(written, language=language)] == written.split()


def test_clauses_do_not_depend_on_how_the_text_streams_in() -> None:
    chance = random.Random(7)
    for language, table in TABLES.items():
        texts = [written for written, _ in table]
        texts += [" ".join(chance.sample(texts, 4)) for _ in range(200)]
        for text in texts:
            whole = clauses(text, language, lambda: 10_000)
            for sizes in (lambda: 1, lambda: 3, lambda: chance.choice((1, 2, 5, 11))):
                assert clauses(text, language, sizes) == whole


@pytest.mark.parametrize(
    ("before", "after", "ends"),
    [
        ("at 5 p.m.", " Then", None), ("at 5 p.m.", " Then ", True), ("at 5 p.m.", " today", False),
        ("at 5 p.m.", " Monday ", False), ("on Main St.", " The ", True), ("Dr.", " Sm", None),
        ("Dr.", " Smith ", False), ("J. C.", " Penney ", False), ("5 min.", " more", False),
        ("bus No.", " 7", False), ("No.", " 7", True), ("She said no.", "", True), ("order no.", " 7", False),
        ("the U.S.", " Army ", False), ("the U.S.", " It ", True), ("e.g.", "", False), ("5 oz.", " of", False),
        ("OpenAI's.", "", True), ("the end.", "", True), ("from Mon.", " to", False), ("p.m.", " " * 40, False),
    ],
)  # fmt: skip
def test_a_dot_waits_only_where_the_next_word_decides(before: str, after: str, ends: bool | None) -> None:
    assert dot_ends(before, after) is ends


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
    read = [word.spoken for word in read_aloud("Ça coûte **3,50 €** le 5.1.", language="fr")]
    assert read == ["Ça", "coûte", "3,50", "€", "le", "5.1."]


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
        "\\frac{",
        "$x",
        "St. ",
        "1,5 ",
        "&a",
        "No. ",
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
