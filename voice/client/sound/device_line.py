"""Microphone and loudspeaker as the user's end of a call, on the sound card's own clock."""

import asyncio
import functools
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

import numpy as np

from voice.client.call.line import PacingLog
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.playback.playout import Playout
from voice.client.sound.echo_canceller import EchoCanceller
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm
from voice.client.sound.sound_card import CARD_BLOCK, Device, DuplexCallback, SoundStream, open_duplex, reopen_duplex
from voice.errors import ComponentError, VoiceError

STALLED = 3.0
"""Seconds without a first sample after which the sound card counts as failed."""

GONE = 1.0
"""Seconds without a sample after which it counts as unplugged."""
REOPEN_EVERY = 1.0
"""Seconds between two checks for a new card."""
AWAY_AT_MOST = 120.0
"""Seconds without a card after which the call ends."""

_RECENT = 5 * RATE // CARD_BLOCK
"""Callbacks (in 5 s) over which the card's clock is compared with the computer's; late ones then do not count."""


class DeviceLine:
    """A microphone and a loudspeaker; both sides of the recording share the card's sample clock.

    The recording holds the bot's audio at the time it is heard, one card latency after the card takes it. With a
    canceller, the user's side is the cleaned microphone audio.

    Args:
        input: the microphone; None for the default.
        output: the loudspeaker.
        canceller: makes an echo canceller, given the echo's delay in seconds; None for no cancellation.
        open_stream: opens a duplex stream that calls back; None for the machine's sound card.
        reopen_stream: the same, in a thread, once the card has gone; None for `open_stream`, or else for the machine's
            sound card.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        input: Device = None,
        output: Device = None,
        canceller: Callable[[float], EchoCanceller] | None = None,
        open_stream: Callable[[DuplexCallback], SoundStream] | None = None,
        reopen_stream: Callable[[DuplexCallback], SoundStream] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pacing = PacingLog(on_card=True)
        self.dropouts = 0
        """Callbacks after lost input or a gap in the output."""
        self.placed: Sequence[PlacedTurn] = ()
        self.muted = False
        """Whether the microphone is muted: silence is sent."""
        self.level = 0.0
        """The peak of the latest frame, 0 to 1, even when muted."""
        self.on_away: Callable[[], None] = lambda: None
        """Called when the card is gone (unplugged, or its driver stopped). The call goes on, with silence."""
        self.on_back: Callable[[float], None] = lambda _seconds: None
        """Called with the seconds of absence when the card, or another in its place, is available again."""
        self._open_stream = open_stream or functools.partial(open_duplex, input=input, output=output)
        self._reopen_stream = (
            reopen_stream or open_stream or functools.partial(reopen_duplex, input=input, output=output)
        )
        self._absences: list[tuple[float, float]] = []
        self._watching: asyncio.Task[None] | None = None
        self._plugged = 0
        self._returns = False
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
        self._last = math.inf

    @property
    def away(self) -> Sequence[tuple[float, float]]:
        """Times without a card, (start, end) in seconds of the recording; nothing was recorded or played then."""
        return tuple(self._absences)

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
        self._stream = self._open_stream(functools.partial(self._exchange, loop, self._plugged))
        self._input_latency, output_latency = self._stream.latency
        delay = self._input_latency + output_latency
        self._playout = Playout(0.0, device_rate=RATE, delay=delay, keep=keep)
        # Before the card starts: its thread must never wait for an import.
        self._canceller = self._make_canceller(delay) if self._make_canceller else None
        self._stream.start()
        self._watching = asyncio.create_task(self._watch(loop), name="sound card")
        return self._playout

    async def frames(self) -> AsyncGenerator[Pcm, None]:
        """The microphone's audio, until the call is cancelled.

        Raises:
            ComponentError: the card has never delivered audio, or has been away for too long.
        """
        while True:
            try:
                async with asyncio.timeout(STALLED):
                    captured, frame = await self._captured.get()
            except TimeoutError:
                if self._watching and self._watching.done():
                    await self._watching
                raise ComponentError(
                    f"The microphone has delivered nothing for {STALLED:g} s; reconnect it or choose another device."
                ) from None
            self.pacing.note(captured, self._clock())
            self.level = float(np.abs(frame.astype(np.int32)).max(initial=0)) / 32768
            yield np.zeros_like(frame) if self.muted else frame

    def wait_for_answer(self, pending: bool) -> None:
        """Do nothing: a person hears the announcement themselves."""

    def close(self) -> None:
        """Stop the card."""
        if self._watching:
            self._watching.cancel()
        if self._stream:
            self._stream.close()
            self._stream = None

    async def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Detect the loss of the card, and then open another stream."""
        while True:
            await asyncio.sleep(GONE / 4)
            if self._clock() - (noticed := self._last) < GONE:
                continue
            # If the whole machine has just been suspended, give the card a chance first.
            await asyncio.sleep(GONE / 4)
            if self._last == noticed:
                await self._do_without(loop)

    async def _do_without(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keep the clock running with silence until a card is available.

        Raises:
            ComponentError: it has been away for too long.
        """
        self._plugged += 1
        gone = self._last
        self._absences.append((gone - self.origin, math.inf))
        self.on_away()
        stream, self._stream = self._stream, None
        silence = asyncio.create_task(self._keep_time(loop), name="sound card's clock")
        try:
            if stream:
                # PortAudio may take a while with a missing card.
                await asyncio.to_thread(stream.close)
            while (opened := await self._reopened(loop)) is None:
                if self._clock() - gone >= AWAY_AT_MOST:
                    raise ComponentError(
                        f"The sound card has been away for {AWAY_AT_MOST:g} s; connect it, and call again."
                    )
                await asyncio.sleep(REOPEN_EVERY)
        finally:
            silence.cancel()
        self._returns = True
        self._stream, self._last = opened, self._clock()
        self._input_latency = opened.latency[0]
        opened.start()
        start, back = self._absences[-1][0], self._clock() - self.origin
        self._absences[-1] = (start, back)
        self.on_back(back - start)

    async def _reopened(self, loop: asyncio.AbstractEventLoop) -> SoundStream | None:
        """A stream on the card, or on the present default card; None while there is none."""
        opening = asyncio.create_task(
            asyncio.to_thread(self._reopen_stream, functools.partial(self._exchange, loop, self._plugged))
        )
        try:
            return await asyncio.shield(opening)
        except VoiceError:
            return None
        except asyncio.CancelledError:
            # The thread cannot be stopped, and nothing else would close its stream.
            opening.add_done_callback(lambda done: None if done.exception() else done.result().close())
            raise

    async def _keep_time(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            self._fill(loop)
            await asyncio.sleep(MESSAGE_SAMPLES / RATE)

    def _fill(self, loop: asyncio.AbstractEventLoop) -> None:
        """Consume the audio that would have been played by now, and pass on silence in place of the microphone's."""
        now = self._clock()
        due = now - min(self._starts) - self._samples / RATE
        blocks = int(due * RATE) // CARD_BLOCK
        for _ in range(blocks):
            self._playout.pull(CARD_BLOCK)
            self._pass_on(loop, now, bytes(2 * CARD_BLOCK))
        self._samples += blocks * CARD_BLOCK

    def _exchange(
        self,
        loop: asyncio.AbstractEventLoop,
        plugged: int,
        indata: Any,
        outdata: Any,
        frames: int,
        _times: Any,
        status: Any,
    ) -> None:
        """Give the card the audio to play, and pass on its input; runs in the card's thread."""
        if plugged != self._plugged:
            # A card that was given up delivers again.
            outdata[:] = bytes(len(outdata))
            return
        if self._returns:
            # It was slow to start.
            self._returns = False
            self._fill(loop)
        now = self._last = self._clock()
        played = self._playout.pull(frames)
        outdata[:] = played.tobytes()
        self._starts.append(now - self._samples / RATE)
        self._samples += frames
        self.dropouts += bool(status)
        heard = bytes(indata)
        if self._canceller:
            heard = self._canceller.clean(np.frombuffer(heard, np.int16), played).tobytes()
        self._pass_on(loop, now, heard)

    def _pass_on(self, loop: asyncio.AbstractEventLoop, now: float, heard: bytes) -> None:
        self._partial += heard
        while len(self._partial) >= 2 * MESSAGE_SAMPLES:
            frame = np.frombuffer(bytes(self._partial[: 2 * MESSAGE_SAMPLES]), np.int16)
            del self._partial[: 2 * MESSAGE_SAMPLES]
            loop.call_soon_threadsafe(self._captured.put_nowait, (now, frame))
