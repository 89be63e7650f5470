"""The policies over thousands of drawn turns on a manual clock, with latencies that real models are measured to have.

No sockets and no waiting: what a policy alone can keep, whatever the machine does. The benchmark draws more turns and
prints what the policies themselves cost: `pytest -m slow -s tests/voice/llm/policy/test_policies_in_the_field.py`.
"""

import functools
from collections import Counter
from time import process_time
from typing import Any

import pytest

from latency.report.stats import percentile
from pipelines.lab.simulator.conversation import Message
from pipelines.lab.simulator.latency_model import LatencyModel, StallState
from pipelines.lab.simulator.profiles import load_profiles
from pipelines.lab.simulator.simulator import Simulator
from pipelines.lab.simulator.timetable import Failure, SendText, timetable
from tests.voice.llm.policy.policy_play import Played, Script, play
from voice.llm.answer.clauses import ClauseSplitter
from voice.llm.policy.plan import Plan
from voice.llm.policy.policies import Adaptive, Fallback, Hedged, Policy, Race, Single
from voice.llm.policy.tier_statistics import TierStatistics

QUESTIONS = ("what is seven times eight", "how many feet are in a mile", "what time is it", "spell necessary")
BETWEEN_TURNS = 4.0
"""Seconds; a provider's stalls last for two."""
WIRE = 0.005
"""Seconds that a real request takes beyond what the simulator draws."""
MOST_ASKED = 4
"""Requests to one tier in a turn."""

SINGLE = Single(tier="large")
HEDGED = Hedged(tier="large")
FALLBACK = Fallback(large="large", fast="fast")
RACE = Race(large="large", fast="fast")
ADAPTIVE = Adaptive(large="large", fast="fast")


class Field:
    """Draws what sonnet- and groq-class tiers do in a turn, as the simulator: first clauses, stalls and errors."""

    def __init__(self, *, preset: str, seed: int) -> None:
        profiles = load_profiles(preset)
        simulator = Simulator(seed=seed)
        self._texts = [simulator.answer([Message("user", question)], ()).text for question in QUESTIONS]
        self._models = {
            tier: LatencyModel(profiles[name], StallState(profiles[name].provider, seed), seed)
            for tier, name in (("large", "sonnet"), ("fast", "groq-fast"))
        }

    def turn(self, number: int) -> dict[str, list[Script]]:
        """What the first requests of a turn to each tier do."""
        text, now = self._texts[number % len(self._texts)], number * BETWEEN_TURNS
        return {
            tier: [self._script(text, model, now) for _ in range(MOST_ASKED)] for tier, model in self._models.items()
        }

    def _script(self, text: str, model: LatencyModel, now: float) -> Script:
        splitter = ClauseSplitter()
        at = 0.0
        for action in timetable(text, model, now=now):
            at = action.at + WIRE
            if isinstance(action, Failure):
                return Script(fail=at)
            assert isinstance(action, SendText)
            if splitter.feed(action.text):
                break
        return Script((at,), end=at + 0.1)


@functools.cache
def drawn(preset: str, seed: int, turns: int) -> list[dict[str, list[Script]]]:
    """So many turns of the field, which are the same for every policy."""
    field = Field(preset=preset, seed=seed)
    return [field.turn(number) for number in range(turns)]


