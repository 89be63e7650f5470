"""A scripted sound card."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np

from voice.client.sound.pcm import Pcm
from voice.client.sound.sound_card import CARD_BLOCK


class ScriptedCard:
    """A sound card whose callbacks the test makes, from a thread as PortAudio does."""

    def __init__(self, latency: object = (0.0, 0.0)) -> None:
        self.latency = latency
        self.running = False
        self.callback: Callable[..., None] | None = None

    def open(self, callback: Callable[..., None]) -> "ScriptedCard":
        self.callback = callback
        return self

    def start(self) -> None:
        self.running = True

    def close(self) -> None:
        self.running = False

    def call(self, *arguments: Any) -> None:
        """Make one callback."""
        assert self.callback is not None
        self.callback(*arguments)

    async def exchange(self, heard: Pcm, *, dropout: bool = False) -> Pcm:
        """Let the microphone hear samples; what the loudspeaker played meanwhile."""

        def run() -> Pcm:
            played = []
            for at in range(0, len(heard), CARD_BLOCK):
                out = bytearray(2 * CARD_BLOCK)
                self.call(memoryview(heard[at : at + CARD_BLOCK].tobytes()), memoryview(out), CARD_BLOCK, None, dropout)
                played.append(np.frombuffer(bytes(out), np.int16))
            return np.concatenate(played)

        return await asyncio.to_thread(run)
