from pipelines.lab.simulator.conversation import tokens

STORY = "Once upon a time there was a lighthouse keeper called Ada. Every evening she climbed one hundred steps."


def test_tokens_joined_are_the_text() -> None:
    for text in (STORY, "  two  spaces, 3.5 and\nlines ", "naïve ☕ coffee", ""):
        assert "".join(tokens(text)) == text


def test_a_text_has_somewhat_more_tokens_than_words() -> None:
    assert 1.0 < len(tokens(STORY)) / len(STORY.split()) < 1.6
