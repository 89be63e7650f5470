from typing import Any

import numpy as np
import pytest

from latency.audio.dropouts import breaks_off, gaps
from latency.audio.onset import Span, utterances
from latency.selftest import synthetic
from tests.latency.conversations import Conversation

RATE = 16000


def near(found: list[Span], expected: list[tuple[float, float]], tolerance: float) -> bool:
    return len(found) == len(expected) and np.allclose(found, expected, rtol=0, atol=tolerance)


def bot(talk: Conversation) -> Any:
    return talk.samples[:, 1]


def test_a_hidden_hole_in_the_bots_speech_is_a_gap() -> None:
    assert near(gaps(bot(Conversation(4).bot(0.5, 3.0).silence_bot(1.3, 1.36)), RATE), [(1.3, 1.36)], tolerance=0.002)


def test_shorter_holes_are_no_gap() -> None:
    assert gaps(bot(Conversation(4).bot(0.5, 3.0).silence_bot(1.3, 1.335)), RATE) == []


@pytest.mark.parametrize("offset", [0, 1, 79, 159])
def test_the_shortest_gap_is_found_at_any_offset_to_the_frames(offset: int) -> None:
    right = bot(Conversation(4).bot(0.5, 3.0)).copy()
    first = round(1.3 * RATE) + offset
    right[first - 80 : first + 720] = 8000
    right[first : first + 640] = 0
    assert gaps(right, RATE) == [Span(first / RATE, (first + 640) / RATE)]


def test_a_fading_pause_between_sentences_is_a_gap_only_when_the_loudspeaker_ran_dry() -> None:
    right = bot(Conversation(5).bot(0.5, 2.0, fade=0.03).bot(2.4, 4.0, fade=0.03))
    assert gaps(right, RATE) == []
    assert near(gaps(right, RATE, underruns=[(2.1, 2.2)]), [(2.0, 2.4)], tolerance=0.002)
    assert gaps(right, RATE, underruns=[(4.2, 4.3)]) == []


def test_an_interrupted_answer_is_no_gap() -> None:
    right = bot(Conversation(5).bot(0.5, 2.0).bot(2.7, 4.0))
    assert near(gaps(right, RATE), [(2.0, 2.7)], tolerance=0.002)
    assert gaps(right, RATE, flushes=[1.995]) == []


def test_silence_after_the_last_word_is_no_gap() -> None:
    assert gaps(bot(Conversation(9).bot(0.5, 2.0).bot(6.0, 7.0)), RATE) == []


def test_silence_holds_no_gap() -> None:
    assert gaps(np.zeros(RATE), RATE) == []


def test_known_utterances_are_not_searched_again() -> None:
    right = bot(Conversation(4).bot(0.5, 3.0).silence_bot(1.3, 1.36))
    assert gaps(right, RATE, spoken=utterances(right, RATE)) == gaps(right, RATE)
    assert gaps(right, RATE, spoken=[]) == []


@pytest.mark.parametrize("seed", range(5))
def test_stopped_speech_breaks_off_and_a_finished_sentence_does_not(seed: int) -> None:
    sound = synthetic.voice(2.0, RATE, np.random.default_rng(seed))
    samples = np.zeros(3 * RATE)
    samples[: RATE + 4321] = sound[: RATE + 4321]
    assert breaks_off(samples, RATE, utterances(samples, RATE)[0])
    samples[: 2 * RATE] = synthetic.dying(sound, RATE)
    assert not breaks_off(samples, RATE, utterances(samples, RATE)[0])
