"""Changes a call's policy, tier or speed at the request of its client, a key or a tool; keeps context and tools."""

import logging
from collections.abc import Sequence
from typing import Literal

from voice.errors import ConfigurationError
from voice.language import NAMES, Language
from voice.llm import ENGLISH_ONLY
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.make import DRAFTED, POLICIES, make_policy
from voice.llm.policy.policies import Policy, Single
from voice.llm.tools import Tool
from voice.wire.requests import SwapRequest, SwapState

log = logging.getLogger(__name__)


class TierSwap:
    """Carries out requests for another policy or tier in one call.

    Args:
        service: the service that answers in the call.
        tiers: the names of its tiers.
        large: the tier in the policies' large role; None without one.
        fast: the tier in their fast role; None without one.
        bridge: whether policies made here say filler phrases.
        best_of: the number of candidates for policies made here that use them.
        language: that of the call.
    """

    def __init__(
        self,
        service: BudgetedLLMService,
        *,
        tiers: Sequence[str],
        large: str | None,
        fast: str | None,
        bridge: bool = True,
        best_of: int | None = None,
        language: Language = "en",
    ) -> None:
        self._service = service
        self._bridge, self._best_of, self._language = bridge, best_of, language
        self.large, self.fast = large, fast
        self.tiers = tuple(tiers)
        self.first = service.planner.policy
        """The policy that the call began with."""

    @property
    def policies(self) -> tuple[str, ...]:
        """Names of the policies that these tiers can fill."""
        return tuple(name for name in POLICIES if self._suits(name) and self._makes(name))

    @property
    def state(self) -> SwapState:
        """The settings from the next turn on, and the alternatives."""
        policy = self._service.planner.policy
        tier = policy.tiers[0] if len(policy.tiers) == 1 else None
        return SwapState(
            policy=policy.name,
            tier=tier,
            tiers=self.tiers,
            policies=self.policies,
            speed=self._service.tiers[self.large or self.tiers[0]].speed,
            overridden=self._service.planner.overridden,
        )

    def carry_out(self, request: SwapRequest) -> SwapState:
        """Swap as requested and return the new `state`.

        Raises:
            ConfigurationError: there is no such policy, tier or speed in this call.
        """
        if request.speed is not None:
            self._use_speed(request.speed)
        elif request.tier is not None:
            self.use(self._alone(request.tier))
        elif request.policy is not None:
            if not self._suits(request.policy):
                raise ConfigurationError(
                    f"The policy {request.policy} judges drafts and openings by English words, and this call is in "
                    f"{NAMES[self._language]}; use one of {', '.join(self.policies)}."
                )
            self.use(self._make(request.policy))
        return self.state

    def use(self, policy: Policy) -> None:
        """Follow `policy` from the next turn on."""
        before = self._service.planner.policy
        self._service.planner.use(policy)
        log.info("from the next turn on %s, until now %s", _described(policy), _described(before))

    def _use_speed(self, speed: str) -> None:
        tier = self._service.tiers[self.large or self.tiers[0]]
        if speed not in ("fast", "standard"):
            raise ConfigurationError(f'There is no speed "{speed}"; there is fast and standard.')
        if tier.speed is None:
            raise ConfigurationError(
                f'The tier "{tier.name}" is not known to have a fast speed; if it has one, give its price in the '
                "pipeline: speeds = { fast = 2 }."
            )
        tier.use_speed(speed)
        log.info("from the next turn on the tier %s is asked for the %s speed", tier.name, speed)

    def _make(self, name: str) -> Policy:
        best_of = self._best_of if name in DRAFTED else None
        return make_policy(name, large=self.large, fast=self.fast, bridge=self._bridge, best_of=best_of)

    def _suits(self, name: str) -> bool:
        return self._language == "en" or name not in ENGLISH_ONLY

    def _makes(self, name: str) -> bool:
        try:
            self._make(name)
        except ConfigurationError:
            return False
        return True

    def _alone(self, tier: str) -> Policy:
        if tier not in self.tiers:
            raise ConfigurationError(f'There is no tier "{tier}" in this call; there is {" and ".join(self.tiers)}.')
        return Single(tier=tier, bridge=self._bridge)


def _described(policy: Policy) -> str:
    return f"{policy.name} ({', '.join(policy.tiers)})"


def swap_tool(swap: TierSwap) -> Tool:
    """The tool by which a language model changes which tier answers; for calls with both a large and a fast tier.

    Raises:
        ConfigurationError: the call has no large or no fast tier.
    """
    large, fast = swap.large, swap.fast
    if large is None or fast is None:
        raise ConfigurationError(
            f"There is only the tier {swap.tiers[0]}, so a tool could take no other."
            if len(swap.tiers) == 1
            else "A tool changes between the tiers in the roles large and fast, and this call has not both."
        )

    async def change_thinking(effort: Literal["think_harder", "be_quick", "usual"]) -> str:
        """Change how your next answers are made, when the user asks you to think harder, to be quicker, or as before.

        "think_harder": the larger, slower model answers; "be_quick": the smaller, faster one; "usual": as in the
        beginning. Never call it unless the user asks for it.
        """
        match effort:
            case "think_harder":
                swap.carry_out(SwapRequest(tier=large))
            case "be_quick":
                swap.carry_out(SwapRequest(tier=fast))
            case "usual":
                swap.use(swap.first)
        if why := swap.state.overridden:
            return f"It has no effect for now: {why}. Say so in a few words."
        return f"Done: {effort} from the next answer on. Confirm it in a few words."

    return change_thinking
