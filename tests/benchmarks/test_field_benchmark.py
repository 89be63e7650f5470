"""Benchmark: a large and a fast model with the latencies that real ones are measured to have, each policy in turn.

Without audio: contexts go into the budgeted service, the simulator is a process of its own. A turn that was not in time
is printed with its requests and with the time that this process's own event loop stood still in it: what is the
machine's must be told from what is the policy's.

Run with `pytest -m slow -s tests/benchmarks/test_field_benchmark.py` (minutes; `-k fallback` for one policy).
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pipecat.frames.frames import Frame, LLMContextFrame, LLMTextFrame, VADUserStartedSpeakingFrame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.tests.utils import SleepFrame, run_test

from latency.judge.llm_budget import judge
from latency.record.marks import Mark, Marks
from latency.record.requests import RequestRecord
from latency.record.turn import ReportedTurn, Stall
from latency.report.stats import percentile
from pipelines.server_process import announced
from tests.voice.llm.answer import budgeted_rig as rig
from voice.frames import RequestsFrame
from voice.llm.answer.service import BudgetedLLMService
from voice.llm.policy.make import make_policy
from voice.llm.policy.tier_statistics import TierStatistics
from voice.llm.tiers.tier import Tier
from voice.llm.wires.chat.service import ChatService, make_client
from voice.server.event_loop import LoopWatch

TURNS = 300
QUESTIONS = ("what is seven times eight", "how many feet are in a mile", "what time is it", "spell necessary")
MODELS = {"large": "sim:sonnet", "fast": "sim:groq-fast"}


@dataclass(frozen=True)
class Answer:
    """What the service recorded of an answer, and when its first text left it."""

    record: RequestsFrame
    handed_over: float | None
    stalls: Sequence[Stall]
    """Of this process, from the commit to that text."""

    def __str__(self) -> str:
        start = self.record.answer.commit or 0.0
        asked = "; ".join(
            f"{a.tier} asked at {((a.request or start) - start) * 1000:.0f}, clause "
            + ("none" if a.first_clause is None else f"{(a.first_clause - start) * 1000:.0f}")
            + f", {a.outcome}{' ' + a.failed if a.failed else ''}"
            for a in self.record.attempts
        )
        words = "no words" if self.after is None else f"words at {self.after * 1000:.0f} ms"
        stood = ", ".join(f"{stall.kind} {stall.ms} ms" for stall in self.stalls) or "none"
        return f"answer {self.record.answer.response}, {self.verdict}, {words}: {asked}. Stalls here: {stood}"

    @property
    def after(self) -> float | None:
        """Seconds from the commit."""
        return None if self.handed_over is None else self.handed_over - (self.record.answer.commit or 0.0)

    @property
    def verdict(self) -> str:
        """As a report judges it."""
        answer, attempts = self.record.answer, tuple(self.record.attempts)
        phrases = [said.at for said in answer.said]
        spoken = min((at for at in (self.handed_over, *phrases) if at is not None), default=None)
        known = {
            Mark.TURN_COMMIT: answer.commit,
            Mark.LLM_REQUEST: attempts[0].request,
            Mark.LLM_FIRST_CLAUSE: self.handed_over,
            Mark.CLAUSE_TO_TTS: spoken,
        }
        marks = Marks({mark: at for mark, at in known.items() if at is not None})
        judged = judge(ReportedTurn(marks=marks, attempts=attempts, responses=(answer,)), budget=0.45)
        assert judged is not None
        return str(judged.verdict)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "least", "most"),
    [("single", 0.1, 0.4), ("hedged", 0.1, 0.4), ("fallback", 0.99, 1.0), ("race", 0.99, 1.0), ("adaptive", 0.99, 1.0)],
)
async def test_benchmark_of_a_policy_in_the_field(
    policy: str, least: float, most: float, capsys: pytest.CaptureFixture[str]
) -> None:
    async with announced("simulate", "--preset", "field", "--seed", "1") as (url, _process):
        with rig.watched() as watch:
            answers = await converse(policy, url, watch)
    counts = Counter(answer.verdict for answer in answers)
    after = [answer.after for answer in answers if answer.after is not None]
    late = [
        max(0.0, a.handed_over - a.record.answer.deadline)
        for a in answers
        if a.handed_over and a.record.answer.deadline
    ]
    share = (counts["within"] + counts["rescued"]) / len(answers)
    spread = "/".join(f"{(percentile(after, p) or 0) * 1000:.0f}" for p in (50, 95, 99))
    attempts = [attempt for answer in answers for attempt in answer.record.attempts]
    unheard = [attempt for attempt in attempts if attempt.outcome not in ("spoken", "called")]
    wasted = written(unheard) / written(attempts)
    with capsys.disabled():
        print(f"\n{TURNS} turns, field preset, {MODELS['large']} with {MODELS['fast']}, deadline 450 ms")
        print(
            f"{policy:9} in time {share:6.1%}  {dict(counts)}  first clause p50/p95/p99 {spread} ms  "
            f"overshoot p99 {(percentile(late, 99) or 0) * 1000:.1f} ms  requests a turn {len(attempts) / TURNS:.2f}  "
            f"unheard tokens {wasted:.0%}"
        )
        if least > 0.5:
            for answer in answers:
                if answer.verdict not in ("within", "rescued"):
                    print(f"  {answer}")
    assert least <= share <= most


def written(attempts: Iterable[RequestRecord]) -> int:
    """Tokens that the models wrote."""
    return sum(attempt.tokens.completion or 0 for attempt in attempts if attempt.tokens)


async def converse(policy: str, url: str, watch: LoopWatch) -> list[Answer]:
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
    book = TierStatistics({"large": 1.5, "fast": 0.3})
    service = rig.budgeted(tiers, make_policy(policy, large="large", fast="fast"), book=book)
    answers: list[Answer] = []
    first: list[float] = []

    @service.event_handler("on_before_push_frame")
    async def collect(_: BudgetedLLMService, frame: Frame) -> None:
        if isinstance(frame, LLMTextFrame):
            first.append(time.monotonic())
        elif isinstance(frame, RequestsFrame) and frame.final:
            now = time.monotonic()
            since, until = frame.answer.commit or now, first[0] if first else now
            answers.append(Answer(frame, first[0] if first else None, watch.between(since, until)))
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
