"""The one place where the 800 ms of a turn are shared out, and the deadline that follows from a share."""

from dataclasses import dataclass, fields

LLM_NORMAL = (0.4, 0.5)
"""Seconds; an LLM budget outside this range is allowed and warned about."""

LLM_ALLOWED = (0.1, 5.0)
"""Seconds; an LLM budget outside this range is refused."""


class BudgetError(ValueError):
    """Shares that do not add up, or an LLM budget that no conversation could use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Median shares of a turn, seconds, from the true end of the user's speech to the first audible bot sample.

    Raises:
        BudgetError: A share is not positive, the shares do not add up to `total`, or `llm` is outside `LLM_ALLOWED`.
    """

    total: float = 0.8
    endpointing: float = 0.2
    """Silence that has to be heard before the turn is declared over."""
    transcription: float = 0.02
    """What the recogniser needs beyond endpointing."""
    llm: float = 0.45
    """From the committed turn to the first speakable clause."""
    synthesis: float = 0.06
    transport: float = 0.07
    """Socket, jitter buffer and loudspeaker."""

    def __post_init__(self) -> None:
        low, high = LLM_ALLOWED
        if not low <= self.llm <= high:
            raise BudgetError(
                f"an LLM budget of {_ms(self.llm)} is outside {_ms(low)} to {_ms(high)}; "
                f"{_ms(LLM_NORMAL[0])} to {_ms(LLM_NORMAL[1])} is what a conversation needs"
            )
        shares = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "total"}
        if wrong := [name for name, share in shares.items() if not share > 0]:
            raise BudgetError(f"the share of {wrong[0]} must be above 0 ms, not {_ms(shares[wrong[0]])}")
        if abs(sum(shares.values()) - self.total) > 1e-6:
            parts = " + ".join(f"{name} {_ms(share)}" for name, share in shares.items())
            raise BudgetError(f"{parts} make {_ms(sum(shares.values()))}, not the total of {_ms(self.total)}")

    @classmethod
    def with_llm(cls, llm: float) -> "Budget":
        """The usual shares with another LLM budget (seconds); the total grows or shrinks by the difference."""
        usual = cls()
        return cls(llm=llm, total=usual.total - usual.llm + llm)

    @property
    def warning(self) -> str | None:
        """One sentence when the LLM budget is unusual, else None."""
        low, high = LLM_NORMAL
        if low <= self.llm <= high:
            return None
        return (
            f"an LLM budget of {_ms(self.llm)} is outside {_ms(low)} to {_ms(high)}: "
            f"the shares of a turn add up to {_ms(self.total)}"
        )


@dataclass(frozen=True, slots=True)
class Deadline:
    """An instant by which something has to be there; seconds on the clock that `now` is read from."""

    at: float

    def remaining(self, now: float) -> float:
        """Seconds left at `now`, 0 when none are."""
        return max(0.0, self.at - now)

    def expired(self, now: float) -> bool:
        """Whether `now` has reached it."""
        return now >= self.at


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:g} ms"
