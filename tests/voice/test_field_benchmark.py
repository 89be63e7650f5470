"""Benchmark: a large and a fast model with the latencies that real ones are measured to have, each policy in turn.

Without audio: contexts go into the budgeted service, the simulator is a process of its own.
Run with `pytest -m slow -s tests/voice/test_field_benchmark.py` (minutes).
"""

import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import pytest
from pipecat.frames.frames import Frame, LLMContextFrame, LLMTextFrame, VADUserStartedSpeakingFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame, run_test

from latency.stats import percentile
from latency.verdict import judge
from pipelines.child import announced
from voice.llm.budgeted import BudgetedLLMService
from voice.llm.frames import AttemptsFrame
from voice.llm.openai_chat import ChatService, make_client
from voice.llm.policy import make_policy
from voice.llm.tier import Tier
from voice.llm.tier_stats import TierBook

TURNS = 300
QUESTIONS = ("what is seven times eight", "how many feet are in a mile", "what time is it", "spell necessary")
MODELS = {"large": "sim:sonnet", "fast": "sim:groq-fast"}


@dataclass(frozen=True)
class Answer:
    """What the service recorded of an answer, and when its first text left it."""

    record: AttemptsFrame
    handed_over: float | None

    @property
    def after(self) -> float | None:
        """Seconds from the commit."""
        return None if self.handed_over is None else self.handed_over - (self.record.commit or 0.0)

    @property
    def verdict(self) -> str:
        """As a report judges it."""
        response = {key: value for key, value in asdict(self.record).items() if key != "attempts"}
        attempts = [{"response": self.record.response, **attempt} for attempt in self.record.attempts]
        phrases = [said["at"] for said in self.record.said]
        words = [at for at in (self.handed_over, *phrases) if at is not None]
        marks = {"turn_commit": self.record.commit, "llm_request": attempts[0]["request"]}
        marks |= {"llm_first_clause": self.handed_over, "clause_to_tts": min(words, default=None)}
        judged = judge(marks, attempts, [response], interrupted=False, budget=0.45)
        assert judged is not None
        return str(judged.verdict)


@pytest.mark.slow
async def test_benchmark_of_the_policies_in_the_field(capsys: pytest.CaptureFixture[str]) -> None:
    lines, shares = [], {}
    for policy in ("single", "hedged", "fallback", "race", "adaptive"):
        async with announced("simulate", "--preset", "field", "--seed", "1") as (url, _process):
            answers = await converse(policy, url)
        counts = Counter(answer.verdict for answer in answers)
        after = [answer.after for answer in answers if answer.after is not None]
        late = [max(0.0, a.handed_over - a.record.deadline) for a in answers if a.handed_over and a.record.deadline]
        shares[policy] = (counts["within"] + counts["rescued"]) / len(answers)
        spread = "/".join(f"{(percentile(after, p) or 0) * 1000:.0f}" for p in (50, 95, 99))
        asked = sum(len(answer.record.attempts) for answer in answers) / len(answers)
        lines.append(
            f"{policy:9} in time {shares[policy]:6.1%}  {dict(counts)}  first clause p50/p95/p99 {spread} ms  "
            f"overshoot p99 {(percentile(late, 99) or 0) * 1000:.1f} ms  requests a turn {asked:.2f}"
        )
    with capsys.disabled():
        print(f"\n{TURNS} turns each, field preset, {MODELS['large']} with {MODELS['fast']}, deadline 450 ms")
        print("\n".join(lines))
    assert shares["fallback"] >= 0.99
    assert shares["adaptive"] >= 0.99
    assert shares["single"] < shares["fallback"]


async def converse(policy: str, url: str) -> list[Answer]:
    """`TURNS` turns."""
    clients = {name: make_client(base_url=url, api_key="none", silence=20) for name in MODELS}
    tiers = [
        Tier(
            name,
            ChatService(
                clients[name], model=model, prompt="Be brief.", max_tokens=100, where="the simulator",
                connections=2 if name == "fast" else 1,
            ),
        )
        for name, model in MODELS.items()
    ]  # fmt: skip
    book = TierBook({"large": 1.5, "fast": 0.3})
    service = BudgetedLLMService(tiers, make_policy(policy, large="large", fast="fast"), book=book)
    answers: list[Answer] = []
    first: list[float] = []

    @service.event_handler("on_before_push_frame")
    async def collect(_: BudgetedLLMService, frame: Frame) -> None:
        if isinstance(frame, LLMTextFrame):
            first.append(time.monotonic())
        elif isinstance(frame, AttemptsFrame) and frame.final:
            answers.append(Answer(record=frame, handed_over=first[0] if first else None))
            first.clear()

    frames: list[Frame] = [SleepFrame(sleep=0.3)]
    for number in range(TURNS):
        messages: Any = [{"role": "user", "content": QUESTIONS[number % len(QUESTIONS)]}]
        frames += [VADUserStartedSpeakingFrame(), LLMContextFrame(LLMContext(messages)), SleepFrame(sleep=0.02)]
    await run_test(service, frames_to_send=frames)
    for client in clients.values():
        await client.close()
    assert len(answers) == TURNS
    return answers
