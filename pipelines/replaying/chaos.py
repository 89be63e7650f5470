"""Draws the faults of a replay and their times from a seed. Pure.

The same seed, recordings and parts give the same faults at the same moments of the same turns.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from voice.errors import ConfigurationError

Part = Literal["model", "connection", "recogniser"]
Moment = Literal["before", "speaking", "deciding", "answering"]
"""At the start of the turn's recording, while the caller speaks, just after that, or when the answer is expected."""

MODEL_FAULTS = {
    "silent": "never answers",
    "keepalive": "sends signs of life and no text",
    "dribble": "sends one character every 0.3 s",
    "refuse": "resets the connection before it answers",
    "429": "refuses with status 429",
    "500": "fails with status 500",
    "529": "refuses with status 529",
    "midfail": "reports an error in the middle of its answer",
    "overload-event": "reports that it is overloaded when its answer begins",
    "cut-socket": "resets the connection in the middle of its answer",
}
"""The simulator's faults from which a provider may recover, with a description."""
RECOGNISER_FAULTS = {"killed": "the recogniser's processes are killed", "stopped": "the recogniser is stopped for 2 s"}
STOPPED_FOR = 2.0
"""Seconds for which a stopped recogniser does nothing."""
CUT = "the client's connection breaks"
SPARED = 0.25
"""The share of turns without a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of an agent that can be broken."""

    models: tuple[str, ...] = ()
    """Simulated language models, by name, without "sim:"."""
    recogniser: bool = False
    """Whether the recogniser has processes of its own."""

    @property
    def names(self) -> tuple[Part, ...]:
        """The parts that take faults."""
        found: list[Part] = ["model"] if self.models else []
        return (*found, "connection", *(("recogniser",) if self.recogniser else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of one turn."""

    part: Part
    kind: str
    moment: Moment
    share: float
    """The position within the moment: 0 is its beginning, 1 its end."""
    models: tuple[str, ...] = ()
    """The models that have the fault for the rest of the turn."""

    @property
    def what(self) -> str:
        """The fault as a clause."""
        if self.part == "model":
            return f"{' and '.join(f'sim:{model}' for model in self.models)} {MODEL_FAULTS[self.kind]}"
        return CUT if self.part == "connection" else RECOGNISER_FAULTS[self.kind]

    def at(self, *, start: float, onset: float, end: float) -> float:
        """Its instant in a turn whose recording starts at `start` and has speech from `onset` to `end`, seconds."""
        first, last = {
            "before": (start, start),
            "speaking": (onset, end),
            "deciding": (end, end + 0.4),
            "answering": (end + 0.4, end + 2.0),
        }[self.moment]
        return first + self.share * (last - first)


def parts_of(status: dict[str, Any]) -> Parts:
    """The parts of a server that can be broken, by its report on /healthz.

    Raises:
        ConfigurationError: it asks a language model that is not simulated.
    """
    settings = status.get("pipeline", {})
    llm = settings.get("llm") or {}
    tiers = [tier for tier in llm.values() if isinstance(tier, dict) and isinstance(tier.get("provider"), str)]
    providers = [str(tier["provider"]) for tier in tiers] or [str(llm.get("provider", "responder"))]
    if real := sorted(set(providers) - {"sim", "responder"}):
        raise ConfigurationError(
            f"--chaos breaks simulated language models only, and this pipeline asks {' and '.join(real)}; take a "
            "pipeline such as sim-fallback or embedded."
        )
    models = dict.fromkeys(str(tier["model"]).removeprefix("sim:").partition("?")[0] for tier in tiers)
    return Parts(models=tuple(models), recogniser=(settings.get("asr") or {}).get("engine") == "sphinx")


def schedule(seed: int, call: str, turns: int, parts: Parts) -> Sequence[Fault | None]:
    """The fault of each turn of a call; None for a turn that is spared."""
    return [_draw(random.Random(f"{seed}:{call}:{turn}"), parts) for turn in range(turns)]


def _draw(chance: random.Random, parts: Parts) -> Fault | None:
    if chance.random() < SPARED:
        return None
    part = chance.choice(parts.names)
    if part == "model":
        # Requests may be made while the caller still speaks.
        number = chance.randint(1, len(parts.models))
        broken = tuple(sorted(chance.sample(parts.models, number)))
        return Fault(part=part, kind=chance.choice(list(MODEL_FAULTS)), moment="before", share=0.0, models=broken)
    moments: tuple[Moment, ...] = ("before", "speaking", "deciding", "answering")
    kind = "cut" if part == "connection" else chance.choice(list(RECOGNISER_FAULTS))
    return Fault(part=part, kind=kind, moment=chance.choice(moments), share=chance.random())
