"""The waits of work for an engine shared by all calls. Pure: times are passed in, seconds.

The waits in a sliding window show an engine's headroom; each is also passed on for statistics.
"""

import threading
from collections import deque
from collections.abc import Callable

WINDOW = 10.0
"""Seconds for which a wait counts."""
ENOUGH = 5
"""The least number of waits that count: one alone may be chance."""
MOST = 1024
"""The number of waits remembered."""


class QueueWaits:
    """The waits of one queue; for any thread.

    Args:
        stage: the name of the stage, such as "synthesis".
    """

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.observer: Callable[[float], None] | None = None
        """Called with each wait, in the thread that records it."""
        self._waits: deque[tuple[float, float]] = deque(maxlen=MOST)
        self._lock = threading.Lock()

    def note(self, waited: float, now: float) -> None:
        """Record that work begins now after a wait."""
        with self._lock:
            self._waits.append((now, waited))
        if self.observer is not None:
            self.observer(waited)

    def tail(self, now: float) -> float | None:
        """The 90th percentile of the latest waits; None with fewer than `ENOUGH`."""
        with self._lock:
            while self._waits and self._waits[0][0] < now - WINDOW:
                self._waits.popleft()
            latest = sorted(waited for _, waited in self._waits)
        return latest[min(len(latest) - 1, int(len(latest) * 0.9))] if len(latest) >= ENOUGH else None
