import pytest

from voice.errors import ConfigurationError
from voice.language.english.phrases import ENGLISH
from voice.llm.answer.hold_phrases import HoldPhrases, check_phrase


def test_phrases_rotate_and_none_comes_twice_in_a_row() -> None:
    bridging = HoldPhrases()
    said = [bridging.phrase("hold") for _ in range(2 * len(ENGLISH.hold))]
    assert said == [*ENGLISH.hold, *ENGLISH.hold]
    assert all(earlier != later for earlier, later in zip(said, said[1:], strict=False))


def test_the_two_kinds_rotate_by_themselves() -> None:
    bridging = HoldPhrases()
    said = [bridging.phrase("hold"), bridging.phrase("delay"), bridging.phrase("hold"), bridging.phrase("delay")]
    assert said == [ENGLISH.hold[0], ENGLISH.delay[0], ENGLISH.hold[1], ENGLISH.delay[1]]


def test_calls_can_begin_with_different_phrases() -> None:
    assert HoldPhrases(start=1).phrase("hold") == ENGLISH.hold[1]


def test_all_phrases_are_known_before_the_call() -> None:
    bridging = HoldPhrases(("Hold on.",))
    assert bridging.phrases == ("Hold on.", *ENGLISH.delay, *ENGLISH.openings, *ENGLISH.progress)
    assert bridging.phrase("hold") == bridging.phrase("hold") == "Hold on."


@pytest.mark.parametrize(
    "phrase", [*ENGLISH.hold, *ENGLISH.delay, *ENGLISH.openings, "Hold on a moment, please.", " Hmm, let me see. "]
)
def test_true_phrases_are_accepted(phrase: str) -> None:
    assert check_phrase(phrase) == phrase.strip()


@pytest.mark.parametrize(
    "phrase",
    [
        "Yes, one moment.", "No.", "Sure, let me think.", "I am checking your account.", "Looking that up.",
        "I found three of them.", "That will work.", "I'll do that.", "It is 4 o'clock.", "Of course!", "Okay.",
        "Done.", "Actually, let me think.", "Good question, because it matters.", "", "🙂", "...",
        "Let me think about that for just a very little while longer.",
    ],
)  # fmt: skip
def test_phrases_that_only_an_answer_may_say_are_refused(phrase: str) -> None:
    with pytest.raises(ConfigurationError, match=r"hold phrase"):
        HoldPhrases((phrase,))
