import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pocketsphinx
import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EagerTranscriptionFrame,
    ErrorFrame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    STTMetadataFrame,
    STTMuteFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.tests.utils import run_test

from tests.voice.asr.sphinx.sphinx_call import Call, audio, oldest, utterance, workers
from voice.asr.sphinx import service
from voice.asr.sphinx.language_model import LanguageModel
from voice.asr.sphinx.overlap import UNKNOWN
from voice.asr.sphinx.service import SphinxPool, SphinxSTTService
from voice.frames import (
    EagerHintFrame,
    NothingHeardFrame,
    OverlapEvidenceFrame,
    RecogniserFailedFrame,
    SpeechResumedFrame,
)

Speak = Callable[[str], bytes]


@pytest.fixture
async def pool() -> AsyncIterator[SphinxPool]:
    pool = SphinxPool(spare=1)
    await pool.start()
    yield pool
    await pool.close()
    assert workers() == set()


async def test_interim_texts_come_while_the_user_speaks_and_one_final_text_after(
    pool: SphinxPool, speak: Speak
) -> None:
    *speech, stop = utterance(speak("what time is it"))
    async with Call(pool) as call:
        await call.send(*speech)
        await call.wait_for(InterimTranscriptionFrame)
        await asyncio.sleep(1)
        await call.send(stop)
        (final,) = await call.wait_for(TranscriptionFrame)
        assert final.finalized
        assert {"time", "it"} <= set(final.text.split())
        assert isinstance(call.below.of(InterimTranscriptionFrame, TranscriptionFrame)[-1], TranscriptionFrame)


async def test_a_hint_brings_the_words_so_far_and_the_final_text_still_comes(pool: SphinxPool, speak: Speak) -> None:
    *speech, stop = utterance(speak("what time is it"))
    async with Call(pool) as call:
        await call.send(*speech, EagerHintFrame(silence=0.1))
        (eager,) = await call.wait_for(EagerTranscriptionFrame)
        assert "time" in eager.text.split()
        assert not call.below.of(TranscriptionFrame)
        await call.send(stop)
        (final,) = await call.wait_for(TranscriptionFrame)
        assert final.finalized
        assert len(call.below.of(EagerTranscriptionFrame)) == 1


