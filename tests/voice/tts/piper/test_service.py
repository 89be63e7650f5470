"""The embedded voice speaks, at a steady level and without a silent start; bad voices are refused.

Hold phrases come from what was synthesised before the call, apart from the answer they precede.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pipecat.frames.frames import (
    AggregatedTextFrame,
    InterruptionFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
    TTSTextFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.tests.utils import run_test

from tests.voice.tts.piper import tts_rig
from voice.errors import ComponentError, ConfigurationError
from voice.frames import HOLD_PHRASE, AnswerTextFrame, HoldPhraseFrame
from voice.tts.piper.pieces import onset, samples_of
from voice.tts.piper.service import PiperTTSService
from voice.tts.piper.voice import LEAD_FIRST, Voice, embedded_voice

PHRASE = "One moment."


@pytest.fixture(scope="module")
def voice() -> Voice:
    return Voice(embedded_voice())


@pytest.mark.parametrize("text", ["It is 4:10 in the afternoon.", "Hello there.", "7 times 8 is 56."])
def test_speech_starts_at_the_lead_asked_for(voice: Voice, text: str) -> None:
    samples = voice.synthesize(text, lead=0.05)
    assert samples.dtype == np.int16
    # Piper draws its noise anew each time, and cut at other places a soft start may be silence for a block or two.
    assert silence_before(samples, voice.sample_rate) == pytest.approx(0.06, abs=0.015)


def test_noise_before_a_soft_start_is_silence_too(voice: Voice) -> None:
    # The voice hums for 200 ms at -55 dB before this sentence, with single samples above the threshold.
    samples = voice.synthesize("There are 3600 seconds in an hour.", lead=0.0) / 32768
    assert np.sqrt((samples[: voice.sample_rate // 50] ** 2).mean()) > 0.005


def test_a_soft_sentence_is_not_scaled_to_full_range(voice: Voice) -> None:
    peaks = [int(np.abs(voice.synthesize(text)).max()) for text in ("Hello there.", "It is ten past four.")]
    assert max(peaks) < 32000


def test_an_abbreviation_is_no_end_of_a_sentence(voice: Voice) -> None:
    audio = voice.synthesize("Dr. Smith met Mr. J. Jones.") / 32768
    blocks = audio[: len(audio) // 80 * 80].reshape(-1, 80)
    audible = np.flatnonzero(np.sqrt((blocks**2).mean(axis=1)) > 0.005)
    # Between two sentences this voice is silent for 0.3 s.
    assert np.diff(audible).max() * 0.005 < 0.15


def test_nothing_to_say_is_no_audio(voice: Voice) -> None:
    assert len(voice.synthesize("...")) == 0


def test_a_missing_voice_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="does not exist"):
        Voice(tmp_path / "nobody.onnx")


def test_a_file_that_is_no_voice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.onnx").write_bytes(b"not a model")
    (tmp_path / "x.onnx.json").write_text("{}")
    with pytest.raises(ComponentError, match="is not a whole Piper voice"):
        Voice(tmp_path / "x.onnx")


async def test_text_of_another_language_model_is_cut_into_sentences_by_pipecat(gated: tts_rig.GatedVoice) -> None:
    async with tts_rig.calling(gated) as call:
        await call.say(LLMFullResponseStartFrame(), *map(LLMTextFrame, tts_rig.ANSWER), LLMFullResponseEndFrame())
        await call.out.until(LLMFullResponseEndFrame)
    assert gated.asked == ["It is ten past four.", "Anything else?"]
    assert call.context.get_messages() == [{"role": "assistant", "content": "It is ten past four. Anything else?"}]


async def test_clauses_are_spoken_as_they_come_and_not_cut_again(gated: tts_rig.GatedVoice) -> None:
    async with tts_rig.calling(gated) as call:
        await call.say(
            LLMFullResponseStartFrame(),
            AnswerTextFrame("It ", clauses=()),
            AnswerTextFrame("is. So, ", clauses=("It is. So,",)),
            AnswerTextFrame(" 🙂"),
            LLMFullResponseEndFrame(),
        )
        await call.out.until(LLMFullResponseEndFrame)
    assert gated.asked == ["It is. So,"]


async def test_an_answer_that_is_only_read_makes_no_sound(gated: tts_rig.GatedVoice) -> None:
    start, end = LLMFullResponseStartFrame(), LLMFullResponseEndFrame()
    texts = tts_rig.answer_texts(tts_rig.ANSWER)
    for frame in (start, *texts, end):
        frame.skip_tts = True
    async with tts_rig.calling(gated) as call:
        await call.say(start, *texts, end)
        await call.out.until(LLMFullResponseEndFrame)
    assert gated.asked == []
    assert call.context.get_messages() == [{"role": "assistant", "content": "It is ten past four. Anything else?"}]


async def test_an_answer_is_spoken_clause_by_clause_in_order(voice: Voice) -> None:
    words = ["Once ", "upon ", "a ", "time, ", "there ", "was ", "a ", "bell. ", "It ", "rang."]
    down, _ = await run_test(
        PiperTTSService(voice),
        frames_to_send=[LLMFullResponseStartFrame(), *tts_rig.answer_texts(words), LLMFullResponseEndFrame()],
        start_timeout=30,
        pipeline_params=PipelineParams(audio_out_sample_rate=voice.sample_rate),
    )
    spoken = [frame.text for frame in down if isinstance(frame, TTSTextFrame)]
    assert spoken == ["Once", "upon", "a", "time,", "there", "was", "a", "bell.", "It", "rang."]
    audio = [frame for frame in down if isinstance(frame, TTSAudioRawFrame)]
    assert {frame.sample_rate for frame in audio} == {voice.sample_rate}
    seconds = sum(len(frame.audio) for frame in audio) / 2 / voice.sample_rate
    assert 1.5 < seconds < 6


@pytest.fixture
def gated() -> Iterator[tts_rig.GatedVoice]:
    voice = tts_rig.GatedVoice()
    yield voice
    voice.gate.set()
    voice.close()


def phrase_samples(voice: Voice) -> np.ndarray:
    prepared = voice.prepared(PHRASE)
    assert prepared is not None
    return samples_of(prepared)


def silence_before(samples: np.ndarray, rate: int) -> float:
    start = onset(samples / np.float32(32768), rate)
    assert start is not None
    return start / rate


async def test_phrases_are_synthesised_once_for_all_calls(gated: tts_rig.GatedVoice) -> None:
    await gated.prepare([PHRASE, "Let me think.", PHRASE])
    await gated.prepare([f" {PHRASE} "])
    assert gated.asked == [PHRASE, "Let me think."]
    for _ in range(2):
        async with tts_rig.calling(gated) as call:
            await call.say(HoldPhraseFrame(PHRASE))
            await call.out.until(TTSStoppedFrame)
    assert gated.asked == [PHRASE, "Let me think."]


async def test_a_phrase_that_cannot_be_spoken_is_refused(voice: Voice) -> None:
    with pytest.raises(ConfigurationError, match="nothing that can be spoken"):
        await voice.prepare(["..."])


async def test_preparing_leaves_the_event_loop_free(gated: tts_rig.GatedVoice) -> None:
    gated.gate.clear()
    preparing = asyncio.create_task(gated.prepare([PHRASE]))
    await asyncio.sleep(0.05)
    assert gated.asked == [PHRASE]
    assert not preparing.done()
    gated.gate.set()
    await preparing


async def test_a_hold_phrase_is_heard_while_the_synthesiser_is_busy(gated: tts_rig.GatedVoice) -> None:
    await gated.prepare([PHRASE])
    gated.gate.clear()
    busy = asyncio.create_task(gated.speak("A clause of another call."))
    async with tts_rig.calling(gated) as call:
        await call.say(HoldPhraseFrame(PHRASE))
        await call.out.until(TTSStoppedFrame)
        assert not busy.done()
        assert call.loudspeaker.played / gated.sample_rate > 0.5
        gated.gate.set()
        await busy


async def test_a_hold_phrase_and_the_answer_come_in_order_and_apart(gated: tts_rig.GatedVoice) -> None:
    await gated.prepare([PHRASE])
    async with tts_rig.calling(gated) as call:
        await call.say(HoldPhraseFrame(PHRASE))
        await call.answer()
        await call.out.until(LLMFullResponseEndFrame)
    frames = call.spoken.frames
    announced = [(f.text, f.text_type) for f in frames if type(f) is AggregatedTextFrame]
    assert announced == [(PHRASE, HOLD_PHRASE), ("It is ten past four.", "sentence"), ("Anything else?", "sentence")]
    of_phrase, of_answer = [frame.context_id for frame in frames if isinstance(frame, TTSStartedFrame)]
    assert of_phrase != of_answer
    contexts = [frame.context_id for frame in frames if isinstance(frame, TTSAudioRawFrame | TTSTextFrame)]
    assert contexts == sorted(contexts, key=[of_phrase, of_answer].index)
    assert set(contexts) == {of_phrase, of_answer}
    kinds = [type(frame) for frame in frames]
    assert kinds.index(TTSStoppedFrame) < kinds.index(LLMFullResponseStartFrame)
    heard = [f.text for f in call.out.frames if isinstance(f, TTSTextFrame)]
    assert heard == [*PHRASE.split(), *"".join(tts_rig.ANSWER).split()]
    assert np.array_equal(tts_rig.audio_of(frames, of_phrase), phrase_samples(gated))
    assert call.loudspeaker.played >= len(tts_rig.audio_of(frames, of_answer))


async def test_a_hold_phrase_never_reaches_the_language_model(gated: tts_rig.GatedVoice) -> None:
    await gated.prepare([PHRASE])
    async with tts_rig.calling(gated) as call:
        await call.say(HoldPhraseFrame(PHRASE))
        await call.answer()
        await call.out.until(LLMFullResponseEndFrame)
    assert call.context.get_messages() == [{"role": "assistant", "content": "It is ten past four. Anything else?"}]


@pytest.mark.parametrize("inside", [False, True], ids=["before the answer", "inside the answer"])
async def test_after_a_hold_phrase_the_answer_has_its_own_lead_in(gated: tts_rig.GatedVoice, inside: bool) -> None:
    await gated.prepare([PHRASE])
    async with tts_rig.calling(gated) as call:
        if inside:
            await call.say(LLMFullResponseStartFrame(), HoldPhraseFrame(PHRASE))
        else:
            await call.say(HoldPhraseFrame(PHRASE), LLMFullResponseStartFrame())
        await call.say(*tts_rig.answer_texts(tts_rig.ANSWER), LLMFullResponseEndFrame())
        await call.out.until(LLMFullResponseEndFrame)
    rate = gated.sample_rate
    of_phrase, of_answer = [f.context_id for f in call.spoken.frames if isinstance(f, TTSStartedFrame)]
    for context in (of_phrase, of_answer):
        assert silence_before(tts_rig.audio_of(call.spoken.frames, context), rate) == pytest.approx(
            LEAD_FIRST, abs=0.005
        )
    assert gated.asked == [PHRASE, "It is ten past four.", "Anything else?"]


async def test_a_phrase_that_an_answer_says_later_keeps_the_pause_between_clauses(gated: tts_rig.GatedVoice) -> None:
    await gated.prepare([PHRASE])
    async with tts_rig.calling(gated) as call:
        await call.answer([f"All right then. {PHRASE}"])
        await call.out.until(LLMFullResponseEndFrame)
    assert gated.asked == [PHRASE, "All right then.", PHRASE]


async def test_an_interruption_during_a_hold_phrase_leaves_nothing_of_it(gated: tts_rig.GatedVoice) -> None:
    await gated.prepare([PHRASE])
    async with tts_rig.calling(gated) as call:
        await call.say(HoldPhraseFrame(PHRASE))
        await call.out.until(TTSStartedFrame)
        await call.say(InterruptionFrame())
        await call.out.until(InterruptionFrame)
        cut = call.loudspeaker.played
        assert cut < len(phrase_samples(gated))
        assert call.tts.get_audio_contexts() == []
        await asyncio.sleep(0.3)
        assert call.loudspeaker.played - cut <= gated.sample_rate // 10
        await call.answer()
        await call.out.until(LLMFullResponseEndFrame)
    after = call.out.frames[[type(frame) for frame in call.out.frames].index(InterruptionFrame) :]
    assert [f.text for f in after if isinstance(f, TTSTextFrame)] == "".join(tts_rig.ANSWER).split()
    of_answer = [frame.context_id for frame in call.spoken.frames if isinstance(frame, TTSStartedFrame)][-1]
    spoken = tts_rig.audio_of(call.spoken.frames, of_answer)
    assert silence_before(spoken, gated.sample_rate) == pytest.approx(LEAD_FIRST, abs=0.005)
    assert call.context.get_messages() == [{"role": "assistant", "content": "It is ten past four. Anything else?"}]


async def test_speech_that_was_not_prepared_is_synthesised(gated: tts_rig.GatedVoice) -> None:
    async with tts_rig.calling(gated) as call:
        await call.say(TTSSpeakFrame("Your tea is ready."))
        await call.out.until(TTSStoppedFrame)
    assert gated.asked == ["Your tea is ready."]
