"""When the machine itself stood still: host_pauses.py CPU FILE, until it is terminated.

The host of a virtual machine stops its processors now and then, for 10 ms and more, and the clocks of the threads that
run there go on. A ticker of its own processor and above all other programs runs late only then. Linux, as root.
"""

import json
import os
import sys
import time

TICK = 0.002
PAUSE = 0.004
"""Seconds between two ticks that are a pause."""


def main(cpu: int, path: str) -> None:
    """Write the beginning and end of each pause, in seconds on the monotonic clock."""
    os.sched_setaffinity(0, {cpu})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        sys.exit("host_pauses: this machine lets nobody run above other programs; pauses are not watched")
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
