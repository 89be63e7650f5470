"""One call's transport: pipecat's WebSocket transport with strict input; its output is in `voice.server.output`."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import cast

from fastapi import WebSocket
from google.protobuf.message import DecodeError
from pipecat.audio.resamplers.base_audio_resampler import BaseAudioResampler
from pipecat.audio.utils import create_stream_resampler
from pipecat.frames.frames import Frame, InputAudioRawFrame, InputTransportMessageFrame
from pipecat.frames.protobufs import frames_pb2
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.fastapi import (
    FastAPIWebsocketClient,
    FastAPIWebsocketInputTransport,
    FastAPIWebsocketParams,
    FastAPIWebsocketTransport,
)
from starlette.websockets import WebSocketDisconnect

from voice.errors import WireError
from voice.server import limits
from voice.server.closing import CLOSE_WITHIN, STOPPED, Closing, shortened
from voice.server.eval_harness import Harness
from voice.server.limits import Bucket
from voice.server.metrics import CallMetrics
from voice.server.output import HeadStartOutput
from voice.server.resumption import AUDIO, DROPPED, ResumableSocket
from voice.server.rtvi import read_message
from voice.wire.endpoint import IN_RATE

WINDOW_BYTES = 2 * 512
"""Bytes of a window of the voice detector, 32 ms."""

IN_RATES = range(8000, 48001)
"""Accepted sample rates in Hz; audio is resampled to `IN_RATE`."""
log = logging.getLogger(__name__)


class StrictSerializer(ProtobufFrameSerializer):
    """Reads pipecat's protobuf frames, and refuses those that pipecat would only log and drop, or pass on broken.

    A client may send audio and messages. pipecat would also take server frames, such as text for the bot to speak.
    Audio of other rates is resampled. Texts are cleaned of half emojis (lone surrogates), which could neither be stored
    nor sent on.

    After a refusal, `refusal` holds the reason and `code` the WebSocket close code.

    Args:
        audio_came: called with each audio frame passed on.
        behind: seconds of audio that may be late.
        takes_harness: whether the client may be pipecat's eval harness.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        audio_came: Callable[[], None] = lambda: None,
        behind: float = limits.BEHIND,
        takes_harness: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._audio_came, self._behind, self._takes_harness = audio_came, behind, takes_harness
        self.refusal: str | None = None
        self.code = 1007
        self.last_message = clock()
        """The time of the last message."""
        self._clock = clock
        self._heard_until: float | None = None
        self._messages = Bucket(limits.RTVI)
        self._characters = Bucket(limits.CHARACTERS)
        self._resampler: BaseAudioResampler | None = None
        self._unheard = bytearray()
        self._harness: Harness | None = None
        self._is_first = True

    async def serialize(self, frame: Frame) -> str | bytes | None:
        """Turn a frame into a message; None if the client gets none."""
        return await (super().serialize(frame) if self._harness is None else self._harness.serializer.serialize(frame))

    async def deserialize(self, data: str | bytes) -> Frame | None:
        """Turn a message into a frame.

        Raises:
            WireError: the frame is too large or not one that a client may send, its message is not a JSON object, its
                audio is not mono s16 in real time, or messages come too fast.
        """
        self.last_message = self._clock()
        may_connect, self._is_first = self._is_first and len(data) <= limits.LARGEST_TEXT, False
        if isinstance(data, str) and may_connect and (harness := self._connecting(data)):
            self._harness = harness
            return harness.configuration()
        if isinstance(data, str) and self._harness:
            return await self._from(self._harness, data)
        if len(data) > limits.LARGEST_AUDIO:
            raise self._refuse(f"a message may have {limits.LARGEST_AUDIO >> 10} kB at most", 1009)
        try:
            packed = frames_pb2.Frame.FromString(data)
            if packed.WhichOneof("frame") == "message":
                return await self._message(packed.message.data)
            frame = await super().deserialize(data)
        except (DecodeError, TypeError, ValueError, ZeroDivisionError) as error:
            # pipecat divides the length of audio by its number of channels.
            raise self._refuse("a message is not a pipecat protobuf frame") from error
        if not isinstance(frame, InputAudioRawFrame):
            raise self._refuse("a message holds no frame that a client may send")
        return await self._audio(frame)

    async def _message(self, text: str) -> Frame:
        """The frame of a message, whose size is checked before it is parsed."""
        if len(text) > limits.LARGEST_TEXT:
            raise self._refuse(f"a message of RTVI may have {limits.LARGEST_TEXT} characters at most", 1009)
        now = self._clock()
        if not self._messages.take(now):
            raise self._refuse(f"more than {limits.RTVI.a_second:g} messages of RTVI a second came", 1008)
        if not self._characters.take(now, len(text)):
            raise self._refuse(f"more than {limits.CHARACTERS.a_second:g} characters of RTVI a second came", 1008)
        try:
            return InputTransportMessageFrame(message=read_message(text))
        except WireError as error:
            raise self._refuse(str(error)) from error

    def _connecting(self, first: str) -> Harness | None:
        """The eval harness, if this is its first message and it has access."""
        try:
            harness = Harness.that_connects(first)
        except WireError as error:
            raise self._refuse(str(error)) from error
        if harness and not self._takes_harness:
            raise self._refuse("pipecat's eval harness needs the server's own token")
        return harness

    async def _from(self, harness: Harness, data: str) -> Frame | None:
        try:
            frame = await harness.deserialize(data)
        except WireError as error:
            raise self._refuse(str(error)) from error
        return await self._audio(frame) if isinstance(frame, InputAudioRawFrame) else frame

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
        audio = frame.audio
        if frame.sample_rate != IN_RATE:
            self._resampler = self._resampler or create_stream_resampler()
            # The resampler delays its first samples.
            audio = await self._resampler.resample(frame.audio, frame.sample_rate, IN_RATE)
        return self._windows(audio)

    def _windows(self, audio: bytes) -> Frame | None:
        """The voice detector's windows that are complete now; None while the next one is incomplete.

        The detector decides only at the end of a window, so this delays nothing and halves the frames in the pipeline.
        """
        self._unheard += audio
        whole = len(self._unheard) // WINDOW_BYTES * WINDOW_BYTES
        if not whole:
            return None
        windows = bytes(self._unheard[:whole])
        del self._unheard[:whole]
        self._audio_came()
        return InputAudioRawFrame(audio=windows, sample_rate=IN_RATE, num_channels=1)

    def _check_pace(self, seconds: float) -> None:
        # Counted from the first audio: delayed audio may arrive all at once.
        now = self._clock()
        self._heard_until = max(now - self._behind, now if self._heard_until is None else self._heard_until) + seconds
        if self._heard_until - now > limits.AHEAD:
            raise self._refuse(f"audio came more than {limits.AHEAD:g} s ahead of real time", 1008)

    def _refuse(self, reason: str, code: int = 1007) -> WireError:
        self.refusal, self.code = reason, code
        return WireError(reason)


