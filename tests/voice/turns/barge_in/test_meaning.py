"""What is said during an answer, by its words."""

import pytest

from voice.turns.barge_in.meaning import Meaning, meaning_of


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("", Meaning.NOTHING),
        ("...", Meaning.NOTHING),
        ("Mm-hmm.", Meaning.BACKCHANNEL),
        ("uh huh", Meaning.BACKCHANNEL),
        ("yeah", Meaning.BACKCHANNEL),
        ("Yeah, right, okay.", Meaning.BACKCHANNEL),
        ("oh really", Meaning.BACKCHANNEL),
        ("that's right", Meaning.BACKCHANNEL),
        ("stop", Meaning.STOP),
        ("Okay, stop!", Meaning.STOP),
        ("no no no", Meaning.STOP),
        ("no I meant tomorrow", Meaning.STOP),
        ("wait a moment", Meaning.STOP),
        ("yeah but actually", Meaning.WORDS),
        ("nobody", Meaning.WORDS),
        ("what about the other one", Meaning.WORDS),
        ("but what what what", Meaning.NOTHING),
        ("huh huh huh", Meaning.BACKCHANNEL),
        ("love love love", Meaning.NOTHING),
    ],
)
def test_words_alone(said: str, meaning: Meaning) -> None:
    assert meaning_of(said) is meaning


def test_a_yes_answers_the_question_that_the_agent_is_asking() -> None:
    assert meaning_of("yeah", asked="yes_no") is Meaning.ANSWER
    assert meaning_of("yes please", asked="yes_no") is Meaning.ANSWER
    assert meaning_of("yeah", asked="open") is Meaning.BACKCHANNEL
    # A yes to "Anything else?" announces a request, which is still to come.
    assert meaning_of("yeah", asked="offer") is Meaning.BACKCHANNEL
    assert meaning_of("mm hmm", asked="yes_no") is Meaning.BACKCHANNEL


def test_a_whole_request_is_one_however_short() -> None:
    def whole(text: str) -> bool | None:
        return text == "what time is it"

    assert meaning_of("What time is it?", whole_request=whole) is Meaning.REQUEST
    assert meaning_of("what time", whole_request=whole) is Meaning.WORDS


def test_the_agents_own_words_are_not_the_callers() -> None:
    assert meaning_of("stop", is_own=lambda text: text == "stop") is Meaning.OWN


def test_the_last_word_of_partial_words_is_in_the_making() -> None:
    assert meaning_of("okay by", final=False) is Meaning.BACKCHANNEL
    assert meaning_of("how", final=False) is Meaning.NOTHING
    assert meaning_of("what about", final=False) is Meaning.WORDS
    assert meaning_of("stop", final=False) is Meaning.STOP


@pytest.mark.parametrize(
    ("heard", "meaning"),
    [
        ("of core", Meaning.BACKCHANNEL),  # of course
        ("banks", Meaning.BACKCHANNEL),  # thanks
        ("can sell", Meaning.STOP),  # cancel
        ("gold on", Meaning.STOP),  # hold on
        ("and on", Meaning.STOP),  # hang on
        ("what", Meaning.WORDS),
        ("fourteen", Meaning.WORDS),
    ],
)
def test_misheard_words_mean_what_they_are_like(heard: str, meaning: Meaning) -> None:
    assert meaning_of(heard) is meaning


def test_the_beginning_of_a_backchannel_may_become_one() -> None:
    assert meaning_of("interest to", final=False) is Meaning.BACKCHANNEL
    assert meaning_of("make so", final=False) is Meaning.BACKCHANNEL
    assert meaning_of("make so many", final=False) is Meaning.WORDS
    assert meaning_of("can sell", final=False) is Meaning.WORDS
