"""The agent's voice on its way to the client, with a head start; softer or silent while the caller speaks."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from pipecat.frames.frames import (
    AggregatedTextFrame,
    Frame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputTransportMessageUrgentFrame,
    StartFrame,
    TTSStartedFrame,
    TTSTextFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.websocket.fastapi import FastAPIWebsocketOutputTransport

from voice.ducking import Ducking
from voice.wire.messages import DuckMessage, to_rtvi

HEAD_START = 0.12
"""Seconds of an answer that are sent at once. The client starts playout at 60 ms, which leaves 60 ms for jitter, and an
interruption discards at most this much."""

LONGEST_HOLD = 0.25
"""The most seconds for which an utterance's first sound waits while the caller may be starting to speak; the voice
detector needs some 0.18 s more to be sure."""
HOLD_STEP = 0.01
REMEMBERED = 6.0
"""Seconds of audio kept: three words and the pauses between them, even from a slow voice."""
MOST_REPEATED = 3
"""The most words repeated when an utterance goes on."""
REPEATED_INSIDE = 1
"""Words repeated if no clause begins within the last `MOST_REPEATED`."""


class SentAudio:
    """The latest audio of an utterance, and the point at which it resumes after a silence; positions are in seconds.

    Args:
        bytes_per_second: the audio's byte rate.
        ahead: seconds by which sent audio leads the listener: a word is reported as the listener hears its end.
    """

    def __init__(self, *, bytes_per_second: int, ahead: float) -> None:
        self._rate, self._ahead = bytes_per_second, ahead
        self.clear()

    def clear(self) -> None:
        """Forget everything: another utterance begins."""
        self._chunks: deque[bytes] = deque()
        self._kept = 0.0
        self.sent = 0.0
        """Seconds sent."""
        self._words: deque[float] = deque(maxlen=16)
        self._clauses: deque[float] = deque(maxlen=8)

    def add(self, audio: bytes) -> None:
        """Add audio that is sent."""
        seconds = len(audio) / self._rate
        self.sent += seconds
        self._kept += seconds
        self._chunks.append(audio)
        while self._kept > REMEMBERED:
            self._kept -= len(self._chunks.popleft()) / self._rate

    def word(self) -> None:
        """Note that the listener has heard a word to its end."""
        self._words.append(max(0.0, self.sent - self._ahead))

    def clause(self) -> None:
        """Note that the next audio begins a clause."""
        if not self._clauses or self._clauses[-1] != self.sent:
            self._clauses.append(self.sent)

    def border(self, heard: float) -> float:
        """Where the utterance goes on after a listener has heard `heard` seconds: at most `MOST_REPEATED` words back.

        That is the beginning of the latest clause, or else a word or two back, so that the broken word is repeated
        whole.
        """
        words = [end for end in self._words if end <= heard]
        earliest = words[-MOST_REPEATED - 1] if len(words) > MOST_REPEATED else 0.0
        clauses = [begin for begin in self._clauses if earliest <= begin <= heard]
        if clauses:
            return clauses[-1]
        return words[-REPEATED_INSIDE - 1] if len(words) > REPEATED_INSIDE else earliest

    def since(self, begin: float) -> list[bytes]:
        """The audio sent since `begin` seconds, as far as it is kept."""
        at = self.sent - self._kept
        found = []
        for chunk in self._chunks:
            seconds = len(chunk) / self._rate
            if at + seconds > begin + 1e-6:
                skip = max(0, round((begin - at) * self._rate / 2)) * 2
                found.append(chunk[skip:])
            at += seconds
        return found


class HeadStartOutput(FastAPIWebsocketOutputTransport):
    """Sends the first 120 ms of an answer at once, then keeps that lead over real time.

    pipecat sends in exact real time and restarts its schedule when it is late, so the user hears each delay of the
    event loop as a gap. Here the schedule is the playout clock, so a late chunk does not delay the next ones.

    After an interruption, nothing more of the answer is sent. pipecat would still send the chunks under way, and the
    client, whose buffer is flushed, would take them for the start of the next answer.

    No utterance starts while the caller may be starting to speak (`user_may_be_starting`): a caller whose pause was
    taken for the end goes on without hearing any of the answer.

    While the caller speaks over an answer, it becomes softer (`duck`), or pauses (`silence`) until it goes on
    (`resume`) or is interrupted. The client then drops the audio it has not played, and the answer goes on from a
    border that `SentAudio` finds.

    Args:
        args, kwargs: as for pipecat's.
        user_may_be_starting: whether the latest sound may be the start of the caller's speech.
        ducked_gain: gain of a ducked answer.
        ducked_by_client: whether the client can lower its own playback volume.
        present: set while the client is connected; None for a client that never comes back.
    """

    def __init__(
        self,
        *args: Any,
        user_may_be_starting: Callable[[], bool] = lambda: False,
        ducked_gain: float = 1.0,
        ducked_by_client: bool = False,
        present: asyncio.Event | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._user_may_be_starting, self._present = user_may_be_starting, present
        self._ducked_gain, self._ducked_by_client = ducked_gain, ducked_by_client
        self.saying = ""
        """The clause that is being spoken."""
        self._played_until: float | None = None
        self._interrupted = False
        self._ducking: Ducking | None = None
        self._sent: SentAudio | None = None
        self._may_sound = asyncio.Event()
        self._may_sound.set()
        self._stopped = asyncio.Event()

    def duck(self) -> None:
        """Speak more softly from now on."""
        self._set_gain(self._ducked_gain)

    def silence(self) -> None:
        """Stop sending from the next audio on, until `resume`."""
        self._may_sound.clear()

    def resume(self) -> None:
        """Speak at full volume; after a silence, from a border at or before the break."""
        self._set_gain(1.0)
        self._may_sound.set()

    def _set_gain(self, gain: float) -> None:
        """Set the gain at the client if it can do that, else in the next audio."""
        if self._ducked_by_client:
            message = OutputTransportMessageUrgentFrame(message=to_rtvi(DuckMessage(gain)))
            self.create_task(self._write_frame(message), "duck")
        elif self._ducking:
            self._ducking.target = gain

    async def start(self, frame: StartFrame) -> None:
        """Prepare what depends on the sample rate."""
        await super().start(frame)
        self._ducking = Ducking(sample_rate=self.sample_rate)
        self._sent = SentAudio(bytes_per_second=2 * self.sample_rate, ahead=HEAD_START)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note when answers are interrupted and when new speech starts."""
        if isinstance(frame, InterruptionFrame):
            self._interrupted = True
            self._stopped.set()
        elif isinstance(frame, TTSStartedFrame):
            if self._interrupted:
                await self._announce_silence()
            self._interrupted = False
        await super().process_frame(frame, direction)
        if isinstance(frame, InterruptionFrame):
            self._played_until = None
            self._may_sound.set()
            self.saying = ""
            if self._ducking and self._sent:
                self._ducking.reset()
                self._sent.clear()

    async def _announce_silence(self) -> None:
        """Report the end of the interrupted answer if a late chunk has been reported as a beginning.

        Otherwise the beginning of the next answer would not be reported.
        """
        for sender in self._media_senders.values():
            await sender._bot_stopped_speaking()

    async def push_frame(self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM) -> None:
        """Note words and clauses, which come in order with the audio."""
        if self._sent and isinstance(frame, TTSTextFrame):
            self._sent.word()
        elif self._sent and isinstance(frame, AggregatedTextFrame) and frame.will_be_spoken:
            self.saying = frame.text
            self._sent.clause()
        await super().push_frame(frame, direction)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Send a chunk and wait until the next is due; while the client is away, wait for it."""
        if self._present is not None and not self._present.is_set():
            await self._present.wait()
        if frame.interruptible:
            await self._hold()
            if not self._may_sound.is_set():
                await self._wait_silently()
            if self._interrupted:
                return False
        if self._sent:
            self._sent.add(frame.audio)
        return await self._send(frame.audio)

    async def _send(self, audio: bytes) -> bool:
        """Send audio with the present gain, and wait until more is due."""
        if self._ducking:
            audio = self._ducking.apply(audio)
        return await super().write_audio_frame(
            OutputAudioRawFrame(audio=audio, sample_rate=self.sample_rate, num_channels=1)
        )

    def sent_again(self, chunks: int) -> float:
        """Count chunks that go at once to a client that has come back as its head start; returns their seconds."""
        seconds = chunks * self._send_interval
        self._played_until = time.monotonic() + seconds
        return seconds

    async def _wait_silently(self) -> None:
        """Discard the audio that the client has not played, wait for the decision, and go on with the answer."""
        if not self._is_sounding:
            # Nothing of the answer has been sent yet.
            await self._may_sound.wait()
            return
        unheard = max(0.0, (self._played_until or 0.0) - time.monotonic())
        await self._write_frame(InterruptionFrame())
        self._played_until = None
        await self._may_sound.wait()
        if self._interrupted or self._sent is None:
            return
        for audio in self._sent.since(self._sent.border(self._sent.sent - unheard)):
            if self._interrupted:
                return
            await self._send(audio)

    @property
    def _is_sounding(self) -> bool:
        """Whether the client is still playing audio."""
        return self._played_until is not None and self._played_until > time.monotonic()

    async def _hold(self) -> None:
        """Before the first sound of an utterance, wait until it is clear that the caller is silent."""
        if self._is_sounding:
            return
        for _ in range(round(LONGEST_HOLD / HOLD_STEP)):
            if self._interrupted or not self._user_may_be_starting():
                return
            await asyncio.sleep(HOLD_STEP)

    async def _write_audio_sleep(self) -> None:
        now = time.monotonic()
        if self._played_until is None or self._played_until < now:
            self._played_until = now
        self._played_until += self._send_interval
        wait = max(0.0, self._played_until - HEAD_START - now)
        if wait <= HEAD_START:
            await asyncio.sleep(wait)
            return
        # A client that has come back is playing resent audio; an interruption ends that.
        self._stopped.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._stopped.wait()
