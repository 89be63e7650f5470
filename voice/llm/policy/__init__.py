"""Decides which tier is asked, spoken and cancelled, and when. Pure: no I/O, no clock."""

from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import POLICIES, Adaptive, Fallback, Hedged, Policy, Race, Single, make_policy
from voice.llm.policy.situation import Attempt, Decision, Outcome, Situation, Start

__all__ = [
    "POLICIES",
    "Adaptive",
    "Attempt",
    "Decision",
    "Fallback",
    "Hedged",
    "Outcome",
    "Plan",
    "Policy",
    "Race",
    "Single",
    "Situation",
    "Start",
    "make_policy",
]
