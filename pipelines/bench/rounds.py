"""Runs the rounds of a benchmark: all agents get the same conversations, one agent at a time, in rotating order."""

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from latency.benchmark.benchmark import CALLS, INDEX, SCHEMA
from latency.benchmark.callers import Callers
from latency.record.run import Status
from latency.record.run_writer import RunWriter
from pipelines.bench.agents import serving
from pipelines.bench.call import Observed, observe
from pipelines.bench.peer import Parts
from pipelines.bench.variants import BASELINE, Variant
from pipelines.providers.tiers import PROMPT
from pipelines.replaying.run_folder import run_header, save, writing
from pipelines.serving.child import Server, announced
from voice.client.fixtures.fixture import Fixture
from voice.errors import ComponentError

BENCHMARK_MODEL = "sim:steady"
ANSWER = "That is a good question, and I am glad you asked it. Let me tell you in a few words what I know about it."
"""The language model's only answer: its first sentence has a usual length, and it is long enough to interrupt."""
SEED = 1
TRIES = 2
"""How often a call is attempted if it cannot begin, or its audio cannot be sent in real time."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """A simulated language model's speed: milliseconds to the first token, then tokens per second."""

    ttft_ms: float
    tokens_per_s: float

    def __str__(self) -> str:
        return f"{self.ttft_ms:g}:{self.tokens_per_s:g}"

    def url(self, simulator: str) -> str:
        """The base URL at which the simulator at "http://host:port/v1" answers at this speed."""
        options = f"ttft_ms={self.ttft_ms:g}&tokens_per_s={self.tokens_per_s:g}"
        return f"{simulator.removesuffix('/v1')}/with/{options}/v1"


FAST = ModelSpeed(100, 1000)
"""The speed of the fast tier in a variant with two tiers, and of the only model of a peer beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkPlan:
    """Which agents are called, with what, and how often.

    Parameters:
        folder: the benchmark's folder, which is created.
        variants: the agents that take part.
        skipped: the agents that do not, and why.
        fixtures: the conversations.
        callers: who speaks in them.
        speeds: the language model's speeds.
        rounds: how often each agent gets all conversations at each speed.
        whisper: folder of the Whisper model.
        voice: a Piper voice's .onnx file.
        environment: the peers' environment variables.
        command: the command line.
    """

    folder: Path
    variants: Sequence[Variant]
    skipped: Mapping[str, str]
    fixtures: Sequence[Fixture]
    callers: Callers
    speeds: Sequence[ModelSpeed]
    rounds: int
    whisper: Path
    voice: Path
    environment: Mapping[str, str]
    command: Sequence[str]


@dataclass(slots=True)
class Trial:
    """One agent at one speed of the language model: its run folder and its repeated calls."""

    variant: Variant
    speed: ModelSpeed
    folder: str
    writer: RunWriter | None = None
    repeated: list[dict[str, str]] = field(default_factory=list)

    def entry(self) -> dict[str, Any]:
        """Its entry in the benchmark's index."""
        variant = self.variant
        entry = {"llm": str(self.speed), "variant": variant.name, "about": variant.about, "folder": self.folder}
        part = {"set": list(variant.settings), "without": variant.without, "of": variant.of}
        return {**entry, **part, "repeated": self.repeated}


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
                    await _visit(plan, trial, round_, simulator, say)
                    update()


def trials_of(variants: Sequence[Variant], speeds: Sequence[ModelSpeed]) -> list[Trial]:
    """Each agent at each speed; where the model is the fast one, a peer is not called once more with the fast one."""
    return [
        Trial(variant, speed, f"{speed.ttft_ms:g}-{speed.tokens_per_s:g}/{variant.name}")
        for speed in speeds
        for variant in variants
        if not (variant.fast and speed == FAST)
    ]


def rotated(trials: Sequence[Trial], by: int) -> list[Trial]:
    """The order of a round: each round begins with another trial, so that no trial always has the same place."""
    first = by % len(trials)
    return [*trials[first:], *trials[:first]]


async def _visit(plan: BenchmarkPlan, trial: Trial, round_: int, simulator: str, say: Say) -> None:
    """Start one agent, call it with every conversation, and stop it."""
    parts = Parts(
        whisper=plan.whisper,
        voice=plan.voice,
        llm_url=trial.speed.url(simulator),
        llm_model=BENCHMARK_MODEL,
        prompt=PROMPT,
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
        for number, fixture in enumerate(plan.fixtures):
            name = f"{fixture.name}-{round_ + 1}"
            seen = await _call(server, fixture, name, trial, simulator, say)
            with writing(folder):
                save(seen.result, fixture, name, trial.writer, cold=not number, load=seen.load)
                with (folder / CALLS).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(seen.beside(name)) + "\n")
            if seen.result.closed:
                say(f"  {name}: the call ended early: {seen.result.closed}")


async def _call(server: Server, fixture: Fixture, name: str, trial: Trial, simulator: str, say: Say) -> Observed:
    """Make one call, and repeat it if it could not begin or its audio could not be sent in real time."""
    for _ in range(TRIES - 1):
        try:
            seen = await observe(server, fixture, simulator)
            why = seen.pacing.complaint
        except ComponentError as error:
            why = str(error)
        if why is None:
            return seen
        say(f"  {name}: {why}; calling again")
        trial.repeated.append({"session": name, "why": why})
    return await observe(server, fixture, simulator)


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
