"""Audio flows while it is made, stops soon when it is not wanted, and the context keeps the words that were heard."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipecat.frames.frames import (
    AggregatedTextFrame,
    EagerEndOfTurnCancelFrame,
    Frame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.tests.utils import run_test

from tests.voice.tts.piper import tts_rig
from tests.voice.tts.piper import vits_graph as vits
from voice.frames import EarlySynthesisFrame, HoldPhraseFrame
from voice.tts.piper.pieces import samples_of
from voice.tts.piper.service import PiperTTSService
from voice.tts.piper.voice import Voice, embedded_voice
from voice.tts.synthesis_thread import Urgency

COUNT = "One two three four five six seven eight nine ten eleven twelve."
FIRST, SECOND = "It is ten past four.", "Anything else?"


@pytest.fixture
def gated() -> Iterator[tts_rig.GatedVoice]:
    voice = tts_rig.GatedVoice()
    yield voice
    voice.gate.set()
    voice.close()


@pytest.fixture
def flowing(tmp_path: Path) -> Iterator[tts_rig.GatedVoice]:
    """A voice of the true architecture, gated."""
    voice = tts_rig.GatedVoice(vits.write_voice(tmp_path, vits.SMALL))
    yield voice
    voice.gate.set()
    voice.close()


async def until(is_so: Callable[[], Any]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.01)


async def idle(voice: tts_rig.GatedVoice) -> None:
    """Nothing is left on the voice's thread."""
    voice.gate.set()
    await voice._thread.run(lambda: None, Urgency.LATER)


async def test_audio_leaves_while_the_rest_of_the_sentence_is_made(flowing: tts_rig.GatedVoice) -> None:
    flowing.held_from = 1
    flowing.gate.clear()
    async with tts_rig.calling(flowing) as call:
        await call.answer([COUNT])
        await until(lambda: call.loudspeaker.played)
        assert flowing.steps == 1
        flowing.gate.set()
        await call.out.until(LLMFullResponseEndFrame)
    assert flowing.steps > 3
    assert call.context.get_messages() == [{"role": "assistant", "content": COUNT}]


async def test_an_interruption_ends_the_synthesis_with_the_chunk_under_way(flowing: tts_rig.GatedVoice) -> None:
    flowing.held_from = 2
    flowing.gate.clear()
    async with tts_rig.calling(flowing) as call:
        await call.answer([COUNT, " " + COUNT])
        await until(lambda: flowing.steps == 2)
        await call.say(InterruptionFrame())
        await call.out.until(InterruptionFrame)
        await idle(flowing)
        assert flowing.steps <= 3
        assert flowing.asked == [COUNT]
        flowing.held_from = 0
        await call.answer()
        await call.out.until(LLMFullResponseEndFrame)
    assert flowing.asked == [COUNT, FIRST, SECOND]


async def test_the_next_clause_is_made_while_one_plays(gated: tts_rig.GatedVoice) -> None:
    async with tts_rig.calling(gated) as call:
        await call.answer([FIRST, " " + SECOND])
        await until(lambda: gated.steps == 4)
        assert call.loudspeaker.played < len(samples_of(gated.made)) / 2
        await call.out.until(LLMFullResponseEndFrame)


async def test_samples_reach_a_client_of_the_voices_rate_as_they_were_made(flowing: tts_rig.GatedVoice) -> None:
    async with tts_rig.calling(flowing) as call:
        await call.answer()
        await call.out.until(LLMFullResponseEndFrame)
        sound = np.frombuffer(call.loudspeaker.sound, np.int16)
    made = samples_of(flowing.made)
    assert np.array_equal(sound[: len(made)], made)
    assert not sound[len(made) :].any()


@pytest.mark.parametrize("count", [1, 5, 9])
async def test_the_context_keeps_the_words_heard_of_an_interrupted_answer(
    gated: tts_rig.GatedVoice, count: int
) -> None:
    async with tts_rig.calling(gated) as call:
        await call.answer([COUNT, " This is never heard."])
        await call.out.until(TTSTextFrame, count)
        await call.say(InterruptionFrame())
        await call.out.until(InterruptionFrame)
        await until(call.context.get_messages)
    (message,) = call.context.get_messages()
    kept = str(message["content"]).split()
    assert kept == COUNT.split()[: len(kept)]
    assert count <= len(kept) <= count + 2


