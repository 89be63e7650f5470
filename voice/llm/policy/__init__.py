"""Decides which tier is asked, spoken and cancelled, and when. Pure: no I/O, no clock."""

from voice.llm.policy.make import POLICIES, make_policy
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import (
    Adaptive,
    BestOf,
    Fallback,
    FastFirst,
    Hedged,
    Policy,
    Race,
    Relay,
    Routed,
    Single,
)
from voice.llm.policy.situation import ANY_TURN, Decision, Outcome, RequestState, Situation, Start, TurnInfo

__all__ = [
    "ANY_TURN",
    "POLICIES",
    "Adaptive",
    "BestOf",
    "Decision",
    "Fallback",
    "FastFirst",
    "Hedged",
    "Outcome",
    "Plan",
    "Policy",
    "Race",
    "Relay",
    "RequestState",
    "Routed",
    "Single",
    "Situation",
    "Start",
    "TurnInfo",
    "make_policy",
]
