import pytest

from voice.responder.language.readings import readings
from voice.responder.language.transcript import normalise


def texts(utterance: str, *, stray: bool) -> list[str]:
    return [reading.text.strip() for reading in readings(normalise(utterance)) if reading.stray == stray]


def test_courtesy_is_left_out_before_the_text_as_it_is_is_tried() -> None:
    assert texts("can you tell me what time it is please", stray=False)[:2] == [
        "can you tell me what time it is",
        "can you tell me what time it is please",
    ]
    assert "what time it is" in texts("can you tell me what time it is please", stray=False)


def test_stray_words_in_front_are_left_out_last() -> None:
    assert "what time is it" in texts("the what time is it", stray=True)
    assert texts("the what time is it", stray=False) == ["the what time is it"]


@pytest.mark.parametrize(
    "utterance", ["don't flip a coin", "why do they flip a coin", "he said flip a coin", "a b c d e flip a coin"]
)
def test_a_request_that_is_talked_about_or_far_in_is_not_dug_out(utterance: str) -> None:
    assert "flip a coin" not in texts(utterance, stray=True) + texts(utterance, stray=False)


def test_stray_words_behind_are_marked_as_a_possible_continuation() -> None:
    cut = [reading for reading in readings(normalise("what time is it and")) if reading.stray_end]
    assert [reading.text for reading in cut][0] == "what time is it "


def test_nothing_has_no_reading() -> None:
    assert list(readings(normalise("um"))) == []
