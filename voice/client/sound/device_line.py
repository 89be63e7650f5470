"""Microphone and loudspeaker as the user's end of a call, on the sound card's own clock."""

import asyncio
import functools
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import numpy as np

from voice.client.call.pacing import PacingLog
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.playback.playout import Playout
from voice.client.sound.echo_canceller import EchoCanceller
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm
from voice.client.sound.sound_card import CARD_BLOCK, Device, DuplexCallback, SoundStream, open_duplex
from voice.errors import ComponentError

STALLED = 3.0
"""Seconds without a sample after which the sound card counts as failed."""

_RECENT = 5 * RATE // CARD_BLOCK
"""Callbacks (in 5 s) over which the card's clock is compared with the computer's, so that late ones do not count."""


class DeviceLine:
    """A microphone and a loudspeaker; both sides of the recording share the card's sample clock.

    The recording holds the bot's audio when it is heard, which is the card's latency after the card takes it.
    With a canceller, the user's side is what the canceller leaves of what the microphone heard.

    Args:
        input: the microphone; None for the default.
        output: the loudspeaker.
        canceller: makes what takes the loudspeaker's sound out of the microphone's, given the seconds by which it is
            late; None leaves it in.
        open_stream: opens a duplex stream that calls back; None for the machine's sound card.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        input: Device = None,
        output: Device = None,
        canceller: Callable[[float], EchoCanceller] | None = None,
        open_stream: Callable[[DuplexCallback], SoundStream] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pacing = PacingLog()
        self.dropouts = 0
        """Callbacks before which the card lost input or ran out of output."""
        self.placed: Sequence[PlacedTurn] = ()
        self.muted = False
        """Whether silence is sent instead of what the microphone hears."""
        self.level = 0.0
        """The highest sample of the latest frame, 0 to 1, also when it is muted."""
        self._open_stream = open_stream or functools.partial(open_duplex, input=input, output=output)
        self._make_canceller = canceller
        self._canceller: EchoCanceller | None = None
        self._clock = clock
        self._stream: SoundStream | None = None
        self._playout = Playout(0.0, device_rate=RATE, keep=False)
        self._captured: asyncio.Queue[tuple[float, Pcm]] = asyncio.Queue()
        self._partial = bytearray()
        self._samples = 0
        self._input_latency = 0.0
        self._starts: deque[float] = deque(maxlen=_RECENT)

    @property
    def origin(self) -> float:
        """When sample 0 was captured, seconds on the monotonic clock, estimated from the last 5 s of callbacks."""
        return min(self._starts, default=self._clock()) - self._input_latency

    def open(self, *, keep: bool) -> Playout:
        """Start the card; call it on the running event loop.

        Raises:
            ComponentError: PortAudio or a device is missing or cannot be opened, or the canceller is missing.
            ConfigurationError: no device, or more than one, matches the name given.
        """
        loop = asyncio.get_running_loop()
        self._stream = self._open_stream(functools.partial(self._exchange, loop))
        self._input_latency, output_latency = self._stream.latency
        delay = self._input_latency + output_latency
        self._playout = Playout(0.0, device_rate=RATE, delay=delay, keep=keep)
        # Before the card starts: its thread must never wait for an import.
        self._canceller = self._make_canceller(delay) if self._make_canceller else None
        self._stream.start()
        return self._playout

    async def frames(self) -> AsyncGenerator[Pcm, None]:
        """What the microphone hears, until the call is cancelled.

        Raises:
            ComponentError: the card has stopped delivering.
        """
        while True:
            try:
                async with asyncio.timeout(STALLED):
                    captured, frame = await self._captured.get()
            except TimeoutError:
                raise ComponentError(
                    f"The microphone has delivered nothing for {STALLED:g} s; reconnect it or choose another device."
                ) from None
            self.pacing.note(captured, self._clock())
            self.level = float(np.abs(frame.astype(np.int32)).max(initial=0)) / 32768
            yield np.zeros_like(frame) if self.muted else frame

    def wait_for_answer(self, pending: bool) -> None:
        """Do nothing: a person hears the announcement."""

    def close(self) -> None:
        """Stop the card."""
        if self._stream:
            self._stream.close()
            self._stream = None

    def _exchange(
        self, loop: asyncio.AbstractEventLoop, indata: Any, outdata: Any, frames: int, _times: Any, status: Any
    ) -> None:
        """Runs in the card's thread: give it what is to be played, and pass on what was heard."""
        now = self._clock()
        played = self._playout.pull(frames)
        outdata[:] = played.tobytes()
        self._starts.append(now - self._samples / RATE)
        self._samples += frames
        self.dropouts += bool(status)
        heard = bytes(indata)
        if self._canceller:
            heard = self._canceller.clean(np.frombuffer(heard, np.int16), played).tobytes()
        self._partial += heard
        while len(self._partial) >= 2 * MESSAGE_SAMPLES:
            frame = np.frombuffer(bytes(self._partial[: 2 * MESSAGE_SAMPLES]), np.int16)
            del self._partial[: 2 * MESSAGE_SAMPLES]
            loop.call_soon_threadsafe(self._captured.put_nowait, (now, frame))
