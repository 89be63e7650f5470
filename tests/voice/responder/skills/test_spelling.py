import pytest

from tests.voice.responder.skills.conversing import answer


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
