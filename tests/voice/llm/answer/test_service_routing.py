"""Turns of the budgeted service that are routed by their words, opened, and escalated; real services and sockets."""

from collections.abc import Callable
from typing import Any

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import FunctionCallResultFrame, LLMTextFrame

from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import HoldPhraseFrame
from voice.language.english.phrases import ENGLISH
from voice.llm.answer.conversation import FOLLOW, OPEN
from voice.llm.policy.make import make_policy
from voice.llm.policy.policies import Policy
from voice.llm.tools import describe, irreversible, is_irreversible

PAIR = {"large": "large", "fast": "fast"}


def closing(ran: list[str]) -> Callable[..., Any]:
    @irreversible
    async def close_account() -> str:
        """Close the caller's account for good."""
        ran.append("ran")
        return "closed"

    assert is_irreversible(close_account)
    return close_account


@pytest.mark.parametrize(
    "policy",
    [
        *(make_policy(name, **PAIR) for name in ("fallback", "race", "routed", "adaptive", "relay")),
        make_policy("single", large=None, fast="fast"),
        make_policy("hedged", large=None, fast="fast"),
    ],
    ids=lambda policy: policy.name,
)
@pytest.mark.parametrize("text", ["hello", "why is the sky blue", "close my account"])
async def test_an_irreversible_tool_never_runs_on_the_fast_tier(policy: Policy, text: str) -> None:
    ran: list[str] = []
    tools = ToolsSchema(standard_tools=[describe(closing(ran))])
    async with rig.serving(rig.large(wait=0.2)) as slow, rig.serving(rig.fast(tool="close_account")) as quick:
        call = rig.make_call(policy, slow, quick, budget=rig.PATIENT, irreversible=["close_account"])
        down = await call.run([rig.ask(text, tools=tools), lambda: call.records])
    assert ran == []
    assert rig.said(down) == slow.text
    by_tier = {attempt.tier: attempt for attempt in call.records[0].attempts if not attempt.opens}
    assert by_tier["large"].outcome == "spoken"
    if "fast" in by_tier and by_tier["fast"].outcome == "failed":
        assert "close_account, which cannot be undone" in (by_tier["fast"].failed or "")


async def test_the_large_tier_may_run_it_and_keeps_the_turn() -> None:
    ran: list[str] = []
    tools = ToolsSchema(standard_tools=[describe(closing(ran))])
    async with rig.serving(rig.large(tool="close_account")) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("routed", slow, quick, budget=rig.PATIENT, irreversible=["close_account"])
        steps = [rig.ask("close my account", tools=tools), lambda: call.pushed_of(FunctionCallResultFrame)]
        await call.run(steps)
    assert ran == ["ran"]
    assert call.records[0].answer.reason == "a question of money goes to large"


async def test_both_tiers_are_given_the_same_words_and_the_reason_is_recorded() -> None:
    async with rig.serving(rig.large()) as slow, rig.serving(rig.fast()) as quick:
        call = rig.make_call("routed", slow, quick, budget=rig.PATIENT)
        down = await call.run([rig.ask("hello"), lambda: call.records, rig.ask("can I take two of these pills")])
    assert rig.said(down) == quick.text + slow.text
    assert [record.answer.reason for record in call.records] == [
        "small talk goes to fast",
        "a question of health goes to large",
    ]


async def relayed(opening: str, answer: str, text: str) -> tuple[rig.Call, list[str], list[dict[str, Any]]]:
    """A call with one turn; what was heard in order, and the messages that the large model was given."""
    async with (
        rig.serving(rig.Server(answer, wait=0.3)) as slow,
        rig.serving(rig.Server(opening)) as quick,
    ):
        call = rig.make_call("relay", slow, quick, budget=rig.PATIENT, p95=2.0)
        down = await call.run([rig.ask(text), lambda: call.records])
    assert quick.asked[0]["messages"][-1]["content"] == OPEN
    assert "tools" not in quick.asked[0]
    heard = [frame.text for frame in down if isinstance(frame, HoldPhraseFrame | LLMTextFrame)]
    return call, heard, slow.asked[0]["messages"]


async def test_an_opening_is_spoken_and_the_answer_goes_on_from_it() -> None:
    opening = "About your flight on Friday, let me work that out."
    call, heard, given = await relayed(opening, "It can be moved to Monday.", "can I move my flight on Friday")
    assert heard[0] == opening
    assert "".join(heard[1:]) == "It can be moved to Monday."
    assert [message["content"] for message in given[-2:]] == [opening, FOLLOW]
    (record,) = call.records
    assert [(attempt.tier, attempt.outcome) for attempt in record.attempts] == [("fast", "opened"), ("large", "spoken")]
    (phrase,) = record.answer.said
    assert (phrase.kind, phrase.tier, phrase.rejected, record.answer.repaired) == ("opening", "fast", None, None)


async def test_an_opening_that_claims_something_is_not_said_and_the_answer_follows_what_was() -> None:
    call, heard, given = await relayed("Yes, that is fine. Take two.", "No, one is enough.", "can I take two of these")
    assert heard[0] in ENGLISH.openings
    assert given[-2]["content"] == heard[0]
    assert "".join(heard[1:]) == "No, one is enough."
    (record,) = call.records
    assert record.attempts[0].outcome == "rejected"
    (phrase,) = record.answer.said
    assert phrase.tier is None
    assert phrase.rejected == "it does more than acknowledge, name the subject and announce work"


@pytest.mark.parametrize(
    ("answer", "spoken"),
    [
        ("Actually, you mean Friday. There are two.", "Actually, you mean Friday."),
        ("On Friday there are two flights.", "Actually, on Friday there are two flights."),
        ("There are two flights.", None),
    ],
)
async def test_an_answer_takes_its_opening_back_only_openly(answer: str, spoken: str | None) -> None:
    opening = "About Thursday, let me think."
    call, heard, _ = await relayed(opening, answer, "is there a flight on Thursday no wait on Friday")
    (record,) = call.records
    assert record.answer.repaired == spoken
    assert "".join(heard[1:]).startswith(spoken or answer)


@pytest.mark.parametrize("policy", ["fallback", "race", "adaptive"])
async def test_a_call_of_the_fast_tier_that_does_not_fit_is_left_to_the_large_one(policy: str) -> None:
    ran: list[str] = []

    async def order_status(number: str) -> str:
        """Where an order is, by its number."""
        ran.append(number)
        return "on its way"

    tools = ToolsSchema(standard_tools=[describe(order_status)])
    async with rig.serving(rig.large(wait=0.6)) as slow, rig.serving(rig.fast(tool="order_status")) as quick:
        call = rig.make_call(policy, slow, quick, irreversible=[], budget=rig.PATIENT)
        down = await call.run([rig.ask("hello", tools=tools), lambda: call.records])
    assert ran == []
    assert rig.said(down) == slow.text
    by_tier = {attempt.tier: attempt for attempt in call.records[0].attempts if not attempt.opens}
    assert by_tier["large"].outcome == "spoken"
    if "fast" in by_tier and by_tier["fast"].outcome == "failed":
        assert by_tier["fast"].failed == "it called a tool wrongly: the argument number is missing."
