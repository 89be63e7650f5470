"""Policies and tiers are changed while a call goes on, and what cannot be is refused in one sentence."""

import re
from typing import Any

import pytest
from pipecat.frames.frames import FunctionCallResultProperties
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.llm_service import FunctionCallParams

from latency.record.requests import Price
from tests.voice.llm.answer import budgeted_rig as rig
from voice.errors import ConfigurationError
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.make import POLICIES, make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.swap import TierSwap, swap_tool
from voice.llm.tiers.tier import Tier
from voice.llm.tools import describe
from voice.responder.service import ResponderLLMService
from voice.wire.requests import SwapRequest, SwapState

BOTH = ("large", "fast")


def roles(tiers: tuple[str, ...]) -> dict[str, str | None]:
    """The tiers of these names in the roles of the same name."""
    return {role: role if role in tiers else None for role in BOTH}


def service(*tiers: str, policy: str = "adaptive", bridge: bool = False) -> BudgetedLLMService:
    """The budgeted service over a responder in each tier."""
    chosen = make_policy(policy, **roles(tiers), bridge=bridge)
    return rig.budgeted(
        [Tier(name, ResponderLLMService()) for name in tiers], chosen, book=TierStatistics(dict.fromkeys(tiers, 0.3))
    )


def swap_of(*tiers: str, policy: str = "adaptive", bridge: bool = False) -> TierSwap:
    return TierSwap(service(*tiers, policy=policy, bridge=bridge), tiers=tiers, **roles(tiers), bridge=bridge)


@pytest.mark.parametrize(
    ("request_", "policy", "tier"),
    [
        (SwapRequest(), "adaptive", None),
        (SwapRequest(policy="race"), "race", None),
        (SwapRequest(policy="fallback"), "fallback", None),
        (SwapRequest(policy="single"), "single", "large"),
        (SwapRequest(policy="hedged"), "hedged", "large"),
        (SwapRequest(tier="fast"), "single", "fast"),
        (SwapRequest(tier="large"), "single", "large"),
    ],
)
def test_a_request_is_carried_out_and_answered_with_what_is_in_force(
    request_: SwapRequest, policy: str, tier: str | None
) -> None:
    swap = swap_of(*BOTH)
    state = swap.carry_out(request_)
    assert state == SwapState(policy=policy, tier=tier, tiers=BOTH, policies=tuple(POLICIES))
    assert swap.carry_out(SwapRequest()) == state


def test_a_call_with_one_tier_names_the_policies_it_can_follow() -> None:
    state = swap_of("fast", policy="single").state
    assert state == SwapState(policy="single", tier="fast", tiers=("fast",), policies=("single", "hedged"))


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (
            SwapRequest(policy="best"),
            'There is no policy "best"; use one of single, hedged, fallback, race, routed, relay, adaptive, best_of, '
            "draft_verify.",
        ),
        (SwapRequest(tier="huge"), 'There is no tier "huge" in this call; there is large and fast.'),
    ],
)
def test_a_wrong_request_is_refused_in_one_sentence_and_changes_nothing(request_: SwapRequest, sentence: str) -> None:
    swap = swap_of(*BOTH)
    with pytest.raises(ConfigurationError, match="^" + re.escape(sentence)) as refused:
        swap.carry_out(request_)
    assert len(re.findall(r"[.!?](\s|$)", str(refused.value))) == 1
    assert swap.state.policy == "adaptive"


@pytest.mark.parametrize("policy", ["fallback", "race", "adaptive"])
def test_a_policy_of_two_tiers_is_refused_where_there_is_one(policy: str) -> None:
    swap = swap_of("large", policy="single")
    with pytest.raises(ConfigurationError, match=f"The policy {policy} needs two tiers"):
        swap.carry_out(SwapRequest(policy=policy))
    assert swap.state.policy == "single"


@pytest.mark.parametrize("bridge", [True, False])
@pytest.mark.parametrize("request_", [SwapRequest(policy="race"), SwapRequest(tier="fast")])
def test_whether_phrases_bridge_stays_as_it_was(request_: SwapRequest, bridge: bool) -> None:
    answering = service(*BOTH, bridge=bridge)
    TierSwap(answering, tiers=BOTH, **roles(BOTH), bridge=bridge).carry_out(request_)
    assert answering.planner.policy.plan(TierStatistics(dict.fromkeys(BOTH, 0.3))).bridge is bridge


