"""A load generator's observations besides the calls themselves, a file in their run folder.

Instants are seconds since the generator began.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from latency.record.json_form import TurnError, from_json, read_json, to_json
from latency.record.marks import Count, Number, Seconds
from latency.record.run import RunError

FILE = "load.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedCall:
    """A caller's attempt to call."""

    caller: Count
    """From 1 on."""
    session: str
    began: Seconds
    """The time of the first sample of its recording; of a refused call, the time of the attempt."""
    ended: Seconds
    refused: str | None = None
    """The server's reason not to take the call."""
    failed: str | None = None
    """Why the call could not begin, or ended early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSample:
    """The resources that the server had used at an instant."""

    at: Seconds
    calls: Count
    """Calls under way."""
    cpu_seconds: Number
    """Of its processes, since they began."""
    rss_mb: Number
    """Resident memory of its processes; shared memory counts once on Linux, elsewhere for each process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedLoad:
    """The calls of all callers and their cost."""

    schema: Count = SCHEMA
    callers: Count
    ramp: Seconds
    """The time in which the callers began, evenly."""
    seconds: Seconds
    """The time until the last call ended."""
    generator_cpu_seconds: Number
    """The processor time of the callers' process."""
    calls: tuple[PlacedCall, ...] = ()
    server: tuple[ServerSample, ...] = ()
    """Empty for a server whose processes cannot be observed."""

    def save(self, folder: Path) -> None:
        """Write it into the run folder.

        Raises:
            OSError: it cannot be written.
        """
        (folder / FILE).write_text(json.dumps(to_json(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "ObservedLoad | None":
        """Read it from a run folder; None if its calls were not a load test.

        Raises:
            RunError: the file is damaged or a newer version's.
        """
        path = folder / FILE
        try:
            found = from_json(cls, read_json(path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TurnError, RecursionError) as error:
            raise RunError(f"{path} cannot be read ({error}); delete it, or repeat the calls") from error
        if found.schema > SCHEMA:
            raise RunError(f"{path} was written by a newer version; upgrade with `pip install -U turnaround`")
        return found
