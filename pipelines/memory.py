"""Memory that native code frees stays with the process, instead of going to the system and coming back page by page."""

import ctypes
import logging
import os

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Parameters of glibc's `mallopt` (malloc.h)."""
SETTINGS = {
    "MALLOC_MMAP_THRESHOLD_": (M_MMAP_THRESHOLD, 1 << 30),
    "MALLOC_TRIM_THRESHOLD_": (M_TRIM_THRESHOLD, (1 << 31) - 1),
    # The heaps of further arenas have 64 MB at most; what is larger would be mapped anew each time.
    "MALLOC_ARENA_MAX": (M_ARENA_MAX, 1),
}
log = logging.getLogger(__name__)


def keep_freed_memory() -> None:
    """Have glibc's allocator keep what is freed; nothing elsewhere, and nothing that the environment decides.

    A pass of Whisper over 30 s takes and frees blocks of 50 MB (tiny) to 200 MB (large). By default each comes from the
    system as empty pages: 53,000 page faults a pass of tiny, 105 of its 450 ms where this was measured, and giving them
    back interrupts the core on which the event loop runs. Threads that exist already keep arenas of their own.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return
    for name, (parameter, value) in SETTINGS.items():
        if name not in os.environ and not mallopt(parameter, value):
            log.info("the allocator does not know %s", name)
