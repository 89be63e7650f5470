"""The daily spending of all calls, kept in a file shared by processes."""

import asyncio
import fcntl
import json
import logging
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from voice.errors import ComponentError
from voice.llm.spending.ledger import DayLedger

log = logging.getLogger(__name__)


def utc_day() -> date:
    """Today in UTC, by which providers bill."""
    return datetime.now(UTC).date()


class DaySpending:
    """Adds up the cost of a day's calls; writes the file in a separate thread.

    Args:
        path: the file; see `add_to_day`.
        today: the current day.
    """

    def __init__(self, path: Path, *, today: Callable[[], date] = utc_day) -> None:
        self._path, self._today = path, today
        self._ledger = DayLedger()
        self._keeping: asyncio.Task[None] | None = None
        self._complained = False

    @property
    def usd(self) -> float:
        """Today's spending of all processes."""
        return self._ledger.usd(self._today())

    async def start(self) -> None:
        """Read earlier spending.

        Raises:
            ComponentError: the file can be neither read nor written, so no cap would hold.
        """
        try:
            await self._keep(self._today())
        except OSError as error:
            raise ComponentError(
                f"What was spent today cannot be kept in {self._path} ({error.strerror or error}), so "
                "llm.cap_usd_per_day would not hold; make the folder writable, or choose one with XDG_CACHE_HOME."
            ) from error

    def add(self, usd: float) -> None:
        """Add spending of a call; it is written to the file soon."""
        self._ledger.add(usd, self._today())
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep_all())

    async def close(self) -> None:
        """Write pending amounts."""
        if self._keeping is not None:
            await self._keeping
        await self._keep_all()

    async def _keep_all(self) -> None:
        day = self._today()
        while self._ledger.unstored(day):
            try:
                await self._keep(day)
            except OSError as error:
                # The sum is kept in memory, and tried again with the next amount.
                if not self._complained:
                    log.warning("what was spent today cannot be kept in %s: %s", self._path, error)
                self._complained = True
                return

    async def _keep(self, day: date) -> None:
        added = self._ledger.unstored(day)
        total = await asyncio.to_thread(add_to_day, self._path, day, added)
        self._ledger.stored(day, total=total, added=added)


def add_to_day(path: Path, day: date, usd: float) -> float:
    """Add an amount to a day's sum, and return the sum; may block on another process, so keep it off the event loop.

    The file is replaced as a whole, so that a reader never sees half of one. A damaged file is reported, and the day
    begins at zero.

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
    """The sum of the day; 0 if the file is missing or about another day."""
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
