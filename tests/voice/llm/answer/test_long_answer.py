"""Where a long answer is cut, what is kept of it, and which words ask for the rest."""

import re

import pytest

from latency.record.json_form import from_json, to_json
from latency.record.requests import AnswerPart
from latency.record.turn import ServerTurn
from voice.language.german.turns import GERMAN
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.answer.long_answer import Part, Piece, speaking_seconds
from voice.turns.words.short_replies import means_go_on, was_asked

SENTENCES = [f"This is sentence {name} of a long answer." for name in ("one", "two", "three", "four", "five", "six")]
SECONDS = speaking_seconds(SENTENCES[0])
QUESTION = "Shall I go on?"


def streamed(text: str, words: int) -> list[Piece]:
    """The pieces of an answer: some words each, as the responder streams, or whole clauses, as tiers give (0)."""
    splitter, pieces, pending = ClauseSplitter(), list[Piece](), ""
    for word in re.findall(r"\S+\s*", text):
        found = tuple(splitter.feed(word))
        pending += word
        if found or (words and len(pending.split()) >= words):
            pieces.append(Piece(pending, found))
            pending = ""
    rest = splitter.flush()
    return [*pieces, Piece(pending, (rest,) if rest else ())]


def clauses(pieces: list[Piece]) -> list[str]:
    return [clause for piece in pieces for clause in piece.clauses]


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


@pytest.mark.parametrize("words", [1, 3, 0])
@pytest.mark.parametrize("limit", [2.5, 3.3, 4.9])
def test_a_part_ends_with_a_sentence_and_no_word_is_lost_or_twice(words: int, limit: float) -> None:
    text, part = " ".join(SENTENCES), Part(limit * SECONDS)
    spoken = [one for piece in streamed(text, words) for one in part.take(piece)]
    spoken += part.end()
    assert part.can_go_on
    said, left = clauses(spoken), clauses(part.rest)
    assert " ".join(said) == " ".join(SENTENCES[: len(said)])
    assert sum(map(speaking_seconds, said)) <= limit * SECONDS
    assert said + left == SENTENCES
    assert text_of(spoken) + text_of(part.rest) == text


def test_an_answer_within_the_limit_is_whole() -> None:
    part = Part(10 * SECONDS)
    spoken = [one for piece in streamed(" ".join(SENTENCES), 0) for one in part.take(piece)] + part.end()
    assert text_of(spoken) == " ".join(SENTENCES)
    assert not part.asks
    assert part.rest == []


def test_a_small_rest_is_spoken_without_asking() -> None:
    part = Part(5.2 * SECONDS)
    spoken = [one for sentence in SENTENCES[:5] for one in part.take(Piece(f"{sentence} ", (sentence,)))]
    assert part.take(Piece("That is all of it.", ("That is all of it.",))) == []
    assert not part.asks
    assert clauses(spoken + part.end()) == [*SENTENCES[:5], "That is all of it."]


def test_the_first_sentence_is_spoken_however_long_it_is() -> None:
    part = Part(0.1)
    first = Piece(f"{SENTENCES[0]} ", (SENTENCES[0],))
    assert part.take(first) == [first]
    assert part.take(Piece(SENTENCES[1], (SENTENCES[1],))) == []
    assert part.asks


def test_nobody_is_asked_after_a_word_or_two() -> None:
    part = Part(3 * SECONDS)
    long = "This sentence takes about as long as three of the others, which is as long as a part of this answer may be."
    assert speaking_seconds(long) + speaking_seconds("Sure.") > 2.5 * SECONDS
    spoken = [one for text in ("Sure.", long, *SENTENCES) for one in part.take(Piece(f"{text} ", (text,)))]
    assert clauses(spoken) == ["Sure.", long]
    assert part.asks


def test_a_sentence_that_never_ends_is_cut_at_a_clause() -> None:
    numbers = [f"{number}, {number + 1}, {number + 2}," for number in range(1, 60, 3)]
    part = Part(10.0)
    spoken = [one for clause in numbers for one in part.take(Piece(f"{clause} ", (clause,)))]
    assert 10 < sum(speaking_seconds(clause) for clause in clauses(spoken)) <= 15
    assert clauses(spoken) + clauses(part.rest) == numbers


def test_a_frame_with_several_sentences_is_divided() -> None:
    part, text = Part(2.5 * SECONDS), " ".join(SENTENCES)
    (*spoken,) = part.take(Piece(text, tuple(SENTENCES)))
    assert clauses(spoken) == SENTENCES[:2]
    assert text_of(spoken) == f"{SENTENCES[0]} {SENTENCES[1]} "
    assert text_of(part.rest) == " ".join(SENTENCES[2:])


def test_a_model_that_is_slower_than_speech_is_not_interrupted_by_a_question() -> None:
    short = Piece("And so on. ", ("And so on.",))
    part = Part(2.1 * SECONDS)
    for sentence in SENTENCES[:2]:
        part.take(Piece(f"{sentence} ", (sentence,)))
    assert part.take(short) == []
    assert part.release() == [short]
    assert [clauses(part.take(Piece(one, (one,)))) for one in SENTENCES[2:]] == [[one] for one in SENTENCES[2:]]
    assert part.end() == []
    assert not part.asks


def test_an_answer_that_was_interrupted_cannot_go_on() -> None:
    part = Part(SECONDS)
    for sentence in SENTENCES:
        part.take(Piece(f"{sentence} ", (sentence,)))
    part.cut()
    part.end()
    assert part.asks
    assert not part.can_go_on


def test_an_interruption_after_the_end_keeps_the_rest() -> None:
    part = Part(SECONDS)
    for sentence in SENTENCES:
        part.take(Piece(f"{sentence} ", (sentence,)))
    part.end()
    part.cut()
    assert part.can_go_on


@pytest.mark.parametrize(
    "text",
    ["yes", "Yes, please.", "Okay, go on!", "go on please", "um yes", "continue", "Mm-hmm.", "tell me more"],
)
def test_what_asks_for_the_rest(text: str) -> None:
    assert means_go_on(text)


@pytest.mark.parametrize("text", ["", "no", "yes and when", "no thanks", "stop", "what time is it", "yes no"])
def test_what_does_not(text: str) -> None:
    assert not means_go_on(text)


def test_german_asks_for_the_rest_in_german() -> None:
    assert all(means_go_on(text, GERMAN) for text in ("Ja, bitte.", "Weiter", "Gerne, fahren Sie fort!", "mhm"))
    assert not any(means_go_on(text, GERMAN) for text in ("Nein, danke.", "go on", "Ja, aber wann?", ""))


@pytest.mark.parametrize(
    ("heard", "asked"),
    [
        ("It closes at eight. Shall I go on?", True), ("It closes at eight. Shall I", True), ("Shall", True),
        ("It closes at eight.", False), ("", False), ("Shall I go on? It closes", False),
    ],
)  # fmt: skip
def test_a_question_was_asked_as_soon_as_its_first_word_was_heard(heard: str, asked: bool) -> None:
    assert was_asked(heard, QUESTION) is asked


def test_the_record_of_a_part_is_read_back_and_older_turns_have_none() -> None:
    turn = ServerTurn(turn=1, part=AnswerPart(number=2, asks=True))
    content = to_json(turn)
    assert from_json(ServerTurn, content) == turn
    assert from_json(ServerTurn, {key: value for key, value in content.items() if key != "part"}).part is None
