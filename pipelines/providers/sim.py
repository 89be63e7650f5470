"""`provider = "sim"`: a model of our simulator, with the latencies and faults of a real one."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from pipelines.providers.provider import TierModel
from pipelines.providers.resources import Resources
from pipelines.providers.wires import WireModel, WireTable
from pipelines.table import Table
from voice.errors import ConfigurationError

if TYPE_CHECKING:
    from pipelines.providers.tiers import Tiers

Fault = Literal[
    "silent", "keepalive", "dribble", "refuse", "401", "429", "500", "midfail", "slow-connect", "cut-socket"
]
SIM_PREFIX = "sim:"


class SimulatorTable(Table):
    """What all simulated models share."""

    preset: Literal["field", "optimistic"] = "field"
    """Whose latencies they have: measured in the field, or as published."""
    seed: int = 1
    """The same seed gives the same latencies."""


class SimTier(WireTable):
    """A model of our simulator, which is started with the pipeline."""

    provider: Literal["sim"]
    model: str = "sonnet"
    """One of the models that `voice simulate` lists."""
    # A status such as 500 is a number to TOML.
    fault: Annotated[Fault, BeforeValidator(lambda fault: str(fault) if type(fault) is int else fault)] | None = None
    """A fault that each of its requests has."""
    ttft_ms: Annotated[float, Field(gt=0, le=60_000)] | None = None
    """A fixed time to first token."""

    @property
    def label(self) -> str:
        """The model, named as simulated."""
        return f"{SIM_PREFIX}{self.model.removeprefix(SIM_PREFIX)}"

    @property
    def summary(self) -> str:
        """What it is."""
        return "simulated, starts with the pipeline"

    def describe(self, llm: "Tiers") -> str:
        """The model, its figures, and what is odd about it."""
        oddities: list[str] = [llm.simulator.preset, self.wire]
        oddities += [f"fault {self.fault}"] if self.fault else []
        oddities += [f"first token after {self.ttft_ms:g} ms"] if self.ttft_ms else []
        return f"{self.label} ({', '.join(oddities)})"

    def check(self, name: str, llm: "Tiers") -> None:
        """Refuse a model that the simulator does not have: each of its requests would fail."""
        from voice.simulator.timing.profiles import load_profiles

        profiles = load_profiles(llm.simulator.preset)
        if (model := self.model.removeprefix(SIM_PREFIX).partition("?")[0]) not in profiles:
            raise ConfigurationError(
                f"llm.{name}: there is no simulated model {model}; choose one of {', '.join(profiles)}."
            )

    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The model in the simulator that all simulated tiers share."""

        async def find() -> str:
            return self._url(await _simulator(llm.simulator, resources))

        return WireModel(self, model=self.label, where="the simulator", find=find)

    def _url(self, simulator: str) -> str:
        """The simulator's URL with the tier's model and oddities in its path."""
        options = {"model": self.model, "fault": self.fault, "ttft_ms": self.ttft_ms}
        text = "&".join(f"{key}={value}" for key, value in options.items() if value is not None)
        return f"{simulator.removesuffix('/v1')}/with/{text}/v1"


async def _simulator(simulator: SimulatorTable, resources: Resources) -> str:
    """The URL of the simulator's process."""
    from pipelines.serving.child import announced

    options = ("--preset", simulator.preset, "--seed", str(simulator.seed))
    url, _ = await resources.open(simulator, lambda: announced("simulate", *options))
    return url