async def test_only_of_sounds_over_an_answer_it_tells_what_they_are_like(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        await call.send(BotStartedSpeakingFrame(), *utterance(speak("stop")))
        await call.wait_for(TranscriptionFrame)
        leanings = call.below.of(OverlapEvidenceFrame)
        assert leanings[-1].nats >= UNKNOWN
        assert call.below.of(OverlapEvidenceFrame, TranscriptionFrame)[-2] is leanings[-1]
        texts = [frame.text for frame in call.below.of(InterimTranscriptionFrame)]
        assert all(first != second for first, second in zip(texts, texts[1:], strict=False))
        await call.send(BotStoppedSpeakingFrame(), *utterance(speak("stop")))
        await call.wait_for(TranscriptionFrame, count=2)
        assert call.below.of(OverlapEvidenceFrame) == leanings


async def test_a_wrong_or_late_hint_brings_no_text(pool: SphinxPool, speak: Speak) -> None:
    *speech, stop = utterance(speak("what time is it"))
    async with Call(pool) as call:
        await call.send(EagerHintFrame(silence=0.1))
        await call.send(*speech, EagerHintFrame(silence=0.1), SpeechResumedFrame(), EagerHintFrame(silence=0.1), stop)
        await call.wait_for(TranscriptionFrame)
        assert not call.below.of(EagerTranscriptionFrame)


async def test_the_end_of_a_call_waits_for_the_text_of_its_last_utterance(pool: SphinxPool, speak: Speak) -> None:
    sent = utterance(speak("what time is it"))
    down, _ = await run_test(SphinxSTTService(pool=pool, text_timeout=60), frames_to_send=sent, start_timeout=30)
    (final,) = (frame for frame in down if isinstance(frame, TranscriptionFrame))
    assert final.finalized
    passed = [frame.audio for frame in down if isinstance(frame, InputAudioRawFrame)]
    assert passed == [frame.audio for frame in sent if isinstance(frame, InputAudioRawFrame)]
    (metadata,) = (frame for frame in down if isinstance(frame, STTMetadataFrame))
    assert 0.2 < metadata.ttfs_p99_latency < 1


async def test_speech_before_the_detectors_report_is_recognised(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        frames = utterance(speak("what time is it"))
        await call.send(*frames)
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert heard.text.split()[0] == "what"


async def test_silence_is_reported_as_nothing_heard_and_the_next_utterance_works(
    pool: SphinxPool, speak: Speak
) -> None:
    async with Call(pool) as call:
        await call.send(*utterance(bytes(32000)))
        await call.wait_for(NothingHeardFrame)
        assert not call.below.of(TranscriptionFrame)
        await call.send(*utterance(speak("what time is it")))
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert "time" in heard.text
        assert len(call.below.of(NothingHeardFrame)) == 1


async def test_only_the_last_text_of_speech_that_goes_on_is_final(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        await call.send(*utterance(speak("what time is it")), *utterance(speak("good morning")))
        first, second = await call.wait_for(TranscriptionFrame, count=2)
        assert "time" in first.text
        assert "morning" in second.text
        assert not first.finalized
        assert second.finalized
        assert isinstance(call.below.of(InterimTranscriptionFrame, TranscriptionFrame)[-1], TranscriptionFrame)


async def test_a_worker_killed_mid_utterance_fails_that_turn_and_not_the_next(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        frames = utterance(speak("what time is it"))
        await call.send(*frames[:60])
        await call.wait_for(VADUserStartedSpeakingFrame)
        await asyncio.sleep(0.2)
        busy = oldest()
        os.kill(busy, signal.SIGKILL)
        async with asyncio.timeout(60):
            while not call.above.of(ErrorFrame):
                await asyncio.sleep(0.01)
        assert not call.below.of(RecogniserFailedFrame)  # the user is still speaking
        await call.send(*frames[60:])
        (failed,) = await call.wait_for(RecogniserFailedFrame)
        assert "signal 9" in failed.reason
        (error,) = call.above.of(ErrorFrame)
        assert not error.category.is_permanent
        assert call.service.is_usable
        await call.send(*utterance(speak("good morning")))
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert "morning" in heard.text
        assert heard.finalized
        assert len(call.below.of(RecogniserFailedFrame)) == 1
        assert busy not in workers()


async def test_a_worker_killed_between_utterances_fails_no_turn(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        await call.send(*utterance(speak("what time is it")))
        await call.wait_for(TranscriptionFrame)
        os.kill(oldest(), signal.SIGKILL)
        await call.send(*utterance(speak("good morning")))
        _, heard = await call.wait_for(TranscriptionFrame, RecogniserFailedFrame, count=2)
        # Speech that begins while the death is not yet known may be lost with the dead worker, but never silently.
        if isinstance(heard, RecogniserFailedFrame):
            await call.send(*utterance(speak("good morning")))
            *_, heard = await call.wait_for(TranscriptionFrame, count=2)
        assert "morning" in heard.text


async def test_two_calls_do_not_mix(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as one, Call(pool) as other:
        for a, b in zip(utterance(speak("what time is it")), utterance(speak("good morning")), strict=False):
            await one.send(a)
            await other.send(b)
        await one.send(VADUserStoppedSpeakingFrame())
        await other.send(VADUserStoppedSpeakingFrame())
        (first,), (second,) = await one.wait_for(TranscriptionFrame), await other.wait_for(TranscriptionFrame)
        assert "time" in first.text
        assert "morning" in second.text


async def test_a_worker_that_hangs_at_the_end_of_an_utterance_fails_the_turn(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool, text_timeout=1) as call:
        *speech, stop = utterance(speak("what time is it"))
        await call.send(*speech)
        await call.wait_for(VADUserStartedSpeakingFrame)
        await asyncio.sleep(0.2)
        os.kill(oldest(), signal.SIGSTOP)
        await call.send(stop)
        (failed,) = await call.wait_for(RecogniserFailedFrame)
        assert "signal 9" in failed.reason


async def test_a_worker_that_hangs_in_long_speech_fails_only_that_turn(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        frames = utterance(speak("what time is it"))
        await call.send(*frames[:60])
        await call.wait_for(VADUserStartedSpeakingFrame)
        await asyncio.sleep(0.2)
        os.kill(oldest(), signal.SIGSTOP)
        await call.send(*audio(bytes(40 * 32000)), VADUserStoppedSpeakingFrame())
        (failed,) = await call.wait_for(RecogniserFailedFrame)
        assert "recogniser process" in failed.reason
        await call.send(*utterance(speak("good morning")))
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert "morning" in heard.text


async def test_muting_abandons_the_utterance(pool: SphinxPool, speak: Speak) -> None:
    async with Call(pool) as call:
        frames = utterance(speak("what time is it"))
        await call.send(*frames[:80], STTMuteFrame(mute=True), *frames[80:], *utterance(speak("say that again")))
        await call.wait_for(VADUserStoppedSpeakingFrame, count=2)
        await call.send(STTMuteFrame(mute=False), *utterance(speak("good morning")))
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert "morning" in heard.text
        assert not call.below.of(NothingHeardFrame, RecogniserFailedFrame)


@pytest.mark.parametrize("spoken", [0, 10, 60, 1000], ids=["at once", "in silence", "in speech", "after speech"])
async def test_a_call_cancelled_at_any_time_gives_its_worker_back(pool: SphinxPool, speak: Speak, spoken: int) -> None:
    def tasks() -> set[asyncio.Task[Any]]:
        return {task for task in asyncio.all_tasks() if not task.get_name().startswith("watch over recogniser")}

    before = tasks()
    call = Call(pool)
    async with call:
        await call.send(*utterance(speak("what time is it"))[:spoken])
        await call.send(CancelFrame())
    async with asyncio.timeout(60):
        while tasks() != before or pool.idle != 1 or len(workers()) != 1:
            await asyncio.sleep(0.01)
    async with Call(pool) as again:
        await again.send(*utterance(speak("good morning")))
        (heard,) = await again.wait_for(TranscriptionFrame)
        assert "morning" in heard.text


async def test_a_recogniser_that_cannot_start_loses_each_utterance_and_is_tried_again(
    tmp_path: Path, speak: Speak, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "RETRY_AFTER", 0.2)
    missing = tmp_path / "en-us.lm.bin"
    pool = SphinxPool(language_model=LanguageModel(name="missing at first", path=missing))
    async with Call(pool) as call:
        await call.send(*utterance(bytes(32000)))
        (first,) = await call.wait_for(RecogniserFailedFrame)
        assert "did not start" in first.reason
        (error,) = call.above.of(ErrorFrame)
        assert "did not start" in error.error
        await call.send(*utterance(bytes(32000)))
        await call.wait_for(RecogniserFailedFrame, count=2)
        missing.symlink_to(Path(pocketsphinx.get_model_path()) / "en-us" / "en-us.lm.bin")
        async with asyncio.timeout(60):
            while call.service._worker is None:
                await asyncio.sleep(0.05)
        await call.send(*utterance(speak("good morning")))
        (heard,) = await call.wait_for(TranscriptionFrame)
        assert "morning" in heard.text
        assert len(call.above.of(ErrorFrame)) == 1
    await pool.close()


async def test_a_worker_killed_before_it_gives_the_final_text_fails_the_turn_at_once(
    pool: SphinxPool, speak: Speak
) -> None:
    async with Call(pool) as call:
        await call.send(*utterance(speak("what time is it")))
        await call.wait_for(VADUserStoppedSpeakingFrame)
        os.kill(oldest(), signal.SIGKILL)
        (failed,) = await call.wait_for(RecogniserFailedFrame)
        assert "signal 9" in failed.reason
        assert not call.below.of(TranscriptionFrame)
