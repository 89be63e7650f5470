"""The wire of one call: pipecat's WebSocket transport with strict input and a head start for each answer."""

import asyncio
import time
from collections.abc import Callable

from fastapi import WebSocket
from google.protobuf.message import DecodeError
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    InputTransportMessageFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    TTSStartedFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.fastapi import (
    FastAPIWebsocketOutputTransport,
    FastAPIWebsocketParams,
    FastAPIWebsocketTransport,
)

from voice.errors import WireError
from voice.wire.endpoint import IN_RATE

# How much of an answer is sent at once. The client starts to play at 60 ms, so 60 ms of jitter are forgiven, and an
# interruption has at most this much to take back.
HEAD_START = 0.12

AHEAD = 10.0
"""Seconds by which audio may run ahead of real time. More has not been spoken into a microphone, and recognising it
would take the cores from the calls under way."""


class StrictSerializer(ProtobufFrameSerializer):
    """pipecat's protobuf frames, refusing what it would log and swallow or hand on broken.

    `refusal` holds the reason after a message was refused.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.refusal: str | None = None
        self._clock = clock
        self._heard_until: float | None = None

    async def deserialize(self, data: str | bytes) -> Frame | None:
        """One message to one frame.

        Raises:
            WireError: not a frame, a message that is no JSON object, or audio that is not 16 kHz mono s16 in real time.
        """
        try:
            frame = await super().deserialize(data)
        except (DecodeError, TypeError) as error:
            raise self._refuse("a message is not a pipecat protobuf frame") from error
        if frame is None:
            raise self._refuse("a message holds no frame that a client may send")
        if isinstance(frame, InputTransportMessageFrame) and not isinstance(frame.message, dict):
            raise self._refuse("a message is not a JSON object")
        if isinstance(frame, InputAudioRawFrame):
            if frame.sample_rate != IN_RATE or frame.num_channels != 1:
                raise self._refuse(
                    f"audio must be {IN_RATE} Hz mono, not {frame.sample_rate} Hz with {frame.num_channels} channels"
                )
            if len(frame.audio) % 2:
                raise self._refuse("audio must be 16-bit samples: an odd number of bytes came")
            self._check_pace(len(frame.audio) / 2 / IN_RATE)
        return frame

    def _check_pace(self, seconds: float) -> None:
        # Since the first of it: what a slow network held back may come all at once.
        now = self._clock()
        self._heard_until = (now if self._heard_until is None else self._heard_until) + seconds
        if self._heard_until - now > AHEAD:
            raise self._refuse(f"audio came more than {AHEAD:g} s ahead of real time")

    def _refuse(self, reason: str) -> WireError:
        self.refusal = reason
        return WireError(reason)


class HeadStartOutput(FastAPIWebsocketOutputTransport):
    """Sends the first 120 ms of an answer at once, then keeps that lead over real time.

    pipecat paces at exactly 1x and starts its schedule over when it is late, so every delay of the loop becomes a gap
    at the listener; here the schedule is the playout clock itself and a delay is caught up.

    Of an answer that was interrupted nothing follows the interruption: pipecat lets the chunks under way through, which
    the client, having flushed, would take for the start of the next answer.
    """

    _played_until: float | None = None
    _interrupted = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note where answers are interrupted and where new speech starts."""
        if isinstance(frame, InterruptionFrame):
            self._interrupted = True
        elif isinstance(frame, TTSStartedFrame):
            self._interrupted = False
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._played_until = None

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Send one chunk and wait until the next is due."""
        if self._interrupted and frame.interruptible:
            return False
        return await super().write_audio_frame(frame)

    async def _write_audio_sleep(self) -> None:
        now = time.monotonic()
        if self._played_until is None or self._played_until < now:
            self._played_until = now
        self._played_until += self._send_interval
        await asyncio.sleep(max(0.0, self._played_until - HEAD_START - now))


class CallTransport(FastAPIWebsocketTransport):
    """One call's transport: 16 kHz mono in, `sample_rate` mono out in 20 ms messages."""

    def __init__(self, websocket: WebSocket, *, sample_rate: int) -> None:
        self.serializer = StrictSerializer()
        self._socket = websocket
        params = FastAPIWebsocketParams(
            audio_in_enabled=True,
            audio_in_sample_rate=IN_RATE,
            audio_out_enabled=True,
            audio_out_sample_rate=sample_rate,
            audio_out_10ms_chunks=2,
            audio_out_end_silence_secs=0,
            serializer=self.serializer,
        )
        super().__init__(websocket, params)
        self._output = HeadStartOutput(self, self._client, params, name=self._output_name)

    async def refuse(self, reason: str) -> None:
        """Close the call because of what its client sent; `reason` is at most 123 bytes."""
        # pipecat would close it once more at the end of the pipeline, and log that it cannot.
        self._client._closing = True
        await self._socket.close(1007, reason)
