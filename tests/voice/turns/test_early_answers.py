"""Which words are answered before they have ended, and how many requests that may cost."""

import random

import pytest

from voice.turns.early_answers import EXTRA, ExtraRequests, seems_to_end
from voice.turns.evidence import Evidence
from voice.turns.words.trigram_reader import TrigramReader


def test_words_seem_to_end_when_they_are_a_whole_request_or_likely_by_all_that_is_known() -> None:
    assert seems_to_end(Evidence(read=-0.5, spoken=4.0)), "words and length alone"
    assert seems_to_end(Evidence(read=-0.9, spoken=2.0)) is False, "Smart Turn should say"
    assert seems_to_end(Evidence(read=-0.9, spoken=2.0, sound=0.99))
    assert seems_to_end(Evidence(read=-0.9, spoken=2.0, sound=0.1)) is False
    assert seems_to_end(Evidence(read=-2.0, spoken=2.0, sound=0.99)) is False
    assert seems_to_end(Evidence(read=-3.0, whole=True))
    assert not seems_to_end(Evidence(read=-0.1, whole=False))
    assert not seems_to_end(Evidence(read=-0.1, lead_in="greeting"))
    assert seems_to_end(Evidence(read=-3.0, lead_in="no", asked="yes_no"))
    assert not seems_to_end(Evidence(read=-0.1, symbols=3)), "more digits may follow"
    assert seems_to_end(Evidence(spoken=4.0)) is False, "nothing is known of the words"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("set a timer for ten minutes", True),
        ("set a timer for", False),
        ("what is the weather in", False),
        ("how old is the Brooklyn Bridge", True),
    ],
)
def test_the_language_model_tells_ends_from_beginnings(text: str, ends: bool) -> None:
    read = TrigramReader.shared().log_probability(text)
    assert seems_to_end(Evidence(read=read, spoken=2.0, sound=0.95)) is ends


def test_a_call_risks_its_share_rounded_up_to_a_whole_request() -> None:
    extra = ExtraRequests(0.4)
    allowed = []
    for _ in range(10):
        allowed.append(extra.allow())
        if allowed[-1]:
            extra.wasted()
        extra.turn_over()
    assert [turn for turn, may in enumerate(allowed, 1) if may] == [1, 3, 6, 8]


def test_a_request_that_replaces_another_must_be_affordable_if_both_are_wasted() -> None:
    extra = ExtraRequests(0.4)
    assert extra.allow()
    assert not extra.allow(replaced=True)
    for _ in range(2):
        extra.turn_over()
    assert extra.allow(replaced=True)


def test_a_turn_that_goes_on_is_counted_once() -> None:
    extra = ExtraRequests(0.4)
    for _ in range(5):
        extra.turn_over()
    extra.turn_goes_on()
    assert (extra.turns, extra.made) == (4, 0)
    extra = ExtraRequests()
    extra.turn_goes_on()
    assert extra.turns == 0


@pytest.mark.parametrize("seed", range(20))
def test_early_requests_never_exceed_the_share_whatever_becomes_of_them(seed: int) -> None:
    chance, extra = random.Random(seed), ExtraRequests(EXTRA)
    for _ in range(200):
        under_way = False
        for _ in range(chance.randrange(4)):
            if extra.allow(replaced=under_way):
                if under_way:
                    extra.wasted()
                under_way = True
                assert extra.made + 1 < EXTRA * (extra.turns + 1) + 1
        if under_way and chance.random() < 0.5:
            extra.wasted()
        extra.turn_over()
        assert extra.made < EXTRA * extra.turns + 1
