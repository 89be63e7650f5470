"""The jitter buffer: when audio starts to play, runs dry and resumes. Pure: packets and blocks come with their times.

Playout starts when `jitter` seconds are buffered, or that long after the first packet if the sender never gets that far
ahead. When the buffer runs dry, everything starts over. It is an underrun when playout resumes within a second without
an interruption in between, because the bot should have been talking.
"""

from collections import deque

import numpy as np

from voice.client.sound.pcm import Pcm

RESUME = 1.0
"""Seconds after running dry within which resumed playout makes it an underrun."""

LEADING_SILENCE = 1.0
"""Seconds of silence at the start of a burst that still belong to the utterance after it."""

_EARLY = 1e-9


class JitterBuffer:
    """Packets go in as they arrive; blocks come out as they are played.

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
        """Drop everything that has not been played, because of an interruption."""
        self._packets.clear()
        self._buffered = 0
        self._playing, self._waiting_since, self._dry_since = False, None, None

    def is_playing(self, when: float, rate: int) -> bool:
        """Whether the block that begins at `when` holds audio; starts playout when it is time to."""
        since = self._waiting_since
        if not self._playing and since is not None:
            enough = self._buffered >= round(self.jitter * rate)
            if enough or when - since >= self.jitter - _EARLY:
                if self._dry_since is not None and when - self._dry_since <= RESUME:
                    self.underruns.append((self._dry_since, when))
                self._playing, self._began, self._waiting_since, self._dry_since = True, since, None, None
        return self._playing

    def take(self, when: float, size: int, rate: int) -> Pcm:
        """The samples of the block that begins at `when`; fewer than `size` when the buffer runs dry in it."""
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
        """When the audio of the block that begins at `when` arrived.

        It is when the burst began to arrive, because leading silence is part of an answer. Once the burst has been
        `speaking`, or has been silent for long, it is when the block's own first packet arrived. Call this before
        `take`.
        """
        own = self._packets[0][0] if self._packets else when
        if self._began is None:
            return own
        began = self._began
        if speaking:
            self._began = None
        return began if when - began <= self.jitter + LEADING_SILENCE else own
