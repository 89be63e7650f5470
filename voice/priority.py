"""Process priorities where the processor is scarce: sending audio comes before recognising the next turn.

A gap in an answer is heard by everybody; an answer that comes 50 ms later by nobody. But a process of low priority also
comes after every other program of the machine: beside two busy programs on two cores, the recogniser of one call fell
so far behind the caller that most turns were answered after seconds. So recognisers with a process of their own get a
low priority only when calls themselves make the processor scarce.
"""

import contextlib
import os
import sys

BEHIND = 10
"""Niceness: ten recognisers of this priority weigh as much together as the process that sends audio."""
CALLS_FOR_A_CORE = 2
"""Calls, each with a recogniser of its own, that a core bears. On two cores, up to five calls at once had no drop-out
while their recognisers had the usual priority, and eight had 64 in 71 turns; at a low priority, eight had 4 or 5."""


def is_crowded(calls: int) -> bool:
    """Whether the recognisers of this many calls take the processor away from what sends audio."""
    return calls > CALLS_FOR_A_CORE * core_count()


def core_count() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def put_behind(pid: int) -> None:
    """Give a process with one thread a low priority; one that has ended is left alone."""
    with contextlib.suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, pid, max(BEHIND, os.getpriority(os.PRIO_PROCESS, pid)))


def lower_thread_priority() -> None:
    """On Linux, give the calling thread a low priority.

    Elsewhere niceness belongs to whole processes, and this may be the one that sends audio.
    """
    if sys.platform == "linux":
        # There, 0 means the calling thread.
        put_behind(0)
