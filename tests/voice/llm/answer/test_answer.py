"""One answer in the making, on a manual clock."""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from pipecat.frames.frames import Frame, FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext

from latency.budget import Deadline
from voice.llm.answer.answer import Answer
from voice.llm.answer.answer_frames import AttemptsFrame
from voice.llm.answer.attempt import LiveAttempt
from voice.llm.policy import Adaptive
from voice.llm.policy.tier_stats import TierBook

NOW = 100.0


class AtOnce:
    """A tier that answers whole at once."""

    usable = True

    def ask(self, attempt: LiveAttempt, context: LLMContext, changed: Any) -> asyncio.Task[None]:
        attempt.add("At once. ", NOW)
        attempt.complete(NOW)
        return asyncio.create_task(asyncio.sleep(0))


class Committing:
    """A speaker; the turn is committed while it is at the `commit_at`th thing it is told."""

    def __init__(self, answer: Any, commit_at: int) -> None:
        self.answer = answer(speaker=self)
        self.commit_at, self.told = commit_at, 0
        self.reports: list[AttemptsFrame] = []

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

    async def report(self, frame: AttemptsFrame) -> None:
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
    book = TierBook({"large": 1.0, "fast": 0.2})
    turns: list[str] = []
    verdicts: list[bool] = []
    monkeypatch.setattr(book, "turn", lambda first, judged: turns.append(first))
    monkeypatch.setattr(book.standing["large"], "observe", verdicts.append)

    def answer(**speaker: Any) -> Answer:
        plan, tiers = Adaptive(large="large", fast="fast").plan(book), {"large": AtOnce()}
        return Answer(
            number=0, plan=plan, tiers=tiers, book=book, context=LLMContext(),  # type: ignore[arg-type]
            judged="large", clock=lambda: NOW, **speaker,
        )  # fmt: skip

    line = Committing(answer, commit_at)
    async with asyncio.timeout(5):
        await line.answer.run()
    while line.told < commit_at:
        # The answer ended first.
        await line.tell()
    assert (turns, verdicts) == (["large"], [True])
    last = line.reports[-1]
    assert (last.final, last.answer.commit, last.attempts[0].outcome) == (True, NOW, "spoken")
