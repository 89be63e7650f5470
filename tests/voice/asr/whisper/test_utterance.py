import random

import pytest

from voice.asr.whisper.utterance import AFTER, LASTING, LEAST_AUDIO, FadePasses, Hypothesis

STEP = 0.016


def passes(fades: FadePasses, since: float, seconds: float) -> list[float]:
    """How long the fade had lasted when each pass began."""
    begun = []
    for step in range(round(seconds / STEP)):
        if fades.is_due(since + step * STEP):
            fades.begun()
            begun.append(round(step * STEP, 3))
    return begun


def test_a_fade_is_decoded_at_once_and_when_its_words_have_settled_but_not_for_ever() -> None:
    fades = FadePasses()
    assert passes(fades, 2.0, 1.0) == list(AFTER)
    assert fades.settles


def test_the_next_fade_is_decoded_at_once() -> None:
    fades = FadePasses()
    assert passes(fades, 2.0, AFTER[1]) == [0.0]
    assert not fades.settles
    fades.rose()
    assert passes(fades, 2.2, AFTER[1]) == [0.0]


def test_the_first_sounds_are_too_short_to_decode() -> None:
    assert not FadePasses().is_due(LEAST_AUDIO - 0.01)
    assert FadePasses().is_due(LEAST_AUDIO)


def test_a_fade_lasts_once_and_only_if_a_pass_has_begun_at_it() -> None:
    fades = FadePasses()
    assert fades.is_due(2.0)
    assert not fades.lasts(2.0 + LASTING)
    fades.begun()
    assert not fades.lasts(2.0 + LASTING - STEP)
    assert fades.lasts(2.0 + LASTING)
    assert not fades.lasts(2.0 + 2 * LASTING)
    fades.rose()
    assert not fades.lasts(3.0)


WORDS = ["a", "b", "c", "d", "e"]


def bare(text: str) -> list[str]:
    return [word.strip(".,?").lower() for word in text.split()]


def after(*texts: str) -> Hypothesis:
    hypothesis = Hypothesis()
    for text in texts:
        hypothesis.take(text)
    return hypothesis


def test_a_word_is_confirmed_when_two_passes_agree_and_another_word_follows() -> None:
    assert after("what").confirmed == ""
    assert after("what", "what is").confirmed == "what"
    assert after("what is", "what is").confirmed == "what"
    assert after("what is the", "what is a time").confirmed == "what is"


def test_two_passes_that_are_not_successive_confirm_nothing() -> None:
    assert after("what is it", "that was", "what is it").confirmed == ""


def test_capitals_and_punctuation_are_ignored_and_the_newer_form_is_kept() -> None:
    assert after("What time.", "what time is it?").confirmed == "what time"
    assert after("Well, ...", "well ... yes").confirmed == "well ..."


def test_the_text_is_the_confirmed_words_and_the_rest_of_the_last_pass() -> None:
    hypothesis = after("what time is", "what time was it", "That time was it now")
    assert hypothesis.confirmed == "what time was it"
    assert hypothesis.text == "what time was it now"


def test_a_pass_that_hears_less_takes_back_no_confirmed_word() -> None:
    hypothesis = after("one two three", "one two three four", "one")
    assert hypothesis.confirmed == hypothesis.text == "one two three"


@pytest.mark.parametrize("seed", range(200))
def test_confirmed_words_stay_and_two_passes_agreed_on_them(seed: int) -> None:
    chance = random.Random(seed)
    hypothesis = Hypothesis()
    confirmed, before = "", ""
    for _ in range(30):
        text = before[: chance.randrange(len(before) + 1)].rstrip()
        text = " ".join([text, *chance.choices(WORDS, k=chance.randrange(4))]).strip()
        if chance.random() < 0.3:
            text = text.capitalize() + "."
        last = hypothesis.text
        hypothesis.take(text)
        now = hypothesis.confirmed.split()
        assert now[: len(confirmed.split())] == confirmed.split()
        assert hypothesis.text.split()[: len(now)] == now
        fresh = range(len(confirmed.split()), len(now))
        assert all(bare(last)[i] == bare(hypothesis.text)[i] for i in fresh)
        if fresh:
            assert len(now) < len(hypothesis.text.split())
        confirmed, before = hypothesis.confirmed, text


@pytest.mark.parametrize("seed", range(50))
def test_words_misheard_now_and_then_are_never_confirmed(seed: int) -> None:
    """The recogniser that is supposed: earlier words right, the last one wrong by chance, never twice alike."""
    chance = random.Random(seed)
    spoken = [f"word{i}" for i in range(12)]
    hypothesis = Hypothesis()
    for number in range(60):
        heard = spoken[: number // 5 + 1]
        if chance.random() < 0.4:
            heard = [*heard[:-1], f"wrong{number}"]
        hypothesis.take(" ".join(heard))
        assert spoken[: len(hypothesis.confirmed.split())] == hypothesis.confirmed.split()
    assert len(hypothesis.confirmed.split()) >= 10