def test_a_model_is_offered_the_tool_with_its_three_efforts() -> None:
    schema = describe(swap_tool(swap_of(*BOTH)))
    assert schema.name == "change_thinking"
    assert schema.properties["effort"]["enum"] == ["think_harder", "be_quick", "usual"]
    assert schema.required == ["effort"]
    assert "unless the user asks" in schema.description


async def test_the_tool_changes_the_tier_of_its_own_call_and_back() -> None:
    mine, other = swap_of(*BOTH, policy="race"), swap_of(*BOTH, policy="race")
    handler = describe(swap_tool(mine)).handler
    assert handler is not None
    told = []

    async def note(result: Any, *, properties: FunctionCallResultProperties | None = None) -> None:
        told.append(result)

    async def call(effort: str) -> SwapState:
        await handler(
            FunctionCallParams(
                function_name="change_thinking",
                tool_call_id="1",
                arguments={"effort": effort},
                llm=ResponderLLMService(),
                pipeline_worker=None,
                context=LLMContext(),
                result_callback=note,
            )
        )
        return mine.state

    assert (await call("be_quick")).tier == "fast"
    assert (await call("think_harder")).tier == "large"
    assert (await call("usual")).policy == "race"
    assert (await call("harder")).policy == "race"
    assert other.state.policy == "race"
    assert [text[:4] for text in told[:3]] == ["Done", "Done", "Done"]
    assert told[3]["error"].startswith("The argument effort does not fit")


async def test_tiers_of_any_name_play_the_roles_of_the_policies() -> None:
    names = ("opus", "groq", "haiku")
    chosen = make_policy("adaptive", large="opus", fast="groq", bridge=False)
    book = TierStatistics(dict.fromkeys(names, 0.3))
    answering = rig.budgeted([Tier(name, ResponderLLMService()) for name in names], chosen, book=book)
    swap = TierSwap(answering, tiers=names, large="opus", fast="groq", bridge=False)
    assert swap.state == SwapState(policy="adaptive", tier=None, tiers=names, policies=tuple(POLICIES))
    assert chosen.plan(book).reason == "opus first"
    assert swap.carry_out(SwapRequest(tier="haiku")).tier == "haiku"
    assert swap.carry_out(SwapRequest(policy="single")).tier == "opus"
    await swap_tool(swap)("be_quick")
    assert swap.state.tier == "groq"


def test_there_is_no_tool_where_there_is_one_tier() -> None:
    with pytest.raises(ConfigurationError, match="only the tier large"):
        swap_tool(swap_of("large", policy="single"))


class _TwoSpeeds(ResponderLLMService):
    """A model with a fast speed."""

    speed: str | None = None

    def use_speed(self, speed: str | None) -> None:
        self.speed = speed


def test_the_large_tier_is_asked_for_its_fast_speed_and_for_the_usual_one_again() -> None:
    price = Price(input=1.0, output=2.0, speeds={"priority": 2.0})
    tiers = [Tier("large", _TwoSpeeds(), spare=_TwoSpeeds(), price=price), Tier("fast", ResponderLLMService())]
    chosen = make_policy("adaptive", **roles(BOTH), bridge=False)
    answering = rig.budgeted(tiers, chosen, book=TierStatistics(dict.fromkeys(BOTH, 0.3)))
    swap = TierSwap(answering, tiers=BOTH, **roles(BOTH), bridge=False)
    assert swap.state.speed == "standard"
    assert swap.carry_out(SwapRequest(speed="fast")).speed == "fast"
    assert [one.speed for one in tiers[0].services] == ["priority", "priority"], "its provider's name"
    assert swap.carry_out(SwapRequest(speed="standard")).speed == "standard"
    assert [one.speed for one in tiers[0].services] == [None, None]
    with pytest.raises(ConfigurationError, match='There is no speed "warp"; there is fast and standard.'):
        swap.carry_out(SwapRequest(speed="warp"))


def test_a_tier_without_a_known_fast_speed_says_how_to_make_it_known() -> None:
    swap = swap_of(*BOTH)
    assert swap.state.speed is None
    with pytest.raises(ConfigurationError, match="not known to have a fast speed; if it has one, give its price"):
        swap.carry_out(SwapRequest(speed="fast"))


def test_a_german_call_has_no_policy_that_judges_english_words() -> None:
    swap = TierSwap(service(*BOTH), tiers=BOTH, **roles(BOTH), language="de")
    assert not {"relay", "best_of", "draft_verify"} & set(swap.policies)
    assert {"single", "fallback", "adaptive"} <= set(swap.policies)
    with pytest.raises(ConfigurationError, match=r"relay judges .* English words, and this call is in German; use one"):
        swap.carry_out(SwapRequest(policy="relay"))
