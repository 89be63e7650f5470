"""Computes when an answer is due, from the end of the user's turn. Pure: instants are passed in, in seconds."""

import math
from collections.abc import Callable
from dataclasses import replace

from latency.budget import DETECTOR_LAG, Budget, Commit, Deadline, remaining_turn_budget
from voice.frames import TurnEndFrame
from voice.turns.turn_follower import TurnFollower

Percentile = Callable[[], float | None]


def unmeasured() -> float | None:
    """A missing percentile: the stage's share of the budget is used."""
    return None


class TurnDeadline(TurnFollower[None]):
    """Follows the user's silence, and computes the time left for the answer.

    Args:
        budget: the shares of a turn.
        synthesis_p95: measured seconds from a clause to its first sample, or None.
    """

    def __init__(self, budget: Budget, *, synthesis_p95: Percentile = unmeasured) -> None:
        self._budget = budget
        self._synthesis_p95 = synthesis_p95
        self._speech_end: float | None = None
        self._vad_stop: float | None = None
        self._silence_needed: float | None = None
        self._committed: Commit | None = None
        self._held_until = math.inf
        self.ended: float | None = None
        """The end of the turn still to be answered; None without one."""

    def turn_opened(self, now: float) -> None:
        """The user speaks again: the previous turn is answered, or continues."""
        self.ended = None

    def turn_closed(self, now: float) -> None:
        """The turn is over and awaits its answer."""
        self.ended = now

    def interrupted(self, now: float) -> None:
        """The answer is interrupted, so the next context is not measured from the turn's silence."""
        if self.ended is not None:
            self._forget()

    def speech_started(self, now: float) -> None:
        """The user speaks again: forget the silence."""
        self._speech_end = self._vad_stop = self._silence_needed = self._committed = None

    def speech_may_have_stopped(self, now: float, silence: float) -> None:
        """A hint at the end of the speech."""
        self._speech_end = now - silence - DETECTOR_LAG

    def speech_resumed(self, now: float) -> None:
        """The hint was wrong."""
        self._speech_end = None

    def speech_stopped(self, now: float, silence: float) -> None:
        """The end of the speech."""
        self._vad_stop = now
        self._speech_end = now - silence - DETECTOR_LAG

    def turn_ended(self, now: float, end: TurnEndFrame) -> None:
        """Note the required length of the silence."""
        self._silence_needed = end.silence

    def ahead(self) -> Deadline | None:
        """When a speculative answer would be due if the turn ended now; None while the user speaks."""
        if self._speech_end is None:
            return None
        left = remaining_turn_budget(self._speech_end, self._budget, self._synthesis_p95())
        return Deadline(left, "turn")

    def commit(
        self, at: float, *, fast_p95: float | None, preferred_at: float | None = None, follows_tool: bool = False
    ) -> Deadline:
        """When the answer is due if the turn ended at `at`. Forgets the user's silence.

        Args:
            at: when, seconds.
            fast_p95: the basis of the floor; see `Commit`.
            preferred_at: when the preferred tier usually has its first clause; see `Commit`.
            follows_tool: whether it uses a tool's result. The caller has then waited since the turn ended, and no ready
                answer is held back once that deadline is over.
        """
        commit = self._committed = Commit(
            at=at,
            speech_end=self._speech_end,
            vad_stop=self._vad_stop,
            silent_enough=_silent_enough(self._speech_end, self._silence_needed),
            synthesis_p95=self._synthesis_p95(),
            fast_p95=fast_p95,
            preferred_at=preferred_at,
        )
        self._forget()
        deadline = commit.deadline(self._budget)
        if follows_tool:
            return replace(deadline, due=min(deadline.hold_until, self._held_until))
        self._held_until = deadline.hold_until
        return deadline

    def charged(self, frame: TurnEndFrame) -> Deadline | None:
        """The deadline of the turn just committed, adjusted for the reason for its end; None without a commit.

        The end of a turn may overtake the frame that says how long the silence had to be.
        """
        if self._committed is None:
            return None
        needed = _silent_enough(self._committed.speech_end, frame.silence)
        self._committed = replace(self._committed, silent_enough=needed)
        return self._committed.deadline(self._budget)

    def _forget(self) -> None:
        self._speech_end = self._vad_stop = self._silence_needed = self.ended = None


def _silent_enough(speech_end: float | None, needed: float | None) -> float | None:
    """When the silence reached its required length; None if silence did not end the turn."""
    return None if speech_end is None or needed is None else speech_end + DETECTOR_LAG + needed
