"""Text is cut where a speaker would pause, and nowhere else."""

import time

import pytest

from voice.llm.answer.clauses import LONGEST, LONGEST_FIRST, ClauseSplitter, sentences


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
    ("Wait… what? Hmm... let me see.", ["Wait…", "what?", "Hmm...", "let me see."]),
    ("It costs $3.50, or €1,000.25 a year. Okay.", ["It costs $3.50,", "or €1,000.25 a year.", "Okay."]),
    ("Version 2.0.1 of it is out. See?", ["Version 2.0.1 of it is out.", "See?"]),
    (
        "Write to a.b@example.com, or see www.example.com/x.html. Bye.",
        ["Write to a.b@example.com,", "or see www.example.com/x.html.", "Bye."],
    ),
    ("Bring fruit, e.g., apples and pears. Ok.", ["Bring fruit, e.g., apples and pears.", "Ok."]),
    ("The U.S. Army, the U.K. Navy et al. left. Ok.", ["The U.S. Army,", "the U.K. Navy et al. left.", "Ok."]),
    ("J. R. R. Tolkien, Ph.D. or not. Yes.", ["J. R. R. Tolkien,", "Ph.D. or not.", "Yes."]),
    ("Prof. (Dr.) Smith is here. Hi.", ["Prof. (Dr.) Smith is here.", "Hi."]),
    ("It is Jan. 5 today. Good.", ["It is Jan. 5 today.", "Good."]),
    ("At 4:10 p.m., we leave. Ok.", ["At 4:10 p.m.,", "we leave.", "Ok."]),
    ("I do not know — maybe. I do - really.", ["I do not know —", "maybe.", "I do - really."]),
    ("Open from 9 - 5 every day. Yes.", ["Open from 9 - 5 every day.", "Yes."]),
    ("A well-known, up-to-date one. Yes.", ["A well-known, up-to-date one.", "Yes."]),
    ('He asked "Why?" (softly.) Then he left.', ['He asked "Why?"', "(softly.)", "Then he left."]),
    ("1. Open the door. 2. Close it.", ["1. Open the door.", "2. Close it."]),
    ("Do this: 1. open the door, 2. close it.", ["Do this: 1. open the door,", "2. close it."]),
    ("Steps:\n9. Open it.\n10. Close it.", ["Steps:", "9. Open it.", "10. Close it."]),
    ("42. Anything else?", ["42.", "Anything else?"]),
    ("It was 5. Then it was 6. Done.", ["It was 5.", "Then it was 6.", "Done."]),
    ("You need:\n- two eggs\n* milk\n• 3.5 ounces of flour\nThat is all.",)
    + (["You need:", "two eggs", "milk", "3.5 ounces of flour", "That is all."],),
    ("On July 4, 1776, it was signed. Ok.", ["On July 4, 1776,", "it was signed.", "Ok."]),
    ("On the 4th of July, 1776, it began. Ok.", ["On the 4th of July, 1776,", "it began.", "Ok."]),
    ("We leave on May 5, at noon. Ok.", ["We leave on May 5,", "at noon.", "Ok."]),
    ("Then f is 3x - 4, or x² - n - 1. Ok.", ["Then f is 3x - 4,", "or x² - n - 1.", "Ok."]),
    ("As shown (Smith et al., 2020) before. Ok.", ["As shown (Smith et al., 2020) before.", "Ok."]),
    ("It is $9/mo. or so, Vol. 2, No. 5. Ok.", ["It is $9/mo. or so,", "Vol. 2, No. 5.", "Ok."]),
    ("Eat a 16-oz. steak with 2 fl. oz. of it. Ok.", ["Eat a 16-oz. steak with 2 fl. oz. of it.", "Ok."]),
    ("Walk up 5th Ave. NW to Elm. Ok.", ["Walk up 5th Ave. NW to Elm.", "Ok."]),
    ("First line\n\nSecond line\nThird", ["First line", "Second line", "Third"]),
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


def test_the_first_clause_ends_with_its_comma_before_the_next_token_comes() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("That is a good question,") == ["That is a good question,"]
    assert splitter.feed(" and I am glad,") == []
    assert splitter.feed(" too. ") == ["and I am glad, too."]


@pytest.mark.parametrize(
    "text",
    [
        "It costs you 1,",
        "It is, e.g.,",
        "Well,",
        "He said to me:",
        "She said no.",
        "By J.,",
        "On the 4th of July,",
        "We leave on July 4, ",
    ],
)
def test_a_mark_that_may_go_on_waits_for_white_space(text: str) -> None:
    assert ClauseSplitter().feed(text) == []


def test_text_that_continues_an_answer_has_no_first_clause() -> None:
    splitter = ClauseSplitter(begun=True)
    assert splitter.feed("because the air, as we know, is thin. So") == ["because the air, as we know, is thin."]


def test_sentences_are_cut_at_no_clause() -> None:
    text = "Once upon a time, Dr. Smith met a bell, which rang " + "and rang, " * 20 + "on. It stopped. Well"
    assert [found[-8:] for found in sentences(text)] == ["ang, on.", "stopped.", "Well"]


@pytest.mark.parametrize("size", [1, 7, 4000])
def test_text_without_marks_is_cut_between_words(size: int) -> None:
    text = "word " * 500
    pieces = cut(text, size)
    assert " ".join(pieces).split() == text.split()
    assert len(pieces[0]) <= LONGEST_FIRST
    assert max(map(len, pieces)) <= LONGEST


def test_text_without_white_space_is_cut_all_the_same() -> None:
    assert "".join(cut("x" * 2000, 9)) == "x" * 2000
    assert max(map(len, sentences("x" * 2000))) <= LONGEST + 1


def test_only_an_abbreviation_waits_for_the_next_word() -> None:
    splitter = ClauseSplitter(begun=True)
    assert splitter.feed("It is open. ") == ["It is open."]
    assert splitter.feed("It closes at 5 p.m. The") == []
    assert splitter.feed(" shop ") == ["It closes at 5 p.m."]
    assert splitter.feed("is near. Ask Dr. Lee. ") == ["The shop is near.", "Ask Dr. Lee."]


@pytest.mark.parametrize("text", ["It works.[3, 4] ", 'It works."[1] ', "It works.\u200b ", "**It works.** "])
def test_what_closes_after_a_mark_does_not_hide_it(text: str) -> None:
    assert ClauseSplitter(begun=True).feed(text) == [text.strip()]
    assert ClauseSplitter().feed("As shown in the papers [1, 2] and &amp; more") == []
