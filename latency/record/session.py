"""One recorded conversation of a run: how it was paced, played and recorded, and what the server cost meanwhile."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

LATE_SHARE_ALLOWED = 0.02
CLOCK_DRIFT_ALLOWED = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """How faithfully the user's audio was sent in real time."""

    frames: int
    late_over_20ms: int
    """Frames sent more than 20 ms after their time."""
    late_max_ms: float | None = None
    clock_ratio: float | None = None
    """Seconds of the clock that passed per second of audio sent."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int | float) and not (value is None and item.default is None):
                raise TypeError(f"pacing.{item.name} is {value!r}, not a number")

    @property
    def complaint(self) -> str | None:
        """Why latencies measured under this pacing cannot be trusted, in one sentence; None when they can."""
        if self.frames and self.late_over_20ms / self.frames > LATE_SHARE_ALLOWED:
            late, allowed = self.late_over_20ms / self.frames * 100, LATE_SHARE_ALLOWED * 100
            return f"{late:.1f} % of the audio frames left more than 20 ms late ({allowed:g} % is allowed)"
        drift = 0.0 if self.clock_ratio is None else self.clock_ratio - 1
        # By less than a frame: in a short call, one that left a little late would look like drift.
        if abs(drift) > CLOCK_DRIFT_ALLOWED and abs(drift) * self.frames > 1:
            pace = "slow" if drift > 0 else "fast"
            return f"audio was sent {abs(drift) * 100:.2f} % too {pace} ({CLOCK_DRIFT_ALLOWED * 100:g} % is allowed)"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An entry of run.json's `sessions`; times are seconds on the recording's clock."""

    name: str
    scenario: str = ""
    wav: str | None = None
    """File name of the stereo recording inside the run folder; None when there is none."""
    seconds: float | None = None
    cold: bool = False
    fixtures: Mapping[str, str] = field(default_factory=dict)
    """Checksum of each recording that was played."""
    clock: Mapping[str, float] | None = None
    """offset (server minus client, s), rtt (s) and pings; None when the server did not answer."""
    pacing: Pacing | None = None
    playout: Mapping[str, float] | None = None
    underruns: tuple[tuple[float, float], ...] = ()
    """When the loudspeaker ran dry in the middle of an utterance, (start, end)."""
    flushes: tuple[float, ...] = ()
    """When an interruption emptied the loudspeaker."""
    server: Mapping[str, float] | None = None
    """cpu_cores and rss_mb of the server during the session; None when nobody looked."""
    never_sent: int | None = None
    """Turns of the fixture that were not played, because the session ended before."""
    closed: str | None = None
    """Why the session ended early."""

    def to_json(self) -> dict[str, Any]:
        """The entry of run.json."""
        return asdict(self)

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Session":
        """Read an entry of run.json; keys of later versions are passed over.

        Raises:
            KeyError, TypeError, ValueError: The entry is not a session.
        """
        values = {item.name: entry[item.name] for item in fields(cls) if item.name in entry}
        for key in ("server", "clock", "playout"):
            if any(not isinstance(value, int | float | None) for value in (entry.get(key) or {}).values()):
                raise TypeError(f"{key} holds {entry[key]!r}, not numbers")
        values["underruns"] = tuple((float(a), float(b)) for a, b in entry.get("underruns") or ())
        values["flushes"] = tuple(float(t) for t in entry.get("flushes") or ())
        if entry.get("pacing") is not None:
            known = {item.name for item in fields(Pacing)}
            values["pacing"] = Pacing(**{key: value for key, value in entry["pacing"].items() if key in known})
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class PacingFigures:
    """Whether the user's audio was sent in real time in all sessions; `ok` is None when nobody looked."""

    ok: bool | None
    frames: int
    late_over_20ms: int
    late_max_ms: float | None
    clock_ratio: float | None
    """That of the worst session."""
    complaints: tuple[str, ...]

    @classmethod
    def of(cls, sessions: Iterable[Session]) -> "PacingFigures":
        """Sum up the sessions; one that was paced badly spoils the whole."""
        known = [(session.name, session.pacing) for session in sessions if session.pacing is not None]
        ratios = [pacing.clock_ratio for _, pacing in known if pacing.clock_ratio is not None]
        latest = [pacing.late_max_ms for _, pacing in known if pacing.late_max_ms is not None]
        complaints = tuple(f"session {name!r}: {pacing.complaint}" for name, pacing in known if pacing.complaint)
        return cls(
            ok=not complaints if known else None,
            frames=sum(pacing.frames for _, pacing in known),
            late_over_20ms=sum(pacing.late_over_20ms for _, pacing in known),
            late_max_ms=max(latest, default=None),
            clock_ratio=max(ratios, key=lambda ratio: abs(ratio - 1), default=None),
            complaints=complaints,
        )
