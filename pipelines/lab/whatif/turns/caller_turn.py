"""A caller's turn as the pipeline took it: what a language model has no say in. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Discarded:
    """A speculative answer that was not used; instants in seconds after the true end of the caller's speech."""

    asked: float
    dropped: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerTurn:
    """One turn; instants in seconds after the true end of the caller's speech, durations in seconds."""

    commit: float
    """When the turn was taken for over."""
    asked: float
    """When its answer was requested: before the commit if it was speculative, else at it."""
    discarded: tuple[Discarded, ...] = ()
    """Earlier speculative answers, which were not used."""
    noticed: float | None = None
    """When the server thought that the speech had ended; None: it knew of no end, so the turn's total sets no limit."""
    hinted: float | None = None
    """When the server first knew so, from a short silence; None: from the commit on."""
    ahead: bool = True
    """Whether the first clause of a speculative answer is synthesised before the commit."""
    synthesis: float = 0.0
    """From a clause to its first sample."""
    release: float = 0.0
    """From the commit to the first sample of a clause that was synthesised before it."""
    playout: float = 0.0
    """From the first sample to the loudspeaker."""
    speech: float
    """How long the caller spoke."""
    question: str = ""
    """The caller's words; what they cost is their tokens."""
    answer: str
    """What is answered."""

    @property
    def lead(self) -> float:
        """How long before the commit its answer was requested."""
        return self.commit - self.asked
