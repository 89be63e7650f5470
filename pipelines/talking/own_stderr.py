"""Keeps what C libraries write on standard error off the screen, while Python's own output still gets there."""

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def own_stderr() -> Iterator[None]:
    """PortAudio and ALSA write there in the middle of what is shown, also from threads; they report errors besides.

    Processes that were started before keep their standard error.
    """
    sys.stderr.flush()
    before, kept = sys.stderr, os.dup(2)
    with open(kept, "w", encoding=getattr(before, "encoding", None) or "utf-8", errors="replace", buffering=1) as ours:  # noqa: PTH123
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        sys.stderr = ours
        try:
            yield
        finally:
            sys.stderr = before
            ours.flush()
            os.dup2(kept, 2)
