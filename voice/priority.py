"""Process priorities where the processor is scarce: sending audio comes before recognising the next turn.

Everyone hears a gap in an answer; no one hears that it comes 50 ms later. But a low priority also ranks below all other
programs on the machine: next to two busy programs on two cores, the recogniser of one call fell so far behind that most
turns were answered after seconds. So recogniser processes get a low priority only when calls themselves make the
processor scarce.
"""

import contextlib
import os
import sys

BEHIND = 10
"""Niceness: ten recognisers at this priority together weigh as much as the process that sends audio."""
CALLS_FOR_A_CORE = 2
"""Calls with their own recogniser that a core supports. On two cores, up to five simultaneous calls had no drop-outs
with their recognisers at normal priority, and eight had 64 in 71 turns; at low priority, eight had 4 or 5."""


def is_crowded(calls: int) -> bool:
    """Whether the recognisers of this many calls compete with the process that sends audio."""
    return calls > CALLS_FOR_A_CORE * core_count()


def core_count() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def put_behind(pid: int) -> None:
    """Give a single-threaded process a low priority; ignore one that has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, pid, max(BEHIND, os.getpriority(os.PRIO_PROCESS, pid)))


def lower_thread_priority() -> None:
    """On Linux, give the calling thread a low priority.

    On other systems, niceness applies to whole processes, and this may be the one that sends audio.
    """
    if sys.platform == "linux":
        # There, 0 means the calling thread.
        put_behind(0)
