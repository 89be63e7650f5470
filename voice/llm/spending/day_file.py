"""The file that keeps what was spent on a day, so that a restart does not forget it; processes share it."""

import fcntl
import json
import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

log = logging.getLogger(__name__)


def add_to_day(path: Path, day: date, usd: float) -> float:
    """Add an amount to a day's sum and return the sum; may wait for another process, so not for the event loop.

    The file is replaced as a whole, so that a reader never sees half of one. A damaged file is reported, and the day
    begins at nothing.

    Raises:
        OSError: the file cannot be read or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        total = _read(path, day) + usd
        written = path.with_suffix(".new")
        written.write_text(json.dumps({"day": day.isoformat(), "usd": total}) + "\n", encoding="utf-8")
        os.replace(written, path)
    return total


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    # The lock is on a file of its own: the other one is replaced.
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(path: Path, day: date) -> float:
    """The sum of the day; 0 when the file is about another day, or is not there."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        usd = float(content["usd"])
        if not math.isfinite(usd) or usd < 0:
            raise ValueError(f"its sum is {usd}")
        return usd if date.fromisoformat(content["day"]) == day else 0.0
    except FileNotFoundError:
        return 0.0
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        log.warning("%s is damaged (%s); what was spent today is counted anew", path, error)
        return 0.0
