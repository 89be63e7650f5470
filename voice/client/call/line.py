"""The user's end of a call: the source of the user's audio, its clock, and the playback of the bot's."""

import asyncio
import itertools
import time
from array import array
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol

from latency.record.session import Pacing
from voice.client.caller.scripted_caller import PlacedTurn
from voice.client.playback.playout import Playout
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE, Pcm

LATE = 0.02
"""Seconds of a frame; a later one is late by more than its own duration."""

_FRAME_SECONDS = MESSAGE_SAMPLES / RATE


class PacingLog:
    """Records when each frame was due and sent: a call's figures are valid only for audio sent in real time.

    Args:
        on_card: whether a sound card paces the frames, whose clock need not be exact.
    """

    def __init__(self, *, on_card: bool = False) -> None:
        self._on_card = on_card
        self._lateness = array("f")
        self._first = self._last = 0.0

    def note(self, due: float, left: float) -> None:
        """The next frame was due at `due` and was sent at `left`, seconds on one clock."""
        if not self._lateness:
            self._first = left
        self._last = left
        self._lateness.append(left - due)

    @property
    def clock_ratio(self) -> float | None:
        """Seconds of the clock that passed per second of audio sent; None for fewer than two frames."""
        frames = len(self._lateness)
        return round((self._last - self._first) / ((frames - 1) * _FRAME_SECONDS), 6) if frames > 1 else None

    @property
    def seconds(self) -> float:
        """Seconds of audio sent."""
        return len(self._lateness) * _FRAME_SECONDS

    def late_max(self, start: float, end: float) -> float | None:
        """The largest delay of a frame between two instants of the recording, seconds; None without frames."""
        part = self._lateness[max(0, int(start / _FRAME_SECONDS)) : max(0, int(end / _FRAME_SECONDS))]
        return max(part, default=None)

    def summary(self) -> Pacing:
        """The figures for a report."""
        frames = len(self._lateness)
        worst = max(self._lateness, default=None)
        return Pacing(
            frames=frames,
            late_over_20ms=sum(late > LATE for late in self._lateness),
            late_max_ms=None if worst is None else round(worst * 1000, 2),
            on_card=self._on_card,
            clock_ratio=self.clock_ratio,
        )


class Source(Protocol):
    """Supplies the user's audio, such as a `ScriptedCaller`."""

    answer_pending: bool
    """Whether the agent has announced a later answer."""

    @property
    def placed(self) -> Sequence[PlacedTurn]:
        """Turns with known truth that have started."""

    def next_frame(self, at: float, playout: Playout) -> Pcm | None:
        """The frame that begins at `at` seconds of the recording, 16 kHz; None hangs up."""


class Line(Protocol):
    """One end of a call, used once: `open`, then `frames` until they end, then `close`."""

    pacing: PacingLog

    @property
    def placed(self) -> Sequence[PlacedTurn]:
        """Turns with known truth that have started; empty for a live user."""

    @property
    def origin(self) -> float:
        """When sample 0 of the recording was, seconds on the monotonic clock."""

    @property
    def away(self) -> Sequence[tuple[float, float]]:
        """Times without microphone and loudspeaker, (start, end); the last end may be infinity."""

    def open(self, *, keep: bool) -> Playout:
        """Start the clock and return its loudspeaker; `keep` says whether the played audio is kept."""

    def frames(self) -> AsyncGenerator[Pcm, None]:
        """The user's audio frame by frame, each as soon as its last sample has been captured."""

    def wait_for_answer(self, pending: bool) -> None:
        """Note whether the agent has announced a later answer."""

    def close(self) -> None:
        """Release the resources of `open`; may be called without it."""


class PacedLine:
    """Plays a source in real time: sends a frame when its last sample would have been captured.

    Deadlines are absolute, so that a late frame does not delay the next ones.

    Args:
        source: the user's audio and its timing.
        tap: called with every block the loudspeaker plays (samples, hertz), for listening in.
        user_tap: called with every frame of the source.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        source: Source,
        *,
        tap: Callable[[Pcm, int], None] | None = None,
        user_tap: Callable[[Pcm], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.pacing = PacingLog()
        self._source = source
        self._tap = tap
        self._user_tap = user_tap
        self._clock = clock
        self._playout = Playout(0.0, keep=False)

    @property
    def placed(self) -> Sequence[PlacedTurn]:
        """The turns that have started."""
        return self._source.placed

    @property
    def origin(self) -> float:
        """When the first frame began, seconds on the monotonic clock."""
        return self._playout.start

    @property
    def away(self) -> Sequence[tuple[float, float]]:
        """Never."""
        return ()

    def open(self, *, keep: bool) -> Playout:
        """Start the clock now."""
        self._playout = Playout(self._clock(), keep=keep)
        self._playout.tap = self._tap
        return self._playout

    async def frames(self) -> AsyncGenerator[Pcm, None]:
        """The source's frames in real time until it hangs up."""
        for index in itertools.count():
            due = self.origin + (index + 1) * MESSAGE_SAMPLES / RATE
            # Even when late, sleep(0) lets the receiver process arrived messages.
            await asyncio.sleep(max(0.0, due - self._clock()))
            now = self._clock()
            self._playout.advance(now)
            frame = self._source.next_frame(index * MESSAGE_SAMPLES / RATE, self._playout)
            if frame is None:
                return
            self.pacing.note(due, now)
            if self._user_tap:
                self._user_tap(frame)
            yield frame

    def wait_for_answer(self, pending: bool) -> None:
        """Tell the source, which may wait longer."""
        self._source.answer_pending = pending

    def close(self) -> None:
        """There is nothing to release."""
