"""Who gets the processor first where it is scarce: what sends audio, before what finds the words of the next turn.

A hole in an answer is heard by everybody; an answer that comes 50 ms later by nobody.
"""

import os
import sys

BEHIND = 10
"""Niceness of recognisers: ten of them together weigh as much as the process that sends audio."""


def stand_behind() -> None:
    """Let the calling process, or on Linux the calling thread alone, stand behind those of the usual priority.

    Elsewhere niceness belongs to whole processes, so that a thread of one that sends audio must not call this.
    """
    if sys.platform == "linux":
        # There, 0 means the calling thread.
        os.setpriority(os.PRIO_PROCESS, 0, max(BEHIND, os.getpriority(os.PRIO_PROCESS, 0)))


def process_stands_behind() -> None:
    """Let the whole calling process stand behind those of the usual priority."""
    os.nice(max(0, BEHIND - os.nice(0)))