async def test_a_clause_is_announced_before_its_audio(gated: tts_rig.GatedVoice) -> None:
    async with tts_rig.calling(gated) as call:
        await call.answer([FIRST, " " + SECOND])
        await call.out.until(LLMFullResponseEndFrame)
    told = [(type(frame), frame.text) for frame in call.out.frames if isinstance(frame, AggregatedTextFrame)]
    words = [[(TTSTextFrame, word) for word in clause.split()] for clause in (FIRST, SECOND)]
    assert told == [(AggregatedTextFrame, FIRST), *words[0], (AggregatedTextFrame, SECOND), *words[1]]


async def test_nothing_of_a_phrase_without_a_word_heard_is_kept(gated: tts_rig.GatedVoice) -> None:
    async with tts_rig.calling(gated) as call:
        await call.answer([COUNT])
        await until(lambda: call.loudspeaker.played)
        await call.say(InterruptionFrame())
        await call.out.until(InterruptionFrame)
    assert call.context.get_messages() == []


async def test_words_wait_for_what_has_been_sent_ahead() -> None:
    # How long this voice's phonemes last does not depend on chance.
    voice = Voice(embedded_voice())
    sent = [await samples_before_words(voice, ahead) for ahead in (0.0, 0.3)]
    at_once, later = (np.array(samples) / voice.sample_rate for samples in sent)
    assert len(at_once) == len(COUNT.split())
    assert (np.diff(at_once) > 0.05).all()
    waited = (later - at_once)[:-2]
    # A word waits for the piece that holds its end, of 0.1 s at most; where the silence ends is up to chance.
    assert waited == pytest.approx(0.35, abs=0.07)


async def samples_before_words(voice: Voice, ahead: float) -> list[int]:
    down, _ = await run_test(
        PiperTTSService(voice, sent_ahead=ahead),
        frames_to_send=[
            LLMFullResponseStartFrame(),
            *tts_rig.answer_texts([COUNT]),
            LLMFullResponseEndFrame(),
        ],
        start_timeout=30,
        pipeline_params=PipelineParams(audio_out_sample_rate=voice.sample_rate),
    )
    sent, before = 0, []
    for frame in down:
        if isinstance(frame, TTSAudioRawFrame):
            sent += frame.num_frames
        elif isinstance(frame, TTSTextFrame):
            before.append(sent)
    return before


async def test_a_prepared_clause_is_held_back_until_it_is_spoken(gated: tts_rig.GatedVoice) -> None:
    async with tts_rig.calling(gated) as call:
        await call.say(EarlySynthesisFrame(text=FIRST))
        await until(lambda: gated.steps == 2)
        await idle(gated)
        assert [f for f in call.spoken.frames if isinstance(f, TTSAudioRawFrame | TTSTextFrame)] == []
        gated.gate.clear()
        await call.answer([FIRST + " "])
        await until(lambda: call.loudspeaker.played)
        assert gated.asked == [FIRST]
        gated.gate.set()
        await call.out.until(LLMFullResponseEndFrame)
        assert (call.tts.ahead.started, call.tts.ahead.used, call.tts.ahead.dropped) == (1, 1, 0)
    assert call.context.get_messages() == [{"role": "assistant", "content": FIRST}]


async def test_a_clause_still_being_prepared_is_spoken_as_it_is_made(flowing: tts_rig.GatedVoice) -> None:
    flowing.held_from = 1
    flowing.gate.clear()
    async with tts_rig.calling(flowing) as call:
        await call.say(EarlySynthesisFrame(text=COUNT), EarlySynthesisFrame(text=COUNT))
        await until(lambda: flowing.steps == 1)
        await call.answer([COUNT])
        await until(lambda: call.loudspeaker.played)
        flowing.gate.set()
        await call.out.until(LLMFullResponseEndFrame)
    assert flowing.asked == [COUNT]
    assert call.context.get_messages() == [{"role": "assistant", "content": COUNT}]


