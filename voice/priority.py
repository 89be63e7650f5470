"""Who gets the processor first where it is scarce: what sends audio, before what finds the words of the next turn.

A hole in an answer is heard by everybody; an answer that comes 50 ms later by nobody. But whoever stands behind is
behind every other program of the machine, too: beside two busy programs on two cores, a recogniser of one call that
stood behind fell so far behind the caller that most turns were answered after seconds. So recognisers with a process of
their own stand behind only when calls themselves make the processor scarce.
"""

import contextlib
import os
import sys

BEHIND = 10
"""Niceness: ten recognisers that stand behind weigh as much together as the process that sends audio."""
CALLS_FOR_A_CORE = 2
"""Calls, each with a recogniser of its own, that a core bears. On two cores, up to five calls at once had no drop-out
while their recognisers did not stand behind, and eight had 64 in 71 turns; when they did, eight had 4 or 5."""


def is_crowded(calls: int) -> bool:
    """Whether the recognisers of this many calls take the processor away from what sends audio."""
    return calls > CALLS_FOR_A_CORE * core_count()


def core_count() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def put_behind(pid: int) -> None:
    """Let a process with one thread stand behind those of the usual priority; one that has ended is left alone."""
    with contextlib.suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PROCESS, pid, max(BEHIND, os.getpriority(os.PRIO_PROCESS, pid)))


def lower_thread_priority() -> None:
    """Let the calling process, or on Linux the calling thread alone, stand behind those of the usual priority.

    Elsewhere niceness belongs to whole processes, so that a thread of one that sends audio must not call this.
    """
    if sys.platform == "linux":
        # There, 0 means the calling thread.
        put_behind(0)
