import time

import pytest

from voice.responder.matching import compiled_skills, is_whole_request
from voice.responder.skills import SKILLS


@pytest.mark.parametrize(
    "text",
    [
        "what time is it", "hey what's the time", "what is seven times eight", "What's 7 × 8?", "seven times eight",
        "what is twenty percent of fifty", "how many feet are in a mile", "convert ten miles to kilometers",
        "set a timer for ten seconds", "can you set a timer for two and a half minutes please", "cancel the timer",
        "how long is left on the timer", "spell necessary", "how do you spell giraffe", "say that again", "repeat that",
        "where is my car", "what did i ask you to remember", "forget everything", "thank you",
        "count to ten", "count from five to ten", "stop",
        "what can you do", "goodbye", "the what time is it",
        "what day is it today", "what is the sum of five and six",
    ],
)  # fmt: skip
def test_a_whole_request_is_recognised_as_one(text: str) -> None:
    assert is_whole_request(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "what", "what is", "what time", "what time is", "what is seven", "what is seven times",
        "what is the square root of",
        "what is twenty percent", "what is twenty percent of", "how many", "how many feet", "how many feet are in",
        "how many feet are in a", "convert", "convert ten miles", "convert ten miles to", "set a timer",
        "set a timer for",
        "set a timer for ten", "set a timer for ten and", "cancel the", "how long is left on", "spell", "how do you",
        "how do you spell", "repeat after me", "where is", "where is my", "what did i ask", "tell me", "tell me a",
        "count", "count to", "count from five", "what can you",
        "repeat after me the sky is", "remember that my car is on level three", "what time is it in",
        "what is seven times eight plus", "what is the capital of france", "set a timer for ten minutes because",
        "i like trains", "the", "can you", "hello", "hey there", "good morning", "okay", "yes", "no",
    ],
)  # fmt: skip
def test_the_beginning_of_a_request_is_not_a_whole_one(text: str) -> None:
    assert not is_whole_request(text)


def test_no_beginning_of_a_long_request_is_taken_for_a_whole_one() -> None:
    request = "could you convert one hundred and twenty five miles to kilometers"
    assert is_whole_request(request)
    assert not any(is_whole_request(request[:length]) for length in range(len(request) - len("kilometers")))


def test_parsing_a_long_partial_transcript_is_fast() -> None:
    compiled_skills()
    texts = ["could you please tell me how many kilometers there are in twenty five and a half", "set a timer for " * 3]
    start = time.process_time()
    for _ in range(50):
        for text in texts:
            is_whole_request(text)
    # 100 partial transcripts take about 30 ms of processor time; half a second leaves room for slow machines.
    assert time.process_time() - start < 0.5


def test_every_template_of_every_skill_compiles() -> None:
    templates = [template for skill in SKILLS for template in skill.compiled()]
    assert len(templates) > 150
