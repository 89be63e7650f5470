"""Drafts that are verified, over real sockets: spoken on, corrected openly, or given up for the large tier's answer."""

import asyncio
from typing import Any

import pytest

from latency.record.requests import Verification
from tests.voice.llm.answer import budgeted_rig as rig
from voice.llm.answer.conversation import CORRECT, VERIFY

RIGHT = "It is 12 dollars. That is for the two of you. Enjoy it."
WRONG = RIGHT.replace("12", "13")


class Verifier(rig.Server):
    """Gives verdicts and answers; counts both."""

    def __init__(self, verdict: str, text: str = "It is 12 dollars for two.", *, thinks: float = 0.02) -> None:
        super().__init__(text)
        self.verdict, self.thinks = verdict, thinks
        self.corrections = 0

    async def answer(self, writer: Any) -> bool:
        last = self.asked[-1]["messages"][-1]["content"]
        answering = rig.Server(self.text, asked=self.asked)
        if last == VERIFY:
            answering = rig.Server(self.verdict, asked=self.asked, wait=self.thinks)
            answering.fault = "500" if self.verdict == "500" else None
        elif last.startswith(CORRECT[:40]):
            self.corrections += 1
        return await answering.answer(writer)


async def held(draft: str, verifier: Verifier, **options: Any) -> tuple[rig.Call, str]:
    async with rig.serving(verifier) as slow, rig.serving(rig.Server(draft, **options)) as quick:
        call = rig.make_call("draft_verify", slow, quick, budget=rig.PATIENT, p95=2.0)
        down = await call.run([rig.ask(), lambda: call.records])
    return call, rig.said(down)


async def test_a_draft_that_is_right_is_spoken_on() -> None:
    call, said = await held(RIGHT, Verifier("YES"))
    assert said == RIGHT
    (record,) = call.records
    assert record.answer.verification == Verification(outcome="verified", why="large agrees")
    assert [(one.tier, one.outcome) for one in record.attempts] == [("fast", "spoken"), ("large", "verdict")]
    assert record.attempts[1].verifies == 0
    assert all(one.tokens and one.tokens.completion for one in record.attempts)


async def test_nothing_wrong_after_the_first_sentence_is_ever_spoken_and_the_first_is_taken_back_openly() -> None:
    verifier = Verifier("NO: it is 12 dollars")
    call, said = await held(WRONG, verifier)
    assert said == "It is 13 dollars. Actually, it is 12 dollars for two."
    (record,) = call.records
    assert record.answer.verification == Verification(
        outcome="corrected", why="large objects", fault="it is 12 dollars"
    )
    assert record.answer.repaired == "Actually, it is 12 dollars for two."
    assert [(one.tier, one.outcome, one.continues) for one in record.attempts] == [
        ("fast", "spoken", None),
        ("large", "verdict", None),
        ("large", "spoken", 0),
    ]
    assert verifier.corrections == 1


async def test_a_first_sentence_that_claims_nothing_needs_no_repair() -> None:
    call, said = await held("Let me see. " + WRONG, Verifier("NO: it is 12"))
    assert said == "Let me see. It is 12 dollars for two."
    assert call.records[0].answer.repaired is None


async def test_what_the_rules_refuse_is_not_spoken_and_no_verdict_is_paid_for() -> None:
    verifier = Verifier("YES")
    call, said = await held("I'm sorry, but I can't help with that.", verifier)
    assert said == verifier.text
    (record,) = call.records
    assert record.answer.verification == Verification(outcome="replaced", why="the rules object", fault="it refuses")
    assert len(verifier.asked) == 1


@pytest.mark.parametrize(
    ("reply", "why"),
    [("500", "the verifier failed"), ("It looks good to me.", "the verifier gave no verdict")],
)
async def test_without_a_verdict_the_draft_is_spoken_on_and_the_record_says_so(reply: str, why: str) -> None:
    call, said = await held(RIGHT, Verifier(reply))
    assert said == RIGHT
    assert call.records[0].answer.verification == Verification(outcome="unverified", why=why)


async def test_a_verifier_that_is_slow_is_not_awaited_in_silence() -> None:
    async with asyncio.timeout(30):
        call, said = await held(RIGHT, Verifier("YES", thinks=60))
    assert said == RIGHT
    (record,) = call.records
    assert record.answer.verification is not None
    assert record.answer.verification.why == "no verdict came before the first sentence was over"
    assert record.attempts[1].outcome == "cancelled"


async def test_a_draft_that_calls_a_tool_is_not_verified() -> None:
    verifier = Verifier("YES")
    async with rig.serving(verifier) as slow, rig.serving(rig.Server("", tool="book")) as quick:
        call = rig.make_call("draft_verify", slow, quick, budget=rig.PATIENT, p95=2.0)
        await call.run([rig.ask(), lambda: call.records])
    assert call.records[0].attempts[0].outcome in ("called", "failed")
    assert not any(one["messages"][-1]["content"] == VERIFY for one in verifier.asked)
