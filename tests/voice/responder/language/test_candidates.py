import pytest

from voice.language.english.transcripts import normalise
from voice.responder.language.candidates import candidates


def texts(utterance: str, *, stray: bool) -> list[str]:
    return [candidate.text.strip() for candidate in candidates(normalise(utterance)) if candidate.stray == stray]


def test_readings_without_courtesy_come_first() -> None:
    assert texts("can you tell me what time it is please", stray=False)[:2] == [
        "can you tell me what time it is",
        "can you tell me what time it is please",
    ]
    assert "what time it is" in texts("can you tell me what time it is please", stray=False)


def test_readings_without_leading_stray_words_come_last() -> None:
    assert "what time is it" in texts("the what time is it", stray=True)
    assert texts("the what time is it", stray=False) == ["the what time is it"]


@pytest.mark.parametrize(
    "utterance", ["don't flip a coin", "why do they flip a coin", "he said flip a coin", "a b c d e flip a coin"]
)
def test_a_request_that_is_only_mentioned_or_far_from_the_start_is_not_found(utterance: str) -> None:
    assert "flip a coin" not in texts(utterance, stray=True) + texts(utterance, stray=False)


def test_stray_words_after_a_request_are_marked_as_a_possible_continuation() -> None:
    cut = [candidate for candidate in candidates(normalise("what time is it and")) if candidate.stray_end]
    assert [candidate.text for candidate in cut][0] == "what time is it "


def test_hesitations_alone_have_no_reading() -> None:
    assert list(candidates(normalise("um"))) == []
