"""Limits native threads to one per library, so that the cores remain free for calls."""

import logging
import os
import sys

THREAD_LIMITS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # Idle OpenBLAS and OpenMP workers spin on the core that the event loop needs (70 ms of CPU per Whisper call).
    "OMP_WAIT_POLICY": "passive",
}
log = logging.getLogger(__name__)


def limit_threads() -> None:
    """Set the limits that the environment does not set; the libraries read them when numpy is first imported.

    If numpy is already imported, a warning is logged: calls work, but share their cores with more threads.
    """
    late = [name for name in THREAD_LIMITS if name not in os.environ] if "numpy" in sys.modules else []
    for name, value in THREAD_LIMITS.items():
        os.environ.setdefault(name, value)
    if late:
        log.warning(
            "numpy was imported before pipelines, so native threads are not limited to one per library: "
            "import Agent from pipelines first, or set %s.",
            " and ".join(f"{name}={THREAD_LIMITS[name]}" for name in late),
        )
