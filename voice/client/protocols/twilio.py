"""Twilio Media Streams: plays the telephone network's part towards an agent that expects Twilio at its WebSocket.

Audio is 8 kHz µ-law, in packets of 20 ms. A mark that the agent sends comes back when the audio before it has been
played, or dropped.
"""

import audioop
import base64
import time
import uuid
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from voice.client.call.agent_call import AgentCall, CallOver
from voice.client.playback.playout import JITTER
from voice.client.protocols.json_socket import JsonSocket
from voice.client.protocols.rate_converter import RateConverter
from voice.client.sound.pcm import Pcm
from voice.errors import ComponentError, WireError
from voice.wire.framing import AudioPacket, Incoming, Interruption

PHONE_RATE = 8000
PACKET = 160
"""Bytes of µ-law in a message: 20 ms."""


class TwilioCall(AgentCall):
    """A telephone call, as Twilio connects it to an agent's WebSocket.

    Args:
        url: the address in the agent's `<Stream>`.
        clock: seconds, monotonic.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url, self._socket = url, JsonSocket(url, {})
        self._clock = clock
        self._stream, self._call, self._account = f"MZ{uuid.uuid4().hex}", f"CA{uuid.uuid4().hex}", f"AC{'0' * 32}"
        self._converter = RateConverter(PHONE_RATE)
        self._waiting = bytearray()
        self._sequence = self._packets = 0
        self._played_until = 0.0
        self._marks: deque[tuple[float, Any]] = deque()

    async def open(self) -> None:
        """Connect and announce the call; the protocol has no answer to that."""
        await self._socket.open()
        media = {"encoding": "audio/x-mulaw", "sampleRate": PHONE_RATE, "channels": 1}
        start = {"accountSid": self._account, "callSid": self._call, "streamSid": self._stream}
        try:
            await self._socket.send({"event": "connected", "protocol": "Call", "version": "1.0.0"})
            await self._send("start", start | {"tracks": ["inbound"], "mediaFormat": media, "customParameters": {}})
        except CallOver as over:
            raise ComponentError(f"{self._url} ended the call before it began: {over}.") from None

    async def send_audio(self, pcm: Pcm) -> None:
        """Send the caller's audio, and the marks that have been reached."""
        self._waiting += audioop.lin2ulaw(self._converter.push(pcm).tobytes(), 2)
        while len(self._waiting) >= PACKET:
            payload = base64.b64encode(self._waiting[:PACKET]).decode()
            del self._waiting[:PACKET]
            timestamp = str(self._packets * PACKET * 1000 // PHONE_RATE)
            self._packets += 1
            packet = {"track": "inbound", "chunk": str(self._packets), "timestamp": timestamp, "payload": payload}
            await self._send("media", packet)
        while self._marks and self._marks[0][0] <= self._clock():
            await self._send("mark", self._marks.popleft()[1])

    async def receive(self) -> Incoming:
        """The agent's next audio, or its order to drop what is not played yet."""
        while True:
            message = await self._socket.receive()
            match message:
                case {"event": "media", "media": {"payload": str(payload)}}:
                    return self._heard(payload)
                case {"event": "media"}:
                    raise WireError("The server sent audio without a payload of text; is this Twilio Media Streams?")
                case {"event": "mark", "mark": mark}:
                    self._marks.append((self._played_until, mark))
                case {"event": "clear"}:
                    self._played_until = self._clock()
                    self._marks = deque((self._played_until, mark) for _, mark in self._marks)
                    return Interruption()
                case {"event": str()}:
                    pass
                case _:
                    raise WireError("The server sent a message without an event; does it expect Twilio Media Streams?")

    async def close(self) -> None:
        """Tell the agent that the caller has hung up, and close."""
        if self._sequence:
            with suppress(CallOver):
                await self._send("stop", {"accountSid": self._account, "callSid": self._call})
        await self._socket.close()

    def _heard(self, payload: str) -> AudioPacket:
        try:
            encoded = base64.b64decode(payload, validate=True)
        except ValueError:
            raise WireError("The server sent audio that is not base64.") from None
        start = max(self._played_until, self._clock() + JITTER)
        self._played_until = start + len(encoded) / PHONE_RATE
        return AudioPacket(np.frombuffer(audioop.ulaw2lin(encoded, 2), np.int16), PHONE_RATE)

    async def _send(self, event: str, content: Any) -> None:
        self._sequence += 1
        await self._socket.send(
            {"event": event, "sequenceNumber": str(self._sequence), "streamSid": self._stream, event: content}
        )
