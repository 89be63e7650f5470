"""Runs the rounds of a benchmark: all agents get the same conversations, one agent at a time, in rotating order."""

import asyncio
import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TypeVar

from latency.benchmark.benchmark import CALLS, INDEX, SCHEMA
from latency.record.run import Status
from latency.record.run_writer import RunWriter
from pipelines.lab.bench.agents import serving
from pipelines.lab.bench.call import Journal, ObservedCall, observe
from pipelines.lab.bench.peer import Parts
from pipelines.lab.bench.plan import FAST, BenchmarkPlan, Trial, trials_of
from pipelines.lab.bench.variants import BASELINE
from pipelines.replaying.run_folder import run_header, save, writing
from pipelines.server_process import Server, announced
from voice.client.fixtures.fixture import Fixture
from voice.errors import ComponentError
from voice.language.english.phrases import ENGLISH

BENCHMARK_MODEL = "sim:steady"
ANSWER = "That is a good question, and I am glad you asked it. Let me tell you in a few words what I know about it."
"""The language model's only answer: its first sentence has a usual length, and it is long enough to interrupt."""
SEED = 1
TRIES = 2
"""How often a call is attempted if it cannot begin, or its audio cannot be sent in real time."""

Say = Callable[[str], None]
Item = TypeVar("Item")


async def run_rounds(plan: BenchmarkPlan, say: Say) -> None:
    """Make all calls; the folder can be read however this ends.

    Args:
        plan: what to do.
        say: called with each line of progress.

    Raises:
        VoiceError: An agent cannot start, or ended a call.
    """
    trials = trials_of(plan.variants, plan.speeds)
    async with announced("simulate", "--seed", str(SEED), "--answer", ANSWER) as (simulator, _process):
        with _index(plan, trials) as update:
            for round_ in range(plan.rounds):
                for trial in rotated(trials, round_):
                    say(f"round {round_ + 1}/{plan.rounds}  LLM {trial.speed}  {trial.variant.name}")
                    await _call_agent(plan, trial, round_, simulator, say)
                    update()


def rotated(items: Sequence[Item], by: int) -> list[Item]:
    """An order that begins with another item each time, so that none always has the same place."""
    first = by % len(items)
    return [*items[first:], *items[:first]]


async def _call_agent(plan: BenchmarkPlan, trial: Trial, round_: int, simulator: str, say: Say) -> None:
    """Start one agent, call it with every conversation, once for each caller, and stop it."""
    parts = Parts(
        whisper=plan.whisper,
        voice=plan.voice,
        llm_url=trial.speed.url(simulator),
        llm_model=BENCHMARK_MODEL,
        prompt=ENGLISH.prompt,
    )
    folder = plan.folder / trial.folder
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CALLS).touch()
    fast, log = FAST.url(simulator), folder / "agent.log"
    async with serving(trial.variant, parts, fast_url=fast, environment=plan.environment, log=log) as server:
        if trial.writer is None:
            with writing(folder):
                trial.writer = RunWriter(folder, header=run_header(server, plan.command))
        calls = AgentRound(plan, trial, trial.writer, round_, server, Journal(simulator), say)
        try:
            async with asyncio.TaskGroup() as group:
                for caller in range(plan.callers.at_once):
                    group.create_task(calls.speak(caller))
        except ExceptionGroup as errors:
            # The first one ended the other calls.
            raise errors.exceptions[0] from errors


@dataclass(frozen=True, slots=True)
class AgentRound:
    """The calls to one agent in one round."""

    plan: BenchmarkPlan
    trial: Trial
    writer: RunWriter
    round: int
    server: Server
    journal: Journal
    say: Say

    async def speak(self, caller: int) -> None:
        """Hold every conversation, one after the other; each caller begins with another one."""
        names = [f"{fixture.name}-{self.round + 1}" for fixture in self.plan.fixtures]
        several = self.plan.callers.at_once > 1
        for number, (fixture, name) in enumerate(rotated(list(zip(self.plan.fixtures, names, strict=True)), caller)):
            await self._hold(fixture, f"{name}-{caller + 1}" if several else name, cold=not number)

    async def _hold(self, fixture: Fixture, name: str, *, cold: bool) -> None:
        seen = await self._call(fixture, name)
        folder = self.writer.folder
        with writing(folder):
            save(seen.result, fixture, name, self.writer, cold=cold, load=seen.load)
            with (folder / CALLS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(seen.beside(name)) + "\n")
        if seen.result.closed:
            self.say(f"  {name}: the call ended early: {seen.result.closed}")

    async def _call(self, fixture: Fixture, name: str) -> ObservedCall:
        """Make one call, and repeat it if it could not begin or its audio could not be sent in real time."""
        at_once = self.plan.callers.at_once
        for _ in range(TRIES - 1):
            try:
                seen = await observe(self.server, fixture, self.journal, at_once=at_once)
                why = seen.pacing.complaint
            except ComponentError as error:
                why = str(error)
            if why is None:
                return seen
            self.say(f"  {name}: {why}; calling again")
            self.trial.repeated.append({"session": name, "why": why})
        return await observe(self.server, fixture, self.journal, at_once=at_once)


@contextmanager
def _index(plan: BenchmarkPlan, trials: Sequence[Trial]) -> Iterator[Callable[[], None]]:
    """Writes the benchmark's index, and ends its runs at the end; yields the function that updates the index."""
    facts = {
        "schema": SCHEMA,
        "created": datetime.now().astimezone().isoformat(timespec="seconds"),
        "command": list(plan.command),
        "baseline": BASELINE,
        "rounds": plan.rounds,
        "fixtures": [fixture.name for fixture in plan.fixtures],
        "callers": asdict(plan.callers),
        "host": {"platform": platform.platform(), "cpus": os.cpu_count(), "load_before": os.getloadavg()[0]},
        "answer": ANSWER,
        "skipped": dict(plan.skipped),
    }

    def update() -> None:
        runs = [trial.entry() for trial in trials if trial.writer]
        text = json.dumps({**facts, "runs": runs}, indent=1, ensure_ascii=False)
        with writing(plan.folder):
            (plan.folder / INDEX).write_text(text + "\n", encoding="utf-8")

    status: Status = "interrupted"
    try:
        yield update
        status = "complete"
    finally:
        update()
        for trial in trials:
            if trial.writer:
                with writing(trial.writer.folder):
                    trial.writer.finish(status, load_after=os.getloadavg()[0])
