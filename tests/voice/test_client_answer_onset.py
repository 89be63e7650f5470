"""Where a bridging phrase ends and the answer begins, in what was heard."""

from typing import Any

import numpy as np
import pytest

from voice.client.answer_onset import first_answer_audible
from voice.client.pcm import RATE, Pcm
from voice.client.utterances import Utterance

PHRASE = 0.8
"""Seconds of the phrase's audio; its last 0.1 s are silent, and 10 ms in front."""
SPOKEN = [{"tier": "large", "outcome": "spoken"}]


def bridged(*at: float, seconds: float | None = PHRASE, text_at: float | None = None, **more: Any) -> dict[str, Any]:
    said = [{"at": instant, "kind": "hold", "text": "One moment."} for instant in at]
    told = {"opening": "One moment.", "opening_seconds": seconds, "attempts": SPOKEN, "responses": [{"said": said}]}
    return {**told, "marks": {"llm_first_clause": text_at}, **more}


def said(*stretches: tuple[float, float]) -> list[Utterance]:
    return [Utterance(start=start, end=end, received=start - 0.07) for start, end in stretches]


def played(*stretches: tuple[float, float]) -> Pcm:
    bot = np.zeros(20 * RATE, np.int16)
    for start, end in stretches:
        time = np.arange(round((end - start) * RATE)) / RATE
        bot[round(start * RATE) :][: len(time)] = 8000 * np.sin(2 * np.pi * 200 * time) + 500
    return bot


def test_without_a_phrase_the_first_sound_is_the_answers() -> None:
    assert first_answer_audible({"opening": None, "attempts": SPOKEN}, said((12.6, 14.0)), None) == 12.6


@pytest.mark.parametrize(
    "report",
    [
        pytest.param({"attempts": SPOKEN}, id="a server that says nothing of phrases"),
        pytest.param({"opening": None, "attempts": [{"outcome": "failed"}]}, id="an apology"),
        pytest.param(bridged(12.5, attempts=[{"outcome": "cancelled"}]), id="a phrase and no answer"),
        pytest.param(bridged(12.5, seconds=None), id="a phrase of unknown length"),
        pytest.param(bridged(None, None), id="phrases of unknown instants"),
    ],
)
def test_an_answer_that_cannot_be_told_apart_is_unknown(report: dict[str, Any]) -> None:
    heard = ((12.6, 13.3), (15.0, 16.0))
    assert first_answer_audible(report, said(*heard), played(*heard)) is None


@pytest.mark.parametrize(
    ("sounds", "answer"),
    [
        pytest.param([(12.6, 13.3), (15.0, 16.0)], 15.0, id="after a long pause"),
        pytest.param([(12.6, 13.3), (13.62, 15.0)], 13.62, id="after a short pause"),
        pytest.param([(12.6, 13.3), (13.41, 15.0)], 13.41, id="at once"),
        pytest.param([(12.6, 12.9), (13.0, 13.3), (13.41, 15.0)], 13.41, id="after a phrase with a pause in it"),
        pytest.param([(12.6, 13.3)], None, id="never: interrupted"),
    ],
)
def test_the_answer_is_the_first_sound_after_the_phrase(sounds: list[tuple[float, float]], answer: float) -> None:
    # As the playout tells it: silences under 0.3 s belong to an utterance.
    joined = said((12.6, 13.3), (15.0, 16.0)) if sounds[-1][0] == 15.0 else said((12.6, sounds[-1][1]))
    found = first_answer_audible(bridged(12.5), joined, played(*sounds))
    assert found == (answer if answer is None else pytest.approx(answer, abs=0.005))


def test_of_several_phrases_the_last_one_has_to_be_over() -> None:
    sounds = ((12.6, 13.3), (14.6, 15.3), (15.41, 17.0))
    heard = said((12.6, 13.3), (14.6, 17.0))
    found = first_answer_audible(bridged(12.5, 14.5, seconds=2 * PHRASE), heard, played(*sounds))
    # The first phrase's silences count as the second one's, so the answer may seem later, never sooner.
    assert found is not None
    assert 15.405 <= found <= 15.41 + 0.1


def test_a_phrase_that_hides_in_the_one_before_leaves_the_answer_unknown() -> None:
    heard = said((12.6, 17.0))
    assert first_answer_audible(bridged(12.5, 13.2, seconds=2 * PHRASE), heard, played((12.6, 17.0))) is None


def test_no_answer_is_heard_before_its_text_was_there() -> None:
    heard = said((12.6, 13.3), (13.7, 13.9), (15.0, 16.0))
    report = bridged(12.5, text_at=14.2)
    assert first_answer_audible(report, heard, played((12.6, 13.3), (13.7, 13.9), (15.0, 16.0))) == 15.0


def test_without_a_recording_only_a_pause_tells_them_apart() -> None:
    assert first_answer_audible(bridged(12.5), said((12.6, 13.3), (15.0, 16.0)), None) == 15.0
    assert first_answer_audible(bridged(12.5), said((12.6, 15.0), (15.4, 16.0)), None) is None
