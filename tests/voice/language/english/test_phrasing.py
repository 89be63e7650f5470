import pytest

from voice.language.english.phrasing import said_back


@pytest.mark.parametrize(
    ("words", "turned"),
    [
        ("my car", "your car"), ("i was late", "you were late"), ("you are a robot", "I am a robot"),
        ("i am at home", "you are at home"), ("it is mine", "it is yours"), ("call me", "call you"),
        ("our house", "your house"), ("the sky is blue", "the sky is blue"),
    ],
)  # fmt: skip
def test_the_users_words_are_said_back_from_the_responders_view(words: str, turned: str) -> None:
    assert said_back(words) == turned
