"""How long work waits for an engine that all calls share. Pure: times are passed in, seconds.

The waits of a sliding window say how much headroom an engine has; whoever keeps statistics gets each of them.
"""

import threading
from collections import deque
from collections.abc import Callable

WINDOW = 10.0
"""Seconds for which a wait counts."""
ENOUGH = 5
"""Waits that say something of a queue: one alone may be chance."""
MOST = 1024
"""Waits that are remembered."""


class QueueWaits:
    """The waits of one queue; for any thread.

    Args:
        stage: what is waited for, such as "synthesis".
    """

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.observer: Callable[[float], None] | None = None
        """Called with each wait, in the thread that notes it."""
        self._waits: deque[tuple[float, float]] = deque(maxlen=MOST)
        self._lock = threading.Lock()

    def note(self, waited: float, now: float) -> None:
        """Work that has waited begins now."""
        with self._lock:
            self._waits.append((now, waited))
        if self.observer is not None:
            self.observer(waited)

    def tail(self, now: float) -> float | None:
        """The wait that nine in ten of the latest do not exceed; None if less than `ENOUGH` work has begun lately."""
        with self._lock:
            while self._waits and self._waits[0][0] < now - WINDOW:
                self._waits.popleft()
            latest = sorted(waited for _, waited in self._waits)
        return latest[min(len(latest) - 1, int(len(latest) * 0.9))] if len(latest) >= ENOUGH else None
