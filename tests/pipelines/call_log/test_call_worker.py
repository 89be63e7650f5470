"""Observers of a call see what they look at, and no audio that every part hands on."""

import asyncio
from typing import Any

import pytest
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EndFrame,
    Frame,
    FunctionCallInProgressFrame,
    FunctionCallResultFrame,
    InputAudioRawFrame,
    LLMTextFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
    TextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.observers.base_observer import BaseObserver, FrameProcessed, FramePushed
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.processors.frameworks.rtvi import RTVIFunctionCallReportLevel, RTVIObserverParams
from pipecat.utils.asyncio.task_manager import TaskManager, TaskManagerParams
from pipecat.workers.runner import WorkerRunner

from latency.record.turn import ServerTurn
from pipelines.call_log.call_worker import CallObservers, CallWorker
from voice.server.rtvi import CallRTVI


class Pushes(BaseObserver):
    def __init__(self) -> None:
        super().__init__(observe_every_push=False)
        self.seen: list[type[Frame]] = []

    async def on_push_frame(self, data: FramePushed) -> None:
        self.seen.append(type(data.frame))


class Processing(Pushes):
    async def on_process_frame(self, data: FrameProcessed) -> None:
        self.seen.append(type(data.frame))


async def seen_by(observer: Pushes, frames: list[Frame]) -> list[type[Frame]]:
    """The frames that the observer sees of those that a part processes and pushes."""
    manager, part = TaskManager(), IdentityFilter()
    manager.setup(TaskManagerParams(loop=asyncio.get_running_loop()))
    observers = CallObservers([observer])
    await observers.setup(manager)
    down = FrameDirection.DOWNSTREAM
    for frame in frames:
        await observers.on_process_frame(FrameProcessed(processor=part, frame=frame, direction=down, timestamp=0))
        await observers.on_push_frame(
            FramePushed(source=part, destination=part, frame=frame, direction=down, timestamp=0)
        )
    await asyncio.sleep(0.05)
    await observers.cleanup()
    return observer.seen


def frames() -> list[Frame]:
    sound = {"audio": bytes(640), "sample_rate": 16000, "num_channels": 1}
    return [InputAudioRawFrame(**sound), OutputAudioRawFrame(**sound), TTSAudioRawFrame(**sound), TextFrame("hello")]


async def test_audio_that_is_received_or_sent_is_not_observed() -> None:
    assert await seen_by(Pushes(), frames()) == [TTSAudioRawFrame, TextFrame]


async def test_an_observer_of_processing_is_told_of_it() -> None:
    text: list[Frame] = [TextFrame("hello")]
    assert await seen_by(Processing(), text) == [TextFrame, TextFrame]


def call_frames(tool_call_id: object) -> list[Frame]:
    """A tool call as a model may send it, between words and audio."""
    odd: Any = tool_call_id
    return [
        BotStartedSpeakingFrame(),
        FunctionCallInProgressFrame(function_name="weather", tool_call_id=odd, arguments={"city": "Oslo"}),
        FunctionCallResultFrame(function_name="weather", tool_call_id=odd, arguments={}, result="sunny"),
        LLMTextFrame("after it"),
        BotStoppedSpeakingFrame(),
    ]


class ToTheClient(FrameProcessor):
    """Keeps the RTVI messages that a pipeline sends, by type."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, OutputTransportMessageUrgentFrame | OutputTransportMessageFrame):
            self.sent.append(frame.message["type"])
        await self.push_frame(frame, direction)


class Failing(BaseObserver):
    """Cannot take anything."""

    def __init__(self) -> None:
        super().__init__(observe_every_push=False)
        self.calls = 0

    async def on_push_frame(self, data: FramePushed) -> None:
        self.calls += 1
        raise ValueError("sk-proj-0123456789abcdefghij is odd\x1b[2J")


class Metrics:
    """Counts what observers missed."""

    number_missed = 0

    def away(self, gone: bool) -> None:
        raise AssertionError

    def note(self, turn: ServerTurn) -> None:
        raise AssertionError

    def missed(self) -> None:
        self.number_missed += 1


async def sent_for(frames: list[Frame], *, metrics: Metrics, observers: list[BaseObserver]) -> list[str]:
    """The RTVI messages that a call sends while these frames pass through its pipeline."""
    client, rtvi = ToTheClient(), CallRTVI()
    levels = {"*": RTVIFunctionCallReportLevel.FULL}
    worker = CallWorker(
        Pipeline([IdentityFilter(), client]),
        observers=observers,
        rtvi_processor=rtvi,
        rtvi_observer_params=RTVIObserverParams(function_call_report_level=levels),
        idle_timeout_secs=None,
        metrics=metrics,
    )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await worker.queue_frames(frames)
    async with asyncio.timeout(20):
        while "bot-stopped-speaking" not in client.sent:
            await asyncio.sleep(0.01)
    await worker.queue_frame(EndFrame())
    await asyncio.wait_for(running, 20)
    return client.sent


@pytest.mark.parametrize("odd", [None, 7, {"id": 1}, ["a"], b"x", "\ud83d", "", 1.5, True])
async def test_an_odd_tool_call_does_not_silence_a_call(odd: object) -> None:
    metrics = Metrics()
    sent = await sent_for(call_frames(odd), metrics=metrics, observers=[])
    assert sent.index("bot-started-speaking") < sent.index("bot-llm-text") < sent.index("bot-stopped-speaking")


@pytest.mark.parametrize("words", ["a\ud83d", "\udc00", "\x00", "a" * 100_000])
async def test_odd_words_do_not_silence_a_call(words: str) -> None:
    odd: list[Frame] = [
        LLMTextFrame(words),
        TranscriptionFrame(words, "caller", "2026-11-25T12:00:00"),
        TTSTextFrame(words, aggregated_by="word"),
    ]
    frames = [BotStartedSpeakingFrame(), *odd, LLMTextFrame("after it"), BotStoppedSpeakingFrame()]
    sent = await sent_for(frames, metrics=Metrics(), observers=[])
    assert sent.count("bot-llm-text") >= 1
    assert sent[-1] == "bot-stopped-speaking"


async def test_an_observer_that_fails_is_told_of_what_follows_and_silences_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics, failing, other = Metrics(), Failing(), Pushes()
    sent = await sent_for(call_frames("call-1"), metrics=metrics, observers=[failing, other])
    assert failing.calls == len(other.seen) > 5
    assert metrics.number_missed == failing.calls
    assert sent.count("bot-stopped-speaking") == 1
    (said,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert said == (
        r"Failing failed on an event (ValueError: [key hidden] is odd\x1b[2J); further events like it are only counted"
    )


async def test_an_observer_that_fails_as_it_leaves_is_told_nothing_more() -> None:
    class Leaving(Failing):
        async def on_push_frame(self, data: FramePushed) -> None:
            await observers.remove_observer(self)
            await super().on_push_frame(data)

    leaving = Leaving()
    manager = TaskManager()
    manager.setup(TaskManagerParams(loop=asyncio.get_running_loop()))
    observers = CallObservers([leaving])
    await observers.setup(manager)
    part = IdentityFilter()
    for _ in range(3):
        await observers.on_push_frame(
            FramePushed(
                source=part, destination=part, frame=TextFrame("x"), direction=FrameDirection.DOWNSTREAM, timestamp=0
            )
        )
    async with asyncio.timeout(20):
        while manager.current_tasks():
            await asyncio.sleep(0.01)
    assert leaving.calls == 1
