"""OpenAI's Realtime API over a WebSocket, at OpenAI or at a server that speaks the same protocol.

The session keeps the server's own settings: its model, its voice, its detection of turns. Formats of audio are read
from `session.created`; they are 24 kHz PCM unless it says otherwise. When the server hears speech, the caller's
loudspeaker drops what is not played yet, as OpenAI asks of clients.
"""

import asyncio
import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from voice.client.call.agent_call import AgentCall, CallOver
from voice.client.call.connection import READY_WITHIN, check_url, credentials
from voice.client.protocols.json_socket import JsonSocket
from voice.client.protocols.rate_converter import RateConverter
from voice.client.sound.pcm import Pcm
from voice.environment import read_key
from voice.errors import ComponentError, ConfigurationError, WireError
from voice.wire.framing import AudioPacket, Incoming, Interruption
from voice.wire.messages import ServerFailure

OPENAI, KEY = "api.openai.com", "OPENAI_API_KEY"
"""OpenAI's host, and the variable with its key, which no other host gets."""
RATE = 24000
"""Hertz, unless the session says otherwise."""
PCM = "audio/pcm"
RATES = (8000, 16000, 24000, 48000)
TOKENS_HEARD, TOKENS_SAID = 10, 20
"""Audio tokens in a second of the caller's speech and of the answer's."""
ANSWER = 10.0
"""Seconds of an answer whose price is expected."""
PRICES = {"mini": (10.0, 0.3, 20.0), "": (32.0, 0.4, 64.0)}
"""USD for a million audio tokens heard, heard again with a later turn, and said, by a part of the model's name; as of
November 2026."""


class RealtimeCall(AgentCall):
    """A conversation over the Realtime API.

    Args:
        url: `wss://api.openai.com/v1/realtime?model=…`, or another server's.

    Raises:
        ConfigurationError: no WebSocket address, or OpenAI's without a model or a key.
    """

    def __init__(self, url: str) -> None:
        check_url(url)
        self._url, parts = url, urlsplit(url)
        self._model = parse_qs(parts.query).get("model", [""])[0]
        self._is_openai = parts.hostname == OPENAI
        self._socket = JsonSocket(url, self._openai_key(parts.scheme) if self._is_openai else credentials())
        self._rate = RATE
        self._converter = RateConverter(RATE)

    def cost(self, *, seconds: float, turns: int) -> float | None:
        """The expected price at OpenAI; another server is its owner's affair."""
        if not self._is_openai:
            return 0.0
        heard, again, said = next(prices for part, prices in PRICES.items() if part in self._model)
        new = seconds * TOKENS_HEARD, turns * ANSWER * TOKENS_SAID
        # Every turn sends the conversation before it.
        history = sum(new) * (turns - 1) / 2
        return (new[0] * heard + history * again + new[1] * said) / 1e6

    async def open(self) -> None:
        """Connect and wait for the session."""
        await self._socket.open()
        try:
            async with asyncio.timeout(READY_WITHIN):
                while (event := await self._socket.receive()).get("type") != "session.created":
                    if event.get("type") == "error":
                        raise ComponentError(f"{self._url} refused the call: {_reason(event).rstrip('.')}.")
        except TimeoutError:
            raise ComponentError(
                f"{self._url} answered, but created no Realtime session within {READY_WITHIN:g} s; see --protocol."
            ) from None
        except CallOver as over:
            raise ComponentError(f"{self._url} ended the call before it began: {over}.") from None
        self._converter = RateConverter(_rate(event, "input"))
        self._rate = _rate(event, "output")

    async def send_audio(self, pcm: Pcm) -> None:
        """Send the caller's audio."""
        audio = base64.b64encode(self._converter.push(pcm).tobytes()).decode()
        await self._socket.send({"type": "input_audio_buffer.append", "audio": audio})

    async def receive(self) -> Incoming:
        """The agent's next audio, or the start of the caller's speech, which drops what is not played yet."""
        while True:
            event = await self._socket.receive()
            match event:
                case {"type": "response.output_audio.delta" | "response.audio.delta", "delta": str(delta)}:
                    return AudioPacket(_pcm(delta), self._rate)
                case {"type": "input_audio_buffer.speech_started"}:
                    return Interruption()
                case {"type": "error"}:
                    return ServerFailure(_reason(event))
                case {"type": str()}:
                    pass
                case _:
                    raise WireError("The server sent a message without a type; does it speak the Realtime protocol?")

    async def close(self) -> None:
        """Hang up."""
        await self._socket.close()

    def _openai_key(self, scheme: str) -> dict[str, str]:
        if not self._model or scheme != "wss":
            raise ConfigurationError(
                f"OpenAI's address names a model: wss://{OPENAI}/v1/realtime?model=gpt-realtime, not {self._url}."
            )
        key = read_key(KEY)
        if key is None:
            raise ConfigurationError(f"OpenAI needs a key; put it into the environment variable {KEY}.")
        return {"Authorization": f"Bearer {key}"}


def _reason(event: dict[str, Any]) -> str:
    error = event.get("error")
    return str(error.get("message") or error if isinstance(error, dict) else error)


def _pcm(delta: str) -> Pcm:
    try:
        return np.frombuffer(base64.b64decode(delta, validate=True), np.int16)
    except ValueError:
        raise WireError("The server sent audio that is not 16-bit samples in base64.") from None


def _rate(created: dict[str, Any], side: str) -> int:
    """The sample rate of one side's audio.

    Raises:
        WireError: it is not PCM, or of a rate that the protocol does not have.
    """
    session: Any = created.get("session")
    try:
        form = session["audio"][side]["format"]
    except (KeyError, TypeError):
        # The protocol's first version names a form alone.
        form = session.get(f"{side}_audio_format") if isinstance(session, dict) else None
    kind, rate = (form.get("type"), form.get("rate")) if isinstance(form, dict) else (form, None)
    if kind not in (None, PCM, "pcm16"):
        raise WireError(f"The session's {side} audio is {kind}; only {PCM} is understood.")
    if isinstance(rate, str) and rate.isdecimal():
        rate = int(rate)
    if rate is None:
        return RATE
    if rate not in RATES:
        raise WireError(
            f"The session's {side} audio is PCM of {rate} Hz; only {', '.join(map(str, RATES))} Hz are understood."
        )
    return int(rate)
