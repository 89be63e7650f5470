import pytest

from voice.conversation.goodbye import is_farewell


@pytest.mark.parametrize(
    "text",
    [
        "goodbye", "Goodbye.", "good bye", "bye", "Bye bye!", "okay, bye", "thanks, bye", "Okay thank you, goodbye!",
        "see you later", "talk to you tomorrow", "that's all, thanks", "That is all for now, thank you very much.",
        "have a nice day", "Thanks. Have a good one. Bye!", "i have to go now", "hang up", "end the call", "good night",
    ],
)  # fmt: skip
def test_a_farewell_is_one(text: str) -> None:
    assert is_farewell(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "thanks", "okay", "say goodbye to anna for me", "how do you spell goodbye", "is that all",
        "bye the way what time is it", "i have to go to the doctor tomorrow", "the end of the call", "night",
        "goodbye yellow brick road", "remember that i have to go", "bye " * 200,
    ],
)  # fmt: skip
def test_other_words_are_none(text: str) -> None:
    assert not is_farewell(text)
