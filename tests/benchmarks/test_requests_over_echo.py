"""Requests of people over the agent's uncancelled echo: the words recognised, faster than real time.

python -m pytest tests/benchmarks/test_requests_over_echo.py -m slow -s
"""

import functools

import numpy as np
import pytest
import soxr

from tests.benchmarks.spoken_over import Echo, SpokenOver, WhisperHearing, on_virtual_clock, run_virtually
from tests.benchmarks.test_interruptions import people
from tests.pulled import use_pulled
from voice.asr.whisper.model import SharedWhisper
from voice.client.sound.pcm import RATE
from voice.models.store import find
from voice.turns.own_voice import plain_words
from voice.turns.turn_models import TurnModels

ANSWERS = (
    "The library opens at nine in the morning and closes at eight in the evening, except on Sundays when it is closed "
    "all day long.",
    "Paris is the capital of France, and about two million people live within the city limits, which makes it one of "
    "the densest cities in Europe.",
    "Your next appointment is on Thursday the fourteenth of March at half past two with Doctor Miller in the main "
    "building.",
)
LEVEL, DELAY = -12.0, 0.12
"""The echo: dB below the agent's own level, whose peak is 0.7 of full scale, and seconds late."""
HEARD_AS = {"parses": "Paris is"}
"""What Whisper mishears of the clean answers, from which the times of the words are taken."""


def echoes(model: SharedWhisper) -> list[Echo]:
    """The answers in Piper's voice Joe on the caller's line."""
    from piper import PiperVoice

    found = find("en_US-joe-medium")
    assert found is not None
    voice = PiperVoice.load(str(found))
    made = []
    for answer in ANSWERS:
        spoken = np.concatenate([chunk.audio_float_array for chunk in voice.synthesize(answer)])
        sound = soxr.resample(spoken, voice.config.sample_rate, RATE)
        sound *= 0.7 / np.abs(sound).max()
        segments, _ = model._passes._model.transcribe(sound.astype(np.float32), language="en", word_timestamps=True)
        heard = [(word.word.strip(), float(word.end)) for segment in segments for word in segment.words or ()]
        late = np.concatenate([np.zeros(round(DELAY * RATE)), sound * 32767 * 10 ** (LEVEL / 20)])
        made.append(Echo(late.astype(np.int16), [(HEARD_AS.get(word, word), at) for word, at in heard]))
    return made


@pytest.mark.slow
def test_a_request_over_the_echo_has_its_own_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    use_pulled(monkeypatch, "tiny.en", "en_US-joe-medium")
    folder = find("tiny.en")
    assert folder is not None
    model, models = SharedWhisper.load(folder), TurnModels(smart_turn=False)
    played = echoes(model)
    whole = 0
    requests = list(people(None))[::2]
    for number, said in enumerate(requests):
        which = number % len(ANSWERS)
        with on_virtual_clock(model):
            answer = SpokenOver(
                models,
                functools.partial(WhisperHearing, model),
                saying=ANSWERS[which],
                echo=played[which],
                lead=1.6 + 0.5 * which,
            )

            async def hear(answer: SpokenOver = answer, number: int = number) -> None:
                await answer.hear(requests[number].sound, number, to_end=True)

            run_virtually(hear)
        heard = " ".join(answer.turn)
        begins = list(plain_words(heard))[:1] == list(plain_words(said.words))[:1]
        whole += begins
        print(f"{said.speaker}: {said.words} | {heard} | {'' if begins else 'begins otherwise'}")
    model.close()
    print(f"{whole} of {len(requests)} requests begin with their own first word")
    assert whole >= len(requests) / 2
