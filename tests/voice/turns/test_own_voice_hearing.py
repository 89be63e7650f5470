"""Whether the agent hears itself, and what it then takes for its own words."""

import pytest

from voice.turns.own_voice import SUSPICIOUS, EchoDetector, SpokenWords

SAID = "I will remember that your car is on level three."
ECHO = "remember that far is on level three"
LASTS = 0.35 * len(SAID.split())


class Call:
    """A call of many answers; `now` is the clock."""

    def __init__(self) -> None:
        self.now = 100.0
        self.spoken = SpokenWords()
        self.hearing = EchoDetector(self.spoken)

    def answer(self, *, speech_after: float | None = None) -> None:
        """The agent gives an answer, and speech begins so many seconds after it has begun to."""
        began = self.now
        self.hearing.agent_started(began)
        for index, word in enumerate(SAID.split(), start=1):
            self.spoken.add(word, began + 0.35 * index)
        if speech_after is not None:
            self.hearing.speech_began(began + speech_after)
        self.now = began + LASTS
        self.hearing.agent_stopped(self.now)
        self.now += 0.2

    def heard(self, words: str, *, final: bool = True) -> bool:
        """Whether the words of that speech are taken for the agent's."""
        own = self.hearing.is_own(words, self.now, final=final)
        if own and final:
            self.hearing.note_own(words, self.now)
        return own


@pytest.fixture
def call() -> Call:
    return Call()


@pytest.fixture
def warned(call: Call) -> Call:
    """A call in which the agent has heard itself."""
    call.answer(speech_after=0.2)
    assert call.heard(ECHO)
    call.now += 3
    return call


def test_an_echo_shows_once_that_the_agent_hears_itself(call: Call) -> None:
    call.answer(speech_after=0.2)
    assert not call.hearing.hears_itself
    assert call.hearing.note_own(ECHO, call.now)
    assert call.hearing.hears_itself
    assert not call.hearing.note_own(ECHO, call.now)


@pytest.mark.parametrize("words", ["football", "are you free", "level four"])
def test_words_are_the_callers_as_long_as_the_agent_has_not_heard_itself(call: Call, words: str) -> None:
    call.answer(speech_after=1.0)
    assert not call.heard(words, final=False)
    assert not call.heard(words)


@pytest.mark.parametrize("words", ["football", "are you", "i will remember", "remembered that far is", "far on level"])
def test_after_that_words_that_may_be_a_misheard_echo_are_not_heeded(warned: Call, words: str) -> None:
    warned.answer(speech_after=0.2)
    assert warned.heard(words, final=False)


@pytest.mark.parametrize("words", ["stop", "what day is it", "no that's wrong", "hold on", "never mind"])
@pytest.mark.parametrize("final", [True, False])
def test_and_a_caller_still_interrupts_by_words(warned: Call, words: str, final: bool) -> None:
    warned.answer(speech_after=1.0)
    assert not warned.heard(words, final=final)


def test_and_a_caller_who_speaks_after_the_answer_is_heard(warned: Call) -> None:
    warned.answer()
    warned.now += 0.3
    warned.hearing.speech_began(warned.now)
    warned.now += 1
    assert not warned.heard("level three")


def test_speech_that_keeps_beginning_with_the_answers_makes_suspicious(call: Call) -> None:
    for _ in range(SUSPICIOUS):
        assert not call.hearing.hears_itself
        call.answer(speech_after=0.2)
        call.now += 3
    assert call.hearing.hears_itself
    call.answer(speech_after=0.2)
    assert call.heard("football")
    assert call.hearing.note_own(ECHO, call.now), "suspicion is not yet proof"


def test_an_answer_that_nothing_disturbs_ends_the_suspicion(call: Call) -> None:
    for _ in range(3 * SUSPICIOUS):
        call.answer(speech_after=0.2)
        call.now += 3
        call.answer()
        call.now += 3
        assert not call.hearing.hears_itself


def test_speech_later_in_answers_is_not_suspicious(call: Call) -> None:
    for _ in range(3 * SUSPICIOUS):
        call.answer(speech_after=1.5)
        call.now += 3
    assert not call.hearing.hears_itself
