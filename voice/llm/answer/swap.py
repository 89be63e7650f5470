"""Another policy or tier while a call goes on, asked for by its client, a key or a tool. Context and tools stay."""

import logging
from collections.abc import Sequence
from typing import Any, Literal, Protocol

from pipecat.processors.frameworks.rtvi import RTVIProcessor
from pipecat.processors.frameworks.rtvi.models import ClientMessage

from voice.errors import ConfigurationError
from voice.llm.policy import POLICIES, Policy, make_policy
from voice.llm.policy.policies import Single
from voice.llm.tools import Tool

MESSAGE = "llm"
"""Type of the client message that swaps or asks."""
NO_TIERS = "This pipeline answers without a language model, so there is no other one to take."

log = logging.getLogger(__name__)


class Swappable(Protocol):
    """What a swap acts on: a call's `BudgetedLLMService`."""

    @property
    def policy(self) -> Policy:
        """The policy of the next turn."""
        ...

    def use(self, policy: Policy) -> None:
        """Follow another one from the next turn on."""
        ...


class Swap:
    """Carries out requests for another policy or tier in one call.

    Args:
        service: what answers in the call.
        tiers: names of the tiers it has: "large", "fast" or both.
        bridge: whether a policy made here bridges with phrases.
    """

    def __init__(self, service: Swappable, *, tiers: Sequence[str], bridge: bool = True) -> None:
        self._service = service
        self._bridge = bridge
        self.tiers = tuple(tiers)
        self.first = service.policy
        """The policy that the call began with."""

    @property
    def policies(self) -> tuple[str, ...]:
        """Names of the policies that the tiers suffice for."""
        return tuple(name for name in POLICIES if self._makes(name))

    @property
    def state(self) -> dict[str, Any]:
        """What is in force from the next turn on, and what could be; JSON.

        `tier` is the only one that is asked, or null when the policy asks several.
        """
        policy = self._service.policy
        return {
            "policy": policy.name,
            "tier": policy.tiers[0] if len(policy.tiers) == 1 else None,
            "tiers": list(self.tiers),
            "policies": list(self.policies),
        }

    def carry_out(self, request: object) -> dict[str, Any]:
        """Swap as requested and return the new `state`.

        Args:
            request: `{"policy": name}`, `{"tier": name}` for that tier alone, or `{}` to change nothing.

        Raises:
            ConfigurationError: it is none of these, or there is no such policy or tier.
        """
        wanted = _checked(request)
        if "tier" in wanted:
            self.use(self._alone(wanted["tier"]))
        elif "policy" in wanted:
            self.use(self._make(wanted["policy"]))
        return self.state

    def use(self, policy: Policy) -> None:
        """Follow `policy` from the next turn on."""
        before = self._service.policy
        self._service.use(policy)
        log.info("from the next turn on %s, until now %s", _described(policy), _described(before))

    def _make(self, name: str) -> Policy:
        large, fast = ("large" if "large" in self.tiers else None), ("fast" if "fast" in self.tiers else None)
        return make_policy(name, large=large, fast=fast, bridge=self._bridge)

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


def _checked(request: object) -> dict[str, str]:
    """The request, if it has the form of one."""
    form = 'send {"policy": name}, {"tier": name}, or {} to ask what is in force'
    if not isinstance(request, dict):
        raise ConfigurationError(f"A swap must be a JSON object, not {type(request).__name__}; {form}.")
    if unknown := sorted(str(key) for key in request.keys() - {"policy", "tier"}):
        raise ConfigurationError(f'A swap has no "{unknown[0]}"; {form}.')
    if len(request) > 1:
        raise ConfigurationError(f"A swap names a policy or a tier, not both; {form}.")
    for key, name in request.items():
        if not isinstance(name, str):
            raise ConfigurationError(f"The {key} of a swap must be its name, not {type(name).__name__}; {form}.")
    return request


def _described(policy: Policy) -> str:
    return f"{policy.name} ({', '.join(policy.tiers)})"


def swap_tool(swap: Swap) -> Tool:
    """The tool by which a language model of this call takes another tier; for calls with both tiers.

    Raises:
        ConfigurationError: the call has one tier only.
    """
    if not {"large", "fast"} <= set(swap.tiers):
        raise ConfigurationError(f"There is only the tier {swap.tiers[0]}, so a tool could take no other.")

    def change_thinking(effort: Literal["think_harder", "be_quick", "usual"]) -> str:
        """Change how your next answers are made, when the user asks you to think harder, to be quicker, or as before.

        "think_harder": the larger, slower model answers; "be_quick": the smaller, faster one; "usual": as in the
        beginning. Never call it unless the user asks for it.
        """
        match effort:
            case "think_harder":
                swap.carry_out({"tier": "large"})
            case "be_quick":
                swap.carry_out({"tier": "fast"})
            case "usual":
                swap.use(swap.first)
            case _:
                # A model may send what the schema does not allow.
                return f'There is no effort "{effort}"; it is think_harder, be_quick or usual.'
        return f"Done: {effort} from the next answer on. Confirm it in a few words."

    return change_thinking


def answer_swaps(rtvi: RTVIProcessor, swap: Swap | None) -> None:
    """Carry out the swaps that a call's client asks for.

    Args:
        rtvi: the call's RTVI processor.
        swap: acts on the call's service; None where no language model answers, which each client is told.
    """

    @rtvi.event_handler("on_client_message")  # type: ignore[untyped-decorator]
    async def answer(processor: RTVIProcessor, message: ClientMessage) -> None:
        if message.type != MESSAGE:
            return
        try:
            if swap is None:
                raise ConfigurationError(NO_TIERS)
            state = swap.carry_out({} if message.data is None else message.data)
        except ConfigurationError as error:
            await processor.send_error_response(message, str(error))
        else:
            await processor.send_server_response(message, state)