class CallClient(FastAPIWebsocketClient):
    """The client's end of a call's connection; `gone` is the reason for which it has gone, a clause."""

    gone = "the caller hung up"

    def receive(self) -> AsyncIterator[bytes | str]:
        """The client's messages until it disconnects."""
        return self._messages()

    async def _messages(self) -> AsyncIterator[bytes | str]:
        audio, others = Bucket(limits.READ), Bucket(limits.RTVI_READ)
        while (message := await self._websocket.receive())["type"] != "websocket.disconnect":
            data = message.get("bytes")
            # The eval harness sends text, even for audio.
            bucket = audio if data is None or data[:1] == AUDIO else others
            if wait := bucket.wait(time.monotonic()):
                await asyncio.sleep(wait)
            yield message["text"] if data is None else data
        if message.get("refused"):
            self.gone = f"refused: {message['reason']}"
        elif (code := message.get("code")) == STOPPED:
            self.gone = "the server was stopped"
        elif code in DROPPED and "reason" not in message:
            # A client that closes without a code gives none either, but its reason is a string, perhaps "".
            self.gone = "its connection broke"

    async def send(self, data: str | bytes) -> None:
        """Send a message, unless the connection is lost or closed; `receive` reports that."""
        if not self._can_send():  # type: ignore[no-untyped-call]
            return
        try:
            await (self._websocket.send_bytes(data) if isinstance(data, bytes) else self._websocket.send_text(data))
        except (WebSocketDisconnect, RuntimeError):
            if self._can_send():  # type: ignore[no-untyped-call]
                raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller, as known when the pipeline of the call is built."""

    socket: WebSocket | ResumableSocket
    sample_rate: int
    """Sample rate in Hz of the audio sent to the client."""
    ducks: bool = False
    """Whether the client can lower its own playback volume."""
    takes_harness: bool = False
    """Whether the client may be pipecat's eval harness."""
    metrics: CallMetrics | None = None
    """The call's metrics; None if none are kept."""


