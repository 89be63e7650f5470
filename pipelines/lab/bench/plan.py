"""The plan of a benchmark: which agents are called, with which language models and recordings, and how often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from latency.benchmark.benchmark import Callers
from latency.record.run_writer import RunWriter
from pipelines.lab.bench.variants import Variant
from voice.client.fixtures.fixture import Fixture


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


def trials_of(variants: Sequence[Variant], speeds: Sequence[ModelSpeed]) -> list[Trial]:
    """Each agent at each speed; where the model is the fast one, a peer is not called once more with the fast one."""
    return [
        Trial(variant, speed, f"{speed.ttft_ms:g}-{speed.tokens_per_s:g}/{variant.name}")
        for speed in speeds
        for variant in variants
        if not (variant.fast and speed == FAST)
    ]
