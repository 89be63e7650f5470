"""A LiveKit Agents bot without a room: an `AgentSession` whose audio input and output use our wire format.

Whisper and Piper do not stream, so the framework wraps them (Silero before Whisper, a sentence splitter before Piper).
Models are loaded once per process, as in a worker's prewarm; everything else keeps the framework's defaults.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from fastapi import WebSocket, WebSocketDisconnect
from faster_whisper import WhisperModel
from livekit import rtc
from livekit.agents import Agent, AgentSession, AgentStateChangedEvent, LanguageCode, stt, tts, utils
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS
from livekit.agents.voice import io
from livekit.plugins import openai, silero
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageFrame,
)
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from piper import PiperVoice

from pipelines.lab.bench.peer import Parts
from voice.wire.messages import BotReady, Speaking, to_rtvi

BLOCKS_PER_SECOND = 50


@cache
def prewarm(parts: Parts) -> tuple[WhisperModel, PiperVoice, silero.VAD]:
    """Load the models that all calls share."""
    return WhisperModel(str(parts.whisper)), PiperVoice.load(parts.voice), silero.VAD.load()


class LivekitWhisper(stt.STT):  # type: ignore[misc]
    """faster-whisper with its own defaults, or with these options of `transcribe`."""

    def __init__(self, model: WhisperModel, **decoding: Any) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=False, interim_results=False))
        self._model = model
        self._decoding = decoding

    async def _recognize_impl(self, buffer: Any, **_options: Any) -> stt.SpeechEvent:
        samples = np.frombuffer(utils.merge_frames(buffer).data, np.int16).astype(np.float32) / 32768

        def transcribe() -> str:
            segments, _ = self._model.transcribe(samples, language="en", **self._decoding)
            return " ".join(segment.text.strip() for segment in segments)

        heard = stt.SpeechData(language=LanguageCode("en"), text=await asyncio.to_thread(transcribe))
        return stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[heard])


class LivekitPiper(tts.TTS):  # type: ignore[misc]
    """A Piper voice with its own defaults."""

    def __init__(self, voice: PiperVoice) -> None:
        whole = tts.TTSCapabilities(streaming=False)
        super().__init__(capabilities=whole, sample_rate=voice.config.sample_rate, num_channels=1)
        self.voice = voice

    def synthesize(self, text: str, *, conn_options: Any = DEFAULT_API_CONNECT_OPTIONS) -> tts.ChunkedStream:
        """Synthesise one sentence."""
        return PiperSentence(tts=self, input_text=text, conn_options=conn_options)


class PiperSentence(tts.ChunkedStream):  # type: ignore[misc]
    """A sentence being synthesised, in a thread."""

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        output_emitter.initialize(
            request_id=utils.shortuuid(), sample_rate=self._tts.sample_rate, num_channels=1, mime_type="audio/pcm"
        )
        chunks = iter(self._tts.voice.synthesize(self.input_text))
        while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
            output_emitter.push(chunk.audio_int16_bytes)
        output_emitter.flush()


class Caller:
    """The other end of the socket, which exchanges pipecat's protobuf frames."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket
        self._serializer = ProtobufFrameSerializer()

    async def send(self, frame: Frame) -> None:
        """Send a frame; does nothing if the caller has hung up."""
        data = await self._serializer.serialize(frame)
        assert isinstance(data, bytes)
        with suppress(WebSocketDisconnect, RuntimeError):  # what starlette raises for a closed socket
            await self._websocket.send_bytes(data)

    async def report(self, message: BotReady | Speaking) -> None:
        """Send an RTVI message."""
        await self.send(OutputTransportMessageFrame(to_rtvi(message, id=utils.shortuuid())))

    async def audio(self) -> AsyncIterator[rtc.AudioFrame]:
        """The caller's audio until the connection closes."""
        with suppress(WebSocketDisconnect):
            while True:
                frame = await self._serializer.deserialize(await self._websocket.receive_bytes())
                if isinstance(frame, InputAudioRawFrame):
                    samples = len(frame.audio) // 2 // frame.num_channels
                    yield rtc.AudioFrame(frame.audio, frame.sample_rate, frame.num_channels, samples)