async def test_preparing_the_next_clause_does_not_disturb_the_one_being_spoken(flowing: tts_rig.GatedVoice) -> None:
    flowing.held_from = 1
    flowing.gate.clear()
    async with tts_rig.calling(flowing) as call:
        await call.say(EarlySynthesisFrame(text=COUNT))
        await call.answer([COUNT])
        await until(lambda: call.loudspeaker.played)
        await call.say(EagerEndOfTurnCancelFrame(), EarlySynthesisFrame(text=SECOND))
        await until(lambda: call.tts.ahead.started == 2)
        flowing.gate.set()
        await call.out.until(LLMFullResponseEndFrame)
    assert call.context.get_messages() == [{"role": "assistant", "content": COUNT}]


async def test_a_hold_phrase_comes_before_the_prepared_clause(gated: tts_rig.GatedVoice) -> None:
    await gated.prepare(["One moment."])
    async with tts_rig.calling(gated) as call:
        await call.say(EarlySynthesisFrame(text=FIRST), HoldPhraseFrame("One moment."))
        await call.answer([FIRST])
        await call.out.until(LLMFullResponseEndFrame)
    assert gated.asked == ["One moment.", FIRST]
    assert call.tts.ahead.used == 1


@pytest.mark.parametrize(
    "drop", [EagerEndOfTurnCancelFrame, InterruptionFrame, lambda: EarlySynthesisFrame(text=SECOND)]
)
async def test_a_prepared_clause_is_discarded_with_its_turn(
    flowing: tts_rig.GatedVoice, drop: Callable[[], Frame]
) -> None:
    flowing.held_from = 1
    flowing.gate.clear()
    async with tts_rig.calling(flowing) as call:
        await call.say(EarlySynthesisFrame(text=COUNT))
        await until(lambda: flowing.steps == 1)
        await call.say(drop())
        await until(lambda: call.tts.ahead.dropped == 1)
        await idle(flowing)
        assert flowing.asked.count(COUNT) == 1
        made = [piece for piece in flowing.made if piece.words]
        assert not any("twelve." in piece.words for piece in made)
        await call.answer([COUNT])
        await call.out.until(LLMFullResponseEndFrame)
        assert flowing.asked.count(COUNT) == 2
        assert call.tts.ahead.used == 0


async def test_the_end_of_a_call_discards_the_prepared_clause(flowing: tts_rig.GatedVoice) -> None:
    flowing.held_from = 1
    flowing.gate.clear()
    async with tts_rig.calling(flowing) as call:
        await call.say(EarlySynthesisFrame(text=COUNT))
        await until(lambda: flowing.steps == 1)
    await idle(flowing)
    assert call.tts.ahead.dropped == 1
    assert flowing.steps <= 2


def ends(voice: Voice, text: str) -> dict[str, float]:
    """When each word of a text has been heard, in seconds."""
    found, now = {}, 0
    for piece in (piece for pieces in voice.pieces(text) for piece in pieces):
        now += len(piece.samples)
        found |= dict.fromkeys(piece.words, now / voice.sample_rate)
    return found


def test_written_words_end_when_what_is_said_for_them_does() -> None:
    voice = Voice(embedded_voice())
    written, said = (
        ends(voice, f"It costs {amount} by 5:30 **today**.")
        for amount in ("$45.50", "forty five dollars and fifty cents")
    )
    voice.close()
    assert list(written) == ["It", "costs", "$45.50", "by", "5:30", "**today**."]
    assert written["costs"] == pytest.approx(said["costs"], abs=0.1)
    assert written["$45.50"] == pytest.approx(said["cents"], abs=0.1)
    assert written["**today**."] == pytest.approx(said["**today**."], abs=0.1)


def test_a_voice_may_be_left_to_its_phonemiser() -> None:
    words, figures = Voice(embedded_voice()), Voice(embedded_voice(), normalise=False)
    text = "It is 11/20/2026."
    read, left = ends(words, text)["11/20/2026."], ends(figures, text)["11/20/2026."]
    assert abs(read - left) > 0.3, "slash is said"
    words.close()
    figures.close()
