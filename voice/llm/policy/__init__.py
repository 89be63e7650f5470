"""Decides which tier is asked, spoken and cancelled, and when. Pure: no I/O, no clock."""

from voice.llm.policy.adaptive import Adaptive
from voice.llm.policy.best_of import BestOf, FastFirst
from voice.llm.policy.make import POLICIES, make_policy
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Fallback, Hedged, Policy, Race, Single
from voice.llm.policy.routed import Relay, Routed
from voice.llm.policy.situation import Decision, Outcome, RequestState, Situation, Start
from voice.llm.policy.turn_info import TurnInfo

__all__ = [
    "POLICIES",
    "Adaptive",
    "RequestState",
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
    "TurnInfo",
    "Routed",
    "Single",
    "Situation",
    "Start",
    "make_policy",
]