class CallInput(io.AudioInput):  # type: ignore[misc]
    """The caller's audio."""

    def __init__(self) -> None:
        super().__init__(label="call")
        self.frames: utils.aio.Chan[rtc.AudioFrame] = utils.aio.Chan()

    async def __anext__(self) -> rtc.AudioFrame:
        return await self.frames.__anext__()


class CallOutput(io.AudioOutput):  # type: ignore[misc]
    """Sends each segment in real time, 20 ms at a time, like a room's track; an interruption discards queued audio.

    A segment is the audio captured until `flush`; it ends when it has been flushed and then sent or cleared.
    """

    def __init__(self, caller: Caller, sample_rate: int) -> None:
        super().__init__(label="call", capabilities=io.AudioOutputCapabilities(pause=True), sample_rate=sample_rate)
        self._caller = caller
        self._changed = asyncio.Event()
        self._playing = True
        self._begin()

    def _begin(self) -> None:
        self._waiting = bytearray()
        self._sent = 0.0
        self._captured = self._flushed = self._cleared = False

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Add to the segment; audio that follows `clear_buffer` is dropped."""
        await super().capture_frame(frame)
        self._captured = True
        if not self._cleared:
            self._waiting += bytes(frame.data)
        self._changed.set()

    def flush(self) -> None:
        """Mark the segment as complete."""
        super().flush()
        self._flushed = self._captured
        self._changed.set()

    def clear_buffer(self) -> None:
        """Interrupt: discard the rest of the segment."""
        if self._captured:
            self._waiting.clear()
            self._cleared = True
            self._changed.set()

    def pause(self) -> None:
        """Stop sending at once; the caller still plays what it has received."""
        super().pause()
        self._playing = False

    def resume(self) -> None:
        """Continue sending."""
        super().resume()
        self._playing = True
        self._changed.set()

    async def play(self) -> None:
        """Send until cancelled."""
        size = self.sample_rate // BLOCKS_PER_SECOND * 2
        due, announced = time.monotonic(), False
        while True:
            if self._cleared and not announced:
                announced = True
                await self._caller.send(InterruptionFrame())
            if self._flushed and not self._waiting:
                position, interrupted = self._sent, self._cleared
                self._begin()
                announced = False
                self.on_playback_finished(playback_position=position, interrupted=interrupted)
            elif self._waiting and self._playing:
                block = bytes(self._waiting[:size])
                del self._waiting[:size]
                if not self._sent:
                    self.on_playback_started(created_at=time.time())
                self._sent += len(block) / 2 / self.sample_rate
                await self._caller.send(OutputAudioRawFrame(block, self.sample_rate, 1))
                due = max(due, time.monotonic() - 1 / BLOCKS_PER_SECOND) + len(block) / 2 / self.sample_rate
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            else:
                self._changed.clear()
                await self._changed.wait()


async def run_bot(websocket: WebSocket, parts: Parts) -> None:
    """Serve one call on an accepted connection."""
    whisper, voice, vad = prewarm(parts)
    session: AgentSession[None] = AgentSession(
        stt=LivekitWhisper(whisper),
        vad=vad,
        llm=openai.LLM(model=parts.llm_model, base_url=parts.llm_url, api_key="none"),
        tts=LivekitPiper(voice),
    )
    await converse(websocket, parts, session, voice.config.sample_rate)


async def converse(websocket: WebSocket, parts: Parts, session: AgentSession[None], sample_rate: int) -> None:
    """Serve one call with a session whose voice has this sample rate."""
    caller = Caller(websocket)

    @session.on("agent_state_changed")  # type: ignore[untyped-decorator]
    def report_turn_end(event: AgentStateChangedEvent) -> None:
        if event.new_state == "thinking":
            task = asyncio.create_task(caller.report(Speaking("user", started=False)))
            reports.add(task)
            task.add_done_callback(reports.discard)

    reports: set[asyncio.Task[None]] = set()
    session.input.audio = microphone = CallInput()
    session.output.audio = loudspeaker = CallOutput(caller, sample_rate)
    playing = asyncio.create_task(loudspeaker.play())
    try:
        await session.start(Agent(instructions=parts.prompt))
        await caller.report(BotReady())
        async for frame in caller.audio():
            microphone.frames.send_nowait(frame)
    finally:
        playing.cancel()
        microphone.frames.close()
        await session.aclose()
