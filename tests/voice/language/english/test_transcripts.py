import pytest

from voice.language.english.transcripts import normalise


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
