import pytest

from voice.responder.language.utterance import normalise, readings


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What's 7 × 8?", "what is 7 times 8"),
        ("20% of 50", "20 percent of 50"),
        ("-5 + 3", "minus 5 plus 3"),
        ("What is 5-3?", "what is 5 minus 3"),
        ("What is -5 times .5", "what is minus 5 times 0.5"),
        ("1,000 divided by 3.5", "1000 divided by 3.5"),
        ("100 / 4", "100 divided by 4"),
        ("5x6", "5 times 6"),
        ("√16", "square root of 16"),
        ("5²", "5 squared"),
        ("set a 10-second timer.", "set a 10 second timer"),
        ("It's 72°F.", "it's 72 degrees fahrenheit"),
        ("10km in miles", "10 km in miles"),
        ("twenty-five", "twenty five"),
        ("um what uh time is it", "what time is it"),
        ("whats the time", "what is the time"),
        ("WHERE’S my car", "where is my car"),
        ("don't worry, it's fine", "don't worry it's fine"),
        ("per cent", "percent"),
        ("ten kilometres", "ten kilometers"),
        ("  ", ""),
    ],
)
def test_transcripts_of_all_recognisers_become_the_same_words(text: str, words: str) -> None:
    assert normalise(text).strip() == words


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
