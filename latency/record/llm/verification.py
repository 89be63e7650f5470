"""How the draft of an answer was verified, as the server reports it and a run folder keeps it."""

from dataclasses import dataclass
from typing import Literal

VerificationOutcome = Literal["verified", "replaced", "corrected", "unverified"]
"""The verifier agreed; a fault was found before any of the draft was spoken; one was found when its first sentence was
being spoken, and the answer went on from there; the draft was spoken without a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The review of a draft when it ended."""

    outcome: VerificationOutcome
    why: str = ""
    """What decided it; one clause."""
    fault: str | None = None
    """What is wrong with the draft, in the words of the verifier or of the rule; None when nothing was found."""