class CallTransport(FastAPIWebsocketTransport):
    """One call's transport: 16 kHz mono in, mono out in 20 ms messages.

    Args:
        caller: who calls.
        audio_came: called with each frame of the caller's audio.
        away: called with True when the client has lost its connection and may come back, and when it is back with False
            and the seconds of audio sent to it again.
        user_may_be_starting: whether the latest sound may be the start of the caller's speech.
        ducked_gain: gain of an answer over which the caller speaks.
    """

    def __init__(
        self,
        caller: Caller,
        *,
        audio_came: Callable[[], None] = lambda: None,
        away: Callable[[bool, float], None] = lambda *_: None,
        user_may_be_starting: Callable[[], bool] = lambda: False,
        ducked_gain: float = 1.0,
    ) -> None:
        self._caller, self._away = caller, away
        self._why_ended: str | None = None
        resumable = caller.socket if isinstance(caller.socket, ResumableSocket) else None
        wait = resumable.within if resumable else 0.0
        self._serializer = StrictSerializer(
            audio_came=audio_came, behind=limits.BEHIND + wait, takes_harness=caller.takes_harness
        )
        params = FastAPIWebsocketParams(
            audio_in_enabled=True,
            audio_in_sample_rate=IN_RATE,
            audio_out_enabled=True,
            audio_out_sample_rate=caller.sample_rate,
            audio_out_10ms_chunks=2,
            audio_out_end_silence_secs=0,
            serializer=self._serializer,
        )
        # While the client is away, the next chunk of audio waits for it.
        params.audio_out_write_timeout_secs += wait
        # A resumable socket has the part of a WebSocket that pipecat uses.
        socket = cast(WebSocket, caller.socket)
        super().__init__(socket, params)
        self._client: CallClient = CallClient(socket, self._callbacks)
        self._input = FastAPIWebsocketInputTransport(self, self._client, params, name=self._input_name)
        self._output: HeadStartOutput = HeadStartOutput(
            self,
            self._client,
            params,
            name=self._output_name,
            user_may_be_starting=user_may_be_starting,
            ducked_gain=ducked_gain,
            ducked_by_client=caller.ducks,
            present=resumable.present if resumable else None,
        )
        if resumable:
            resumable.watch(self._came_or_went)

    def _came_or_went(self, there: bool) -> None:
        assert isinstance(self._caller.socket, ResumableSocket)
        again = 0.0
        if there:
            again = self._output.sent_again(self._caller.socket.audio_resent())
            self._serializer.last_message = time.monotonic()
        self._away(not there, again)
        if self._caller.metrics:
            self._caller.metrics.away(not there)

    @property
    def voice(self) -> HeadStartOutput:
        """The agent's voice as the caller hears it."""
        return self._output

    async def end(self, reason: str) -> None:
        """End the call because it cannot go on; `reason` is a clause."""
        self._why_ended = reason
        await self._client.trigger_client_disconnected()  # type: ignore[no-untyped-call]

    @property
    def last_message(self) -> float | None:
        """When the client last sent something or came back; None while it is away and may come back."""
        socket = self._caller.socket
        is_away = isinstance(socket, ResumableSocket) and socket.away
        return None if is_away else self._serializer.last_message

    @property
    def gone(self) -> str:
        """Why the client has gone, a clause."""
        return self._client.gone

    @property
    def ending(self) -> Closing | None:
        """Why the server ends the call; None if the client hung up or its connection broke."""
        if self._why_ended is not None:
            return Closing(1011, self._why_ended, "given up")
        refusal = self._serializer.refusal
        return None if refusal is None else Closing(self._serializer.code, refusal, "refused")

    async def close(self, ending: Closing) -> None:
        """Tell the client why the call ends, if it still reads."""
        # Otherwise pipecat would close it a second time at the end of the pipeline, and log an error.
        self._client._closing = True
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                await self._caller.socket.close(ending.code, shortened(ending.reason))
        except TimeoutError:
            log.warning("a client did not read the reason for the end of its call")
