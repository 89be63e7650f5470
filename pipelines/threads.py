"""How many native threads a process may start: one a library, because the cores belong to the calls."""

import logging
import os
import sys

LIMITS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # Idle OpenBLAS and OpenMP workers spin on the core that the event loop needs (70 ms of CPU a Whisper call).
    "OMP_WAIT_POLICY": "passive",
}
log = logging.getLogger(__name__)


def limit_threads() -> None:
    """Set what the environment leaves open; the libraries read it when numpy is first imported, and never again.

    Too late is a warning, never an error: calls work, but share their cores with more threads.
    """
    late = [name for name in LIMITS if name not in os.environ] if "numpy" in sys.modules else []
    for name, value in LIMITS.items():
        os.environ.setdefault(name, value)
    if late:
        log.warning(
            "numpy was imported before pipelines, so that its threads are not limited to one a library: "
            "import Agent from pipelines first, or set %s.",
            " and ".join(f"{name}={LIMITS[name]}" for name in late),
        )
