"""Playout: the audio that the user hears, rendered in blocks of 10 ms, exact for given arrival times. Pure.

It serves two clocks: a simulated device, for which `advance` renders everything that a loudspeaker would have played by
now, even if called late, and a sound card, which calls `pull` from its own thread.
"""

import math
import threading
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from voice.client.playback.bot_utterances import Utterance, UtteranceTracker
from voice.client.sound.pcm import Pcm, StreamResampler
from voice.ducking import Ducking

JITTER = 0.06
"""Seconds buffered before playout starts."""
RESUME = 1.0
"""Seconds after running dry within which resumed playout counts as an underrun."""

LEADING_SILENCE = 1.0
"""Seconds of silence at the start of a burst that still belong to the utterance after it."""

_EARLY = 1e-9


class JitterBuffer:
    """Decides when audio starts, runs dry and resumes: packets go in as they arrive, and blocks come out as played.

    Playout starts when `jitter` seconds are buffered, or that long after the first packet at the latest, and starts
    over after the buffer has run dry. It was an underrun if playout resumes within a second without an interruption,
    because the bot should have been talking.

    Args:
        jitter: seconds buffered before playout starts.
    """

    def __init__(self, jitter: float) -> None:
        self.jitter = jitter
        self.underruns: list[tuple[float, float]] = []
        """From the last sample played to the first one after the gap, seconds."""
        self._packets: deque[tuple[float, Pcm]] = deque()
        self._buffered = 0
        self._playing = False
        self._waiting_since: float | None = None
        self._began: float | None = None
        self._dry_since: float | None = None

    def __len__(self) -> int:
        """Samples buffered."""
        return self._buffered

    def push(self, at: float, pcm: Pcm) -> None:
        """Samples arrived at `at`."""
        if not self._playing and self._waiting_since is None:
            self._waiting_since = at
        if len(pcm):
            self._packets.append((at, pcm))
            self._buffered += len(pcm)

    def flush(self) -> None:
        """Drop all audio not yet played, because of an interruption."""
        self._packets.clear()
        self._buffered = 0
        self._playing, self._waiting_since, self._dry_since = False, None, None

    def is_playing(self, when: float, rate: int) -> bool:
        """Whether the block at `when` holds audio; starts playout when it is time."""
        since = self._waiting_since
        if not self._playing and since is not None:
            enough = self._buffered >= round(self.jitter * rate)
            if enough or when - since >= self.jitter - _EARLY:
                if self._dry_since is not None and when - self._dry_since <= RESUME:
                    self.underruns.append((self._dry_since, when))
                self._playing, self._began, self._waiting_since, self._dry_since = True, since, None, None
        return self._playing

    def take(self, when: float, size: int, rate: int) -> Pcm:
        """The samples of the block at `when`; fewer than `size` if the buffer runs dry in it."""
        parts = []
        missing = size
        while missing and self._packets:
            at, packet = self._packets.popleft()
            parts.append(packet[:missing])
            if len(packet) > missing:
                self._packets.appendleft((at, packet[missing:]))
            missing -= len(parts[-1])
        self._buffered -= size - missing
        if missing:
            self._playing, self._dry_since = False, when + (size - missing) / rate
        return np.concatenate(parts) if parts else np.zeros(0, np.int16)

    def received(self, when: float, *, speaking: bool) -> float:
        """When the audio of the block at `when` arrived.

        This is the arrival of the burst, because leading silence is part of an answer. Once the burst has been
        `speaking`, or has been silent for long, it is the arrival of the block's own first packet. Call this before
        `take`.
        """
        own = self._packets[0][0] if self._packets else when
        if self._began is None:
            return own
        began = self._began
        if speaking:
            self._began = None
        return began if when - began <= self.jitter + LEADING_SILENCE else own


