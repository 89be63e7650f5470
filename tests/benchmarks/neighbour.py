"""A caller who listens to long answers, and how much of their sound it loses."""

import asyncio
import json
import time
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.voice.wire.packed import message
from voice.wire.framing import AudioPacket, decode, encode
from voice.wire.messages import ClientReady, Speaking

PLAYOUT_AFTER = 0.06
"""Seconds between the first audio of an answer and its playout, as in the clients of this project."""


@dataclass
class Heard:
    """What a caller has heard.

    Parameters:
        seconds: of audio.
        lost: seconds for which playout had nothing to play within an answer.
        longest: the longest of these gaps, seconds.
        answers: how many answers began.
    """

    seconds: float = 0.0
    lost: float = 0.0
    longest: float = 0.0
    answers: int = 0


class Neighbour:
    """Asks again whenever an answer has ended, and plays what comes at once."""

    def __init__(self, url: str, question: str) -> None:
        self.heard = Heard()
        self._url, self._question = url, question
        self._played_until: float | None = None
        self._ended = asyncio.Event()

    async def listen(self, seconds: float) -> Heard:
        """Call, and listen for so many seconds.

        Raises:
            ConnectionClosed: the call was closed.
        """
        async with connect(self._url, compression=None, max_size=None, ping_interval=None) as call:
            await call.send(encode(ClientReady()))
            asking = asyncio.create_task(self._ask(call))
            try:
                async with asyncio.timeout(seconds):
                    async for data in call:
                        self._take(data)
                raise ConnectionClosed(None, None)
            except TimeoutError:
                return self.heard
            finally:
                asking.cancel()

    def reset(self) -> Heard:
        """What was heard since the last time."""
        heard, self.heard = self.heard, Heard()
        return heard

    def _take(self, data: bytes | str) -> None:
        now = time.perf_counter()
        packet = decode(data)
        if packet == Speaking("bot", started=False):
            self._ended.set()
        if not isinstance(packet, AudioPacket):
            return
        heard, length = self.heard, len(packet.pcm) / packet.rate
        if self._played_until is None or self._ended.is_set():
            self._ended.clear()
            self._played_until = now + PLAYOUT_AFTER
            heard.answers += 1
        elif (gap := now - self._played_until) > 0:
            heard.lost += gap
            heard.longest = max(heard.longest, gap)
            self._played_until = now
        self._played_until += length
        heard.seconds += length

    async def _ask(self, call: ClientConnection) -> None:
        data = {"content": self._question}
        text = json.dumps({"label": "rtvi-ai", "type": "send-text", "id": "1", "data": data})
        while True:
            await call.send(message(text))
            await asyncio.sleep(1)
            await self._ended.wait()
