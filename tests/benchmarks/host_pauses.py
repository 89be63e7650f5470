"""Writes down when a processor of this machine stood still: host_pauses.py CPU FILE, until it is terminated.

The host of a virtual machine sometimes stops a processor for 10 ms and more, while the clocks of the threads on it go
on. A ticker that is bound to the processor and has priority over all other programs is late only then. Linux, as root.
"""

import json
import os
import sys
import time

TICK = 0.002
PAUSE = 0.004
"""Seconds between two ticks from which they count as a pause."""


def main(cpu: int, path: str) -> None:
    """Write the beginning and end of each pause, in seconds on the monotonic clock."""
    os.sched_setaffinity(0, {cpu})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        sys.exit("host_pauses: this machine does not allow real-time priority; pauses are not watched")
    with open(path, "w", buffering=1) as out:
        last = time.monotonic()
        while True:
            time.sleep(TICK)
            now = time.monotonic()
            if now - last > PAUSE:
                out.write(json.dumps([last + TICK, now]) + "\n")
            last = time.monotonic()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
