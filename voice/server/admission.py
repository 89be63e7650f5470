"""Whether a server takes another call, by the spare capacity of its event loop and its shared engines. Pure.

Under load, optional work is skipped first (`is_scarce`): speculative answers and second requests. A new call is refused
(`refusal`) if it would slow down the calls under way. Load is measured, not assumed, so a server takes more calls on a
faster machine or with a smaller model. The most calls at once and other fixed limits are in `voice.server.limits`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from voice.queue_waits import QueueWaits
from voice.server.event_loop import WINDOW, LoopLoad, LoopWatch

Kind = Literal["loading", "ending", "full", "beginning", "overloaded", "address"]
"""The models are loading; the server is shutting down; it has reached its limit of calls under way or about to begin;
or the calls under way use all its capacity."""
SCARCE_BUSY, FULL_BUSY = 0.7, 0.75
"""The event loop's load from which optional work is skipped, and which no further call may exceed. With a recogniser in
other processes on two cores, eight calls of the tour (one synthetic speaker) need 0.62 and have no drop-outs, 9 to 11
need 0.72 to 0.82 and have a few, 12 need 0.91 and have many. Skipping speculative answers earlier would make eight
calls 0.2 s slower for no gain."""
SCARCE_WAIT = {"event_loop": 0.03, "synthesis": 0.1, "recognition": 0.3}
FULL_WAIT = {"event_loop": 0.05, "synthesis": 0.25, "recognition": 0.5}
"""The same limit for the 90th percentile of waits for a stage, seconds. The client bridges 0.1 s without audio."""
BEGINNING = 0.1
"""Seconds of the loop's work to begin a call, needed once."""
STAGES = {"event_loop": "the event loop", "synthesis": "the voice", "recognition": "the recogniser"}
SETTLED = 5.0
"""Seconds until the measured load includes a new call in full: the window of the loop's load."""
FEWEST = 4
"""Calls from which the load predicts the need of a further one. With fewer, other programs may cause the load, and the
waits decide."""
RETRY_AFTER = 10
"""The window of the measurements, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionRefusal:
    """Why no call is taken now."""

    kind: Kind
    reason: str
    """At most 123 bytes, the most for a WebSocket's close reason."""
    retry_after: int = 5
    """Seconds until another try is worthwhile."""


@dataclass(slots=True)
class Headroom:
    """The spare capacity of one server."""

    loop: LoopLoad | None = None
    """None if the event loop is not watched."""
    queues: list[QueueWaits] = field(default_factory=list)
    watch: LoopWatch | None = None
    """What measures the event loop."""

    def follow(self, watch: LoopWatch) -> None:
        """Measure the event loop with this watch."""
        self.watch, self.loop = watch, watch.load
        self.queues.append(watch.waits)

    def is_scarce(self, now: float) -> bool:
        """Whether to skip optional work."""
        if self.loop is not None and self.loop.busy(now) >= SCARCE_BUSY:
            return True
        return any((queue.tail(now) or 0.0) >= SCARCE_WAIT[queue.stage] for queue in self.queues)

    def refusal(self, now: float, *, ages: Sequence[float]) -> AdmissionRefusal | None:
        """Why no further call should be taken; None when one can be.

        A new call is assumed to need as much as the others on average, although little of that is measured yet.

        Args:
            now: seconds, monotonic.
            ages: seconds since each of the calls under way began.
        """
        if not ages:
            return None
        for queue in self.queues:
            tail = queue.tail(now) or 0.0
            if tail >= FULL_WAIT[queue.stage]:
                return _refused(f"calls wait {tail:.2f} s for {STAGES[queue.stage]} ({len(ages)} under way)")
        measured = sum(min(1.0, age / SETTLED) for age in ages)
        if self.loop is None or measured < 1 or len(ages) < FEWEST:
            return None
        busy = self.loop.busy(now)
        began = sum(age < SETTLED for age in ages) * BEGINNING / WINDOW
        expected = max(0.0, busy - began) * (len(ages) + 1) / measured
        if expected >= FULL_BUSY:
            return _refused(f"{len(ages)} calls need {busy:.0%} of what this server can do")
        return None


def _refused(why: str) -> AdmissionRefusal:
    reason = f"{why}; call again in {RETRY_AFTER} s"
    return AdmissionRefusal(kind="overloaded", reason=reason, retry_after=RETRY_AFTER)
