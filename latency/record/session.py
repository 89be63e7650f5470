"""One recorded conversation of a run: its pacing, playout and recording, and the server's load."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from latency.budget import CARD_DRIFT_ALLOWED, CLOCK_DRIFT_ALLOWED, LATE_SHARE_ALLOWED
from latency.record.marks import Count, Instant, Milliseconds, Number, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """The pacing of the user's audio in real time."""

    frames: Count
    late_over_20ms: Count
    """Frames sent more than 20 ms after their time."""
    late_max_ms: Milliseconds | None = None
    clock_ratio: Number | None = None
    """Clock seconds per second of audio sent: 1.0 is real time. None for fewer than two frames."""
    on_card: bool = False
    """Whether a sound card paced it, whose drift is corrected."""

    @property
    def complaint(self) -> str | None:
        """Why latencies under this pacing cannot be trusted, in one sentence; None when they can."""
        if self.frames and self.late_over_20ms / self.frames > LATE_SHARE_ALLOWED:
            late, allowed = self.late_over_20ms / self.frames * 100, LATE_SHARE_ALLOWED * 100
            # A rounded figure must not look like the limit that it exceeds.
            shown = next(text for digits in (1, 2, 3, 17) if float(text := f"{late:.{digits}f}") > allowed)
            return f"{shown} % of the audio frames left more than 20 ms late ({allowed:g} % is allowed)"
        drift = 0.0 if self.clock_ratio is None else self.clock_ratio - 1
        # Less than a frame does not count: in a short call, one frame that left a little late would look like drift.
        allowed = CARD_DRIFT_ALLOWED if self.on_card else CLOCK_DRIFT_ALLOWED
        if abs(drift) > allowed and abs(drift) * self.frames > 1:
            pace = "slow" if drift > 0 else "fast"
            return f"audio was sent {abs(drift) * 100:.2f} % too {pace} ({allowed * 100:g} % is allowed)"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockAlignment:
    """The server's clock minus the client's, by the ping with the shortest round trip."""

    offset: Seconds
    rtt: Seconds
    """Round trip of that ping; half of it bounds the error."""
    pings: Count
    """The number of pings."""

    def to_client(self, server_time: float) -> float:
        """Convert an instant from the server's clock to the client's, seconds."""
        return server_time - self.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutSummary:
    """The playout at the client's loudspeaker."""

    jitter_ms: Milliseconds | None = None
    """Length of the jitter buffer."""
    underruns: Count | None = None
    rate: Count | None = None
    """Hertz of the bot's audio; None when none came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLoad:
    """Resources of the server's process during a session."""

    cpu_cores: Number | None = None
    """CPU seconds per second."""
    rss_mb: Number | None = None
    """Resident memory of its processes at the end, MB; shared memory counts once on Linux, elsewhere for each."""
    rss_peak_mb: Number | None = None
    """The most resident memory observed, MB; None if observed only at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """One fault that `voice replay --chaos` injected into the call."""

    turn: Count
    """The session's turn that was being played, or was played last."""
    at: Instant
    what: str
    """The fault as a clause: "sim:sonnet never answers"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation; instants are on the recording's clock."""

    name: str
    scenario: str = ""
    wav: str | None = None
    """File name of the stereo recording inside the run folder; None when there is none."""
    seconds: Seconds | None = None
    """Length of the recording."""
    cold: bool = False
    """Whether the server had no call before."""
    fixtures: Mapping[str, str | None] = field(default_factory=dict)
    """Checksum of each recording that was played, by its name."""
    clock: ClockAlignment | None = None
    """None when the server answered no ping."""
    pacing: Pacing | None = None
    playout: PlayoutSummary | None = None
    underruns: tuple[tuple[Instant, Instant], ...] = ()
    """When the loudspeaker ran dry in the middle of an utterance, (start, end)."""
    flushes: tuple[Instant, ...] = ()
    """When an interruption emptied the loudspeaker."""
    silence_asked: tuple[Instant, ...] = ()
    """When the user silenced the agent by a key: an interruption that has a cause."""
    ducked: tuple[tuple[Instant, Instant], ...] = ()
    """When the loudspeaker was softer because the user might be interrupting, (start, end)."""
    outages: tuple[tuple[Instant, Instant], ...] = ()
    """When the client had no connection, (start, end); the call went on after each but perhaps the last."""
    away: tuple[tuple[Instant, Instant], ...] = ()
    """When the client had no sound card, (start, end): nothing was heard or played, but the recording goes on."""
    injected: tuple[InjectedFault, ...] = ()
    """Faults that were injected into the call, in order."""
    self_interruptions: Count | None = None
    """Turns that the agent's own voice began; None from a server that does not report them."""
    server: ServerLoad | None = None
    """None when the server was not observed."""
    never_sent: Count | None = None
    """Turns of the fixture that were not played, because the session ended before."""
    closed: str | None = None
    """Why the session ended early."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSession(Session):
    """A session as run.json lists it, with its files."""

    turns: Count | None = None
    """The number of the session's turns in turns.jsonl."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """The path of each recording of `fixtures`, by its name."""
