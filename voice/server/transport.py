"""One call's transport: pipecat's WebSocket transport with strict input and a head start for each answer."""

import asyncio
import time
from collections.abc import Callable

from fastapi import WebSocket
from google.protobuf.message import DecodeError
from pipecat.audio.resamplers.base_audio_resampler import BaseAudioResampler
from pipecat.audio.utils import create_stream_resampler
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

HEAD_START = 0.12
"""Seconds of an answer that are sent at once. The client starts playout at 60 ms, which leaves 60 ms for jitter, and an
interruption has at most this much to take back."""

LONGEST_HOLD = 0.25
"""Seconds for which the first sound of an utterance waits at most while the caller may be starting to speak; the voice
detector needs some 0.18 s more to be sure."""
HOLD_STEP = 0.01

AHEAD = 10.0
"""Seconds by which audio may run ahead of real time. More cannot have been spoken into a microphone, and recognising
it would take the cores from the calls under way."""

MESSAGES_A_SECOND = 400
"""Messages that a client may send in a second, on average of `AHEAD` seconds: six times as many as one for each 16 ms
of audio."""

IN_RATES = range(8000, 48001)
"""Hertz of audio that is taken; it is resampled to `IN_RATE`."""


class StrictSerializer(ProtobufFrameSerializer):
    """Reads pipecat's protobuf frames, and refuses what pipecat would drop with a log line or pass on broken.

    A client may send audio and messages. pipecat would also take frames that only a server should send, such as text
    to be spoken as the bot's words. Audio of other rates is resampled.

    `refusal` holds the reason after a message was refused.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.refusal: str | None = None
        self._clock = clock
        self._heard_until: float | None = None
        self._read_until: float | None = None
        self._resampler: BaseAudioResampler | None = None

    async def deserialize(self, data: str | bytes) -> Frame | None:
        """One message to one frame.

        Raises:
            WireError: it is not a frame that a client may send, its message is not a JSON object, its audio is not
                mono s16 in real time, or messages come too fast.
        """
        self._check_rate()
        try:
            frame = await super().deserialize(data)
        except (DecodeError, TypeError, ValueError, RecursionError) as error:
            raise self._refuse("a message is not a pipecat protobuf frame") from error
        if isinstance(frame, InputAudioRawFrame):
            return await self._audio(frame)
        if not isinstance(frame, InputTransportMessageFrame):
            raise self._refuse("a message holds no frame that a client may send")
        if not isinstance(frame.message, dict):
            raise self._refuse("a message is not a JSON object")
        return frame

    async def _audio(self, frame: InputAudioRawFrame) -> Frame | None:
        if frame.sample_rate not in IN_RATES or frame.num_channels != 1:
            raise self._refuse(
                f"audio must be {IN_RATE} Hz mono, not {frame.sample_rate} Hz with {frame.num_channels} channels"
            )
        if frame.audio[:4] == b"RIFF" and frame.audio[8:12] == b"WAVE":
            raise self._refuse("audio must be bare samples, without a WAV header (add_wav_header=False)")
        if len(frame.audio) % 2:
            raise self._refuse("audio must be 16-bit samples: an odd number of bytes came")
        self._check_pace(len(frame.audio) / 2 / frame.sample_rate)
        if frame.sample_rate == IN_RATE:
            return frame
        self._resampler = self._resampler or create_stream_resampler()
        audio = await self._resampler.resample(frame.audio, frame.sample_rate, IN_RATE)
        # A resampler holds back its first samples.
        return InputAudioRawFrame(audio=audio, sample_rate=IN_RATE, num_channels=1) if audio else None

    def _check_rate(self) -> None:
        now = self._clock()
        self._read_until = max(now, self._read_until or now) + 1 / MESSAGES_A_SECOND
        if self._read_until - now > AHEAD:
            raise self._refuse(f"more than {MESSAGES_A_SECOND} messages a second came")

    def _check_pace(self, seconds: float) -> None:
        # Counted since the first audio: what a slow network held back may arrive all at once.
        now = self._clock()
        self._heard_until = (now if self._heard_until is None else self._heard_until) + seconds
        if self._heard_until - now > AHEAD:
            raise self._refuse(f"audio came more than {AHEAD:g} s ahead of real time")

    def _refuse(self, reason: str) -> WireError:
        self.refusal = reason
        return WireError(reason)


class HeadStartOutput(FastAPIWebsocketOutputTransport):
    """Sends the first 120 ms of an answer at once, then keeps that lead over real time.

    pipecat sends at exactly real time and restarts its schedule when it is late, so every delay of the event loop
    becomes a gap that the user hears. Here the schedule is the playout clock itself, and delays are caught up.

    After an interruption, nothing more of the interrupted answer is sent. pipecat lets the chunks under way through,
    and the client, which has flushed its buffer, would take them for the start of the next answer.

    Nothing begins to sound while the caller may be starting to speak (`user_may_be_starting`): a caller who goes on
    after a pause that was taken for the end then hears nothing of the answer.
    """

    user_may_be_starting: Callable[[], bool] = staticmethod(lambda: False)
    """Whether the latest sound may be the start of the caller's speech; set per call."""
    _played_until: float | None = None
    _interrupted = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note when answers are interrupted and when new speech starts."""
        if isinstance(frame, InterruptionFrame):
            self._interrupted = True
        elif isinstance(frame, TTSStartedFrame):
            self._interrupted = False
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._played_until = None

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Send one chunk and wait until the next is due."""
        if frame.interruptible:
            await self._hold()
            if self._interrupted:
                return False
        return await super().write_audio_frame(frame)

    async def _hold(self) -> None:
        """Before the first sound of an utterance, wait until it is clear that the caller is silent."""
        if self._played_until is not None and self._played_until > time.monotonic():
            return
        for _ in range(round(LONGEST_HOLD / HOLD_STEP)):
            if self._interrupted or not self.user_may_be_starting():
                return
            await asyncio.sleep(HOLD_STEP)

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
        self._output: HeadStartOutput = HeadStartOutput(self, self._client, params, name=self._output_name)

    def hold_while(self, user_may_be_starting: Callable[[], bool]) -> None:
        """Let no utterance begin while the caller may be starting to speak."""
        self._output.user_may_be_starting = user_may_be_starting

    async def refuse(self, reason: str) -> None:
        """Close the call because of what its client sent; `reason` is at most 123 bytes."""
        # Otherwise pipecat would close it again at the end of the pipeline, and log that it cannot.
        self._client._closing = True
        await self._socket.close(1007, reason)