class Playout:
    """Takes packets as they arrive and plays them as a loudspeaker would.

    Instants given are seconds on any one clock; instants it reports are seconds since `start` (the recording's clock).
    `push`, `flush` and `pull` may be called from different threads.

    Args:
        start: when block 0 begins; unused with a sound card, whose block 0 is the first one that it pulls.
        jitter: seconds buffered before playout starts.
        block: seconds rendered at once; 1/block must be whole.
        device_rate: hertz of a sound card that drives the clock by `pull`; None when `advance` and `push` drive it.
        delay: seconds between a block being pulled and being heard (the sound card's latency).
        keep: whether to keep the audio for `rendered`; without it, hours of playout take no memory.
    """

    def __init__(
        self,
        start: float,
        jitter: float = JITTER,
        block: float = 0.01,
        *,
        device_rate: int | None = None,
        delay: float = 0.0,
        keep: bool = True,
    ) -> None:
        self.start = start
        self.rate = device_rate
        """Sample rate of the playback in hertz; None until the first packet."""
        self.flushes: list[float] = []
        """When interruptions arrived."""
        self.ducked: list[tuple[float, float]] = []
        """Times of lowered volume, (start, end); the last end may be infinity."""
        self.tap: Callable[[Pcm, int], None] | None = None
        """Called with every block (samples, hertz) as it is played, once the rate is known."""
        self._per_second = round(1 / block)
        self._has_device = device_rate is not None
        self._delay = delay
        self._buffer = JitterBuffer(jitter)
        self._tracker = UtteranceTracker()
        self._pushed_rate: int | None = None
        self._resampler: StreamResampler | None = None
        self._blocks = 0
        self._played = bytearray() if keep else None
        self._pulled = np.zeros(0, np.int16)
        self._ducking: Ducking | None = None
        self._lock = threading.Lock()

    @property
    def jitter(self) -> float:
        """Seconds buffered before playout starts."""
        return self._buffer.jitter

    @property
    def underruns(self) -> list[tuple[float, float]]:
        """Gaps in bot speech because audio arrived too late: start and end as heard, seconds."""
        return [(start + self._delay, end + self._delay) for start, end in self._buffer.underruns]

    @property
    def utterances(self) -> Sequence[Utterance]:
        """Audible bot speech so far, in order; the last one may still grow."""
        return self._tracker.utterances

    @property
    def is_audible(self) -> bool:
        """Whether bot speech is heard at the last rendered block."""
        return self._tracker.is_audible

    @property
    def position(self) -> float:
        """Seconds rendered so far."""
        return self._blocks / self._per_second

    def push(self, now: float, pcm: Pcm, rate: int) -> None:
        """Mono audio arrived at `now`; blocks that began earlier do not contain it.

        Raises:
            ValueError: `rate` differs from the rate of the audio before it.
        """
        with self._lock:
            if self._pushed_rate not in (None, rate):
                raise ValueError(f"the bot changed its sample rate from {self._pushed_rate} to {rate} Hz during a call")
            at = self._reach(now)
            if len(pcm):
                self._set_rate(rate)
                self._buffer.push(at, self._resampler.push(pcm) if self._resampler else pcm)

    def flush(self, now: float) -> None:
        """Drop all audio not yet played, because of an interruption at `now`."""
        with self._lock:
            at = self._reach(now)
            self._buffer.flush()
            if self._resampler:
                self._resampler.flush()
            self._tracker.cut(at + self._delay)
            if self._ducking is not None:
                self._set_gain(1.0, at)
                self._ducking.reset()
            self.flushes.append(at)

    def duck(self, now: float, gain: float) -> None:
        """Play at this gain (0 to 1, 1 is full volume) from `now` on, until the next interruption at the latest."""
        with self._lock:
            at = self._reach(now)
            if self._ducking is not None:
                self._set_gain(gain, at)

    def advance(self, now: float) -> None:
        """Render every block before `now`; does nothing with a sound card, which pulls its own blocks."""
        with self._lock:
            self._reach(now)

    def pull(self, frames: int) -> Pcm:
        """The next `frames` samples, on the sound card's clock."""
        with self._lock:
            parts = [self._pulled]
            have = len(self._pulled)
            while have < frames:
                parts.append(self._render())
                have += len(parts[-1])
            samples = np.concatenate(parts)
            self._pulled = samples[frames:]
            return samples[:frames]

    def rendered(self) -> Pcm:
        """All audio heard so far at `rate`, from sample 0 of the recording; empty before the first packet.

        Raises:
            ValueError: made with keep=False.
        """
        if self._played is None:
            raise ValueError("this playout keeps no audio")
        with self._lock:
            played = np.frombuffer(bytes(self._played), np.int16)
        lead = np.zeros(round(self._delay * (self.rate or 0)), np.int16)
        return np.concatenate([lead, played])

    def _reach(self, now: float) -> float:
        """Render all blocks before `now`; returns `now` on the recording's clock."""
        if self._has_device:
            return self.position
        at = now - self.start
        while self.position < at - _EARLY:
            self._render()
        return at

    def _set_rate(self, rate: int) -> None:
        if self._pushed_rate is not None:
            return
        self._pushed_rate = rate
        self._ducking = Ducking(sample_rate=self.rate or rate)
        if self.rate is None:
            self.rate = rate
            if self._played is not None:
                self._played.extend(bytes(2 * self._first_sample(self._blocks, rate)))
        elif self.rate != rate:
            self._resampler = StreamResampler(rate, self.rate)

    def _set_gain(self, gain: float, at: float) -> None:
        assert self._ducking is not None
        was, self._ducking.target = self._ducking.target, gain
        if gain < 1 and was == 1:
            self.ducked.append((at + self._delay, math.inf))
        elif gain == 1 and was < 1:
            self.ducked[-1] = (self.ducked[-1][0], at + self._delay)

    def _first_sample(self, block: int, rate: int) -> int:
        """At 22.05 kHz, blocks of 10 ms have 220 and 221 samples in turn, so that the clock does not drift."""
        return block * rate // self._per_second

    def _render(self) -> Pcm:
        index, self._blocks = self._blocks, self._blocks + 1
        if self.rate is None:
            return np.zeros(0, np.int16)
        size = self._first_sample(index + 1, self.rate) - self._first_sample(index, self.rate)
        block = self._next_block(index / self._per_second, size, self.rate)
        if self._played is not None:
            self._played += block.tobytes()
        if self.tap:
            self.tap(block, self.rate)
        return block

    def _next_block(self, when: float, size: int, rate: int) -> Pcm:
        if not self._buffer.is_playing(when, rate):
            self._tracker.silence()
            return np.zeros(size, np.int16)
        if len(self._buffer) < size and self._resampler:
            self._buffer.push(when, self._resampler.flush())
        received = self._buffer.received(when, speaking=self._tracker.is_audible)
        samples = self._buffer.take(when, size, rate)
        if len(samples) < size:
            samples = np.concatenate([samples, np.zeros(size - len(samples), np.int16)])
        if self._ducking is not None:
            samples = np.frombuffer(self._ducking.apply(samples.tobytes()), np.int16)
        self._tracker.block(when + self._delay, samples, rate, received)
        return samples
