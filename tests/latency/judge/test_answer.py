import pytest

from latency.judge.answer import holds, is_right, judge_answer, normalised, word_error_rate, word_errors
from latency.record.turn import TurnRecord


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  It's  TEN past four! ", "its 10 past 4"),
        ("twenty-one, twenty two and ninety", "21 22 and 90"),
        ("seven eight", "7 8"),
        ("10 miles is 16.09 kilometers.", "10 miles is 16.09 kilometers"),
        ("5,280 feet; 1, 2, 3.", "5280 feet 1 2 3"),
        ("one hundred percent", "100 percent"),
        ("20% of 50", "20 percent of 50"),
        ("two hundred", "2 hundred"),
        ("someone often weighs a ton", "someone often weighs a ton"),
        ("Straße – “naïve”…", "strasse naïve"),
        ("G, I, R, A, F, F, E.", "g i r a f f e"),
        ("?!", ""),
    ],
)
def test_texts_are_levelled_to_comparable_words(text: str, words: str) -> None:
    assert normalised(text) == words


def test_wanted_words_are_found_whole_in_order_and_as_digits_or_words() -> None:
    assert holds("7 times 8 is 56.", "fifty six")
    assert holds("It is ten past four.", "it is")
    assert not holds("It is 156.", "56")
    assert not holds("It is 3.5 miles", "5")
    assert not holds("is it", "it is")


def test_an_answer_is_right_when_it_holds_everything_wanted() -> None:
    assert is_right("Timer set for 10 seconds.", ["timer set", "ten seconds"])
    assert not is_right("Timer set for 10 seconds.", ["timer set", "twelve"])


@pytest.mark.parametrize(
    ("spoken", "heard", "errors"),
    [
        ("what time is it", "what time is it", 0),
        ("what time is it", "what dime is it", 1),
        ("what time is it", "", 4),
        ("what time is it", "so what time is it now", 2),
        ("seven times eight", "7 times 8", 0),
        ("the sky is blue", "sky the is blue", 2),
    ],
)
def test_word_errors_are_insertions_deletions_and_substitutions(spoken: str, heard: str, errors: int) -> None:
    assert word_errors(spoken, heard)[0] == errors


def test_the_word_error_rate_is_pooled_over_all_words() -> None:
    # A mean of the two rates would be 0.5.
    assert word_error_rate([("yes", "no"), ("one two three four five six seven", "1 2 3 4 5 6 7")]) == 1 / 8
    assert word_error_rate([]) is None
    assert word_error_rate([("", "noise")]) is None


def answered(*answers: tuple[str, str | None, bool], said: str | None = None) -> TurnRecord:
    """A turn whose right answer is 56, with (said, played, interrupted) of each of the server's turns."""
    own = [{"turn": n, "said": s, "played": p, "interrupted": i} for n, (s, p, i) in enumerate(answers)]
    return TurnRecord.from_json(
        {"session": "s", "turn": 0, "speech": [[1, 2]], "wants_answer": True, "contains": ["56"], "server_turns": own}
        | {"said": said}
    )


RIGHT, WRONG = "7 times 8 is 56.", "I can't answer that."


@pytest.mark.parametrize(
    ("answers", "right"),
    [
        ([(RIGHT, RIGHT, False)], True),
        ([(WRONG, WRONG, False)], False),
        # Written, but not heard.
        ([(WRONG, "", True), (RIGHT, RIGHT, False)], True),
        ([(f"{WRONG} {RIGHT}", WRONG, False)], False),
        # A wrong answer to half of the turn came first.
        ([(WRONG, "I can't", True), (RIGHT, RIGHT, False)], False),
        ([(RIGHT, RIGHT, False), (WRONG, WRONG, False)], True),
        # The user interrupted what would have become right.
        ([(RIGHT, "7 times", True)], None),
        ([(RIGHT, "7 times", True), (RIGHT, RIGHT, False)], True),
        ([(RIGHT, "7 times", True), (WRONG, WRONG, False)], False),
    ],
)
def test_what_was_heard_first_decides(answers: list[tuple[str, str | None, bool]], right: bool | None) -> None:
    assert judge_answer(answered(*answers)) is right


def test_without_what_was_played_the_text_decides() -> None:
    assert judge_answer(answered((RIGHT, None, False), said=RIGHT)) is True
    assert judge_answer(answered((WRONG, None, False), said=WRONG)) is False
    assert judge_answer(answered()) is None
