import pytest

from tests.voice.responder.skills.conversing import answer


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("count to ten", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10."),
        ("count to for", "1, 2, 3, 4."),
        ("count from five to eight", "5, 6, 7, 8."),
        ("count down from five", "5, 4, 3, 2, 1."),
        ("count backwards from ten to seven", "10, 9, 8, 7."),
        ("count to one thousand", "I count 100 numbers at most."),
        ("repeat after me the sky is blue", "The sky is blue."),
        ("Repeat after me: I think I'm fine.", "I think I'm fine."),
        ("say hello to everybody", "Hello to everybody."),
    ],
)
def test_counting_and_repeating(heard: str, said: str) -> None:
    assert answer(heard) == said


def test_a_count_to_a_fraction_gets_no_wrong_answer() -> None:
    assert "language model" in answer("count to two point five")


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        ("spell necessary", "Necessary is spelled N, E, C, E, S, S, A, R, Y."),
        ("how do you spell giraffe", "Giraffe is spelled G, I, R, A, F, F, E."),
        ("can you spell giraffe for me please", "Giraffe is spelled G, I, R, A, F, F, E."),
        ("spell the word yacht", "Yacht is spelled Y, A, C, H, T."),
        ("spell don't", "Don't is spelled D, O, N, apostrophe, T."),
        ("Spell 7.", "Seven is spelled S, E, V, E, N."),
        ("spell new york", "New york is spelled N, E, W, Y, O, R, K."),
    ],
)
def test_words_are_spelled(heard: str, said: str) -> None:
    assert answer(heard) == said
