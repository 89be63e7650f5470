"""Runs `voice serve` and reports at its end how long the callbacks of its event loop ran: loop_profile.py FILE serve …

asyncio runs every callback and every step of a task in `Handle._run`. Each gets two times: wall time, which on a busy
machine includes other processes, and processor time of the loop's thread.
"""

import asyncio
import atexit
import ctypes
import gc
import json
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REPORTED_FROM = 0.002
"""Seconds; shorter callbacks are only counted."""


class Profile:
    """Callbacks and collections, in seconds on the monotonic clock."""

    def __init__(self) -> None:
        self.callbacks: list[dict[str, Any]] = []
        self.collections: list[dict[str, Any]] = []
        self.count = 0
        self._began = (0.0, 0.0)

    def run(self, handle: asyncio.Handle) -> None:
        """Do what `Handle._run` does, and time it."""
        at, processor = time.monotonic(), time.thread_time()
        # A handle that has run may have dropped its callback.
        callback = handle._callback  # type: ignore[attr-defined]
        ORIGINAL(handle)
        took = {"seconds": time.monotonic() - at, "processor": time.thread_time() - processor}
        self.count += 1
        if took["seconds"] >= REPORTED_FROM:
            self.callbacks.append({"at": at, **took, "cpu": CPU(), "name": name(callback)})

    def collected(self, phase: str, info: Mapping[str, int]) -> None:
        """Called by the collector."""
        now = time.monotonic(), time.thread_time()
        if phase == "start":
            self._began = now
            return
        took = {"seconds": now[0] - self._began[0], "processor": now[1] - self._began[1]}
        if info["generation"] == 2 or took["seconds"] >= REPORTED_FROM:
            name = f"{threading.current_thread().name}, gen {info['generation']}, {info['collected']} objects freed"
            self.collections.append({"at": self._began[0], **took, "cpu": CPU(), "name": name})

    def write(self, path: Path) -> None:
        """Write the profile as JSON."""
        found = {"callbacks": self.callbacks, "collections": self.collections, "count": self.count}
        path.write_text(json.dumps(found))


def name(callback: Any) -> str:
    """The name of the task whose step it is, or of the function."""
    task = getattr(callback, "__self__", None)
    return task.get_name() if isinstance(task, asyncio.Task) else getattr(callback, "__qualname__", repr(callback))


ORIGINAL = asyncio.Handle._run
CPU = getattr(ctypes.CDLL(None), "sched_getcpu", lambda: None)
"""The number of the processor that the caller runs on; None where the system does not report it."""

if __name__ == "__main__":
    profile = Profile()
    asyncio.Handle._run = lambda handle: profile.run(handle)  # type: ignore[method-assign, assignment]
    gc.callbacks.append(profile.collected)
    atexit.register(profile.write, Path(sys.argv[1]))
    from pipelines.cli import main

    sys.exit(main(sys.argv[2:]))