class Turns:
    """Plays turns one after the other; the policy learns from each as in a call."""

    def __init__(self, policy: Policy, *, preset: str = "field", seed: int = 1) -> None:
        self.policy, self.preset, self.seed = policy, preset, seed
        self.book = TierStatistics({"large": 1.5, "fast": 0.3})
        self.first: list[float] = []
        self.in_time = self.doubled = 0
        self.asked: Counter[str] = Counter()
        self.spoken: Counter[str] = Counter()
        self.cpu: list[float] = []

    def play(self, turns: int) -> None:
        for scripts in drawn(self.preset, self.seed, turns):
            start = process_time()
            plan = Timed(self.policy.plan(self.book), process_time() - start)
            played = play(plan, scripts)
            self.cpu.append(plan.cpu)
            self.learn(plan.plan, scripts, played)
            for tier, at in played.spoken[:1]:
                self.in_time += at <= played.deadline
                self.first.append(at)
                self.spoken[tier] += 1
            self.asked.update(played.tiers())
            self.doubled += played.tiers().count("fast") > 1

    def learn(self, plan: Plan, scripts: dict[str, list[Script]], played: Played) -> None:
        """As an answer reports it to the tier statistics."""
        self.book.turn(plan.first[0], judged=self.policy.judged)
        counts: Counter[str] = Counter()
        for tier, at in played.starts:
            script = scripts[tier][counts[tier]]
            counts[tier] += 1
            left = played.left.get((tier, at))
            if script.clauses and (left is None or at + script.clauses[0] <= left):
                self.book.observe(tier, script.clauses[0], reached=True)
            elif left is not None and (script.fail is None or at + script.fail > left):
                self.book.observe(tier, left - at, reached=False)
        for _ in range(played.hedges):
            self.book.hedges.take()
        if plan.first[0] == self.policy.judged:
            first = scripts[plan.first[0]][0]
            self.book.standing[plan.first[0]].observe(bool(first.clauses) and first.clauses[0] <= played.deadline)

    def __str__(self) -> str:
        turns = len(self.cpu)
        spread = "/".join(f"{(percentile(self.first, p) or 0) * 1000:.0f}" for p in (50, 95, 99, 99.9))
        asked = ", ".join(f"{tier} {count / turns:.2f}" for tier, count in sorted(self.asked.items()))
        cpu = f"{sum(self.cpu) / turns * 1000:.3f} p99 {(percentile(self.cpu, 99) or 0) * 1000:.3f}"
        return (
            f"{self.policy.name:9} in time {self.in_time / turns:7.2%}  first clause p50/p95/p99/p99.9 {spread} ms  "
            f"requests a turn: {asked}, fast twice {self.doubled / turns:.3f}  "
            f"spoken by large {self.spoken['large'] / turns:.0%}, by nobody {1 - len(self.first) / turns:.2%}  "
            f"policy CPU a turn: mean {cpu} ms"
        )


class Timed:
    """A plan that counts the seconds of CPU it takes."""

    def __init__(self, plan: Plan, cpu: float) -> None:
        self.plan, self.cpu = plan, cpu
        self.fast, self.floor_tier, self.leads = plan.fast, plan.floor_tier, plan.leads

    def decide(self, situation: Any) -> Any:
        start = process_time()
        try:
            return self.plan.decide(situation)
        finally:
            self.cpu += process_time() - start


@pytest.mark.parametrize(
    ("policy", "least", "most"),
    [(SINGLE, 0.05, 0.3), (HEDGED, 0.05, 0.3), (FALLBACK, 0.99, 1.0), (RACE, 0.99, 1.0), (ADAPTIVE, 0.99, 1.0)],
)
def test_a_slow_large_tier_with_a_long_tail_is_kept_within_the_budget(
    policy: Policy, least: float, most: float
) -> None:
    turns = Turns(policy)
    turns.play(1000)
    assert least <= turns.in_time / 1000 <= most


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["field", "optimistic"])
def test_benchmark_of_the_policies_over_many_drawn_turns(preset: str, capsys: pytest.CaptureFixture[str]) -> None:
    count, played = 20_000, {}
    for policy in (SINGLE, HEDGED, FALLBACK, RACE, ADAPTIVE):
        turns = played[policy.name] = Turns(policy, preset=preset, seed=7)
        turns.play(count)
    with capsys.disabled():
        print(f"\n{count} drawn turns each, {preset} preset, sonnet with groq-fast, deadline 450 ms, no machine")
        print("\n".join(map(str, played.values())))
    for name in ("fallback", "race", "adaptive"):
        assert played[name].in_time / count >= 0.99
    assert all(sum(turns.cpu) / count < 0.001 for turns in played.values())
