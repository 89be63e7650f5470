"""One answer in the making, on a manual clock."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from pipecat.frames.frames import Frame, FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext

from latency.budget import Deadline
from voice.frames import RequestsFrame
from voice.llm.answer.answer import Answer
from voice.llm.answer.answer_state import AnswerState
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.policy.policies import Adaptive, Single
from voice.llm.policy.tier_statistics import TierStatistics

NOW = 100.0


class AtOnce:
    """A tier that answers whole at once."""

    usable = True
    price = None
    instruction_tokens = 0

    def ask(self, attempt: LLMRequest, context: LLMContext, changed: Any) -> asyncio.Task[None]:
        attempt.add("At once. ", NOW)
        attempt.complete(NOW)
        return asyncio.create_task(asyncio.sleep(0))


class Committing:
    """A speaker; the turn is committed while it is at the `commit_at`th thing it is told."""

    def __init__(self, answer: Any, commit_at: int) -> None:
        self.answer = answer(speaker=self)
        self.commit_at, self.told = commit_at, 0
        self.reports: list[RequestsFrame] = []

    async def tell(self) -> None:
        self.told += 1
        if self.told == self.commit_at:
            # As the service does at the end of a turn.
            self.answer.commit(NOW, Deadline(NOW + 0.4))
            await self.answer.report()

    async def begin(self) -> None:
        await self.tell()

    async def speak(self, piece: str | Frame) -> None:
        await self.tell()

    async def report(self, frame: RequestsFrame) -> None:
        self.reports.append(frame)
        await self.tell()

    async def say(self, kind: Literal["hold", "delay"]) -> str | None:
        raise AssertionError("the answer was there at once")

    async def apologise(self, reason: str) -> None:
        raise AssertionError(reason)

    async def call(self, calls: Sequence[FunctionCallFromLLM]) -> None:
        raise AssertionError("no tool was asked for")


@pytest.mark.parametrize("commit_at", range(1, 8))
async def test_a_turn_that_ends_in_the_very_moment_its_answer_does_counts_once(
    commit_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = TierStatistics({"large": 1.0, "fast": 0.2})
    turns: list[str] = []
    verdicts: list[bool] = []
    monkeypatch.setattr(book, "turn", lambda first, judged: turns.append(first))
    monkeypatch.setattr(book.standing["large"], "observe", verdicts.append)

    def answer(**speaker: Any) -> Answer:
        plan, tiers = Adaptive(large="large", fast="fast").plan(book), {"large": AtOnce()}
        state = AnswerState(number=0, plan=plan, book=book, judged="large")
        return Answer(state, tiers=tiers, context=LLMContext(), clock=lambda: NOW, **speaker)  # type: ignore[arg-type]

    line = Committing(answer, commit_at)
    async with asyncio.timeout(5):
        await line.answer.run()
    while line.told < commit_at:
        # The answer ended first.
        await line.tell()
    assert (turns, verdicts) == (["large"], [True])
    last = line.reports[-1]
    assert (last.final, last.answer.commit, last.attempts[0].outcome) == (True, NOW, "spoken")


class BreaksOff:
    """A tier whose first request delivers a clause, later a second clause and its failure in one go; asked to continue,
    it answers at once.
    """

    usable = True
    price = None
    instruction_tokens = 0

    def __init__(self, gate: asyncio.Event) -> None:
        self.gate = gate
        self.contexts: list[LLMContext] = []

    def ask(self, attempt: LLMRequest, context: LLMContext, changed: Any) -> asyncio.Task[None]:
        self.contexts.append(context)
        if attempt.state.continues is not None:
            attempt.add("And a third.", NOW)
            attempt.complete(NOW)
            return asyncio.create_task(asyncio.sleep(0))
        attempt.add("Here is a clause, ", NOW)

        async def break_off() -> None:
            await self.gate.wait()
            attempt.add("and here a second. ", NOW)
            attempt.fail("The connection broke.", NOW)
            changed()

        return asyncio.create_task(break_off())


class Ear(Committing):
    """A speaker that lets the tier go on when it has passed on the first clause, or while it does."""

    def __init__(self, answer: Any, gate: asyncio.Event, *, during: bool) -> None:
        super().__init__(answer, commit_at=1)
        self.gate, self.during = gate, during
        self.said: list[str] = []

    async def speak(self, piece: Any) -> None:
        self.said.append(piece.text)
        self.gate.set()
        if self.during:
            for _ in range(5):
                await asyncio.sleep(0)


@pytest.mark.parametrize("during", [False, True])
async def test_a_clause_that_comes_just_before_its_request_fails_is_said_once(during: bool) -> None:
    book, gate = TierStatistics({"large": 1.0}), asyncio.Event()
    tier = BreaksOff(gate)

    def answer(**speaker: Any) -> Answer:
        state, tiers = AnswerState(number=0, plan=Single(tier="large").plan(book), book=book), {"large": tier}
        return Answer(state, tiers=tiers, context=LLMContext(), clock=lambda: NOW, **speaker)  # type: ignore[arg-type]

    ear = Ear(answer, gate, during=during)
    async with asyncio.timeout(5):
        await ear.answer.run()
    assert [text.split() for text in ear.said] == [
        ["Here", "is", "a", "clause,"], ["and", "here", "a", "second."], ["And", "a", "third."],
    ]  # fmt: skip
    _, continuation = tier.contexts
    heard: Any = continuation.get_messages()[-2]
    assert heard == {"role": "assistant", "content": "Here is a clause, and here a second."}
