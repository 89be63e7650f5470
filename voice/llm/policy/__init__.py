"""Decides which tier is asked, spoken and cancelled, and when. Pure: no I/O, no clock."""

from voice.llm.policy.adaptive import Adaptive
from voice.llm.policy.best_of import BestOf, FastFirst
from voice.llm.policy.make import POLICIES, make_policy
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Fallback, Hedged, Policy, Race, Single
from voice.llm.policy.request import Request
from voice.llm.policy.routed import Relay, Routed
from voice.llm.policy.situation import Attempt, Decision, Outcome, Situation, Start

__all__ = [
    "POLICIES",
    "Adaptive",
    "Attempt",
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
    "Request",
    "Routed",
    "Single",
    "Situation",
    "Start",
    "make_policy",
]
