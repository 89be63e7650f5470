"""`provider = "sim"`: a model of our simulator, with the latencies and faults of a real one."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from pipelines.providers.provider import TierModel
from pipelines.providers.resources import Resources
from pipelines.providers.wires import ServiceTier, Speed, Wire, WireModel, WireTable
from pipelines.settings_table import Table
from voice.errors import ConfigurationError

if TYPE_CHECKING:
    from latency.record.requests import Price
    from pipelines.tiers.table import Tiers

Fault = Literal[
    "silent",
    "keepalive",
    "dribble",
    "refuse",
    "401",
    "402",
    "low-credit",
    "403",
    "404",
    "429",
    "500",
    "529",
    "midfail",
    "overload-event",
    "slow-connect",
    "cut-socket",
    "wrong",
]
SIM_PREFIX = "sim:"


class SimulatorTable(Table):
    """Settings of all simulated models."""

    preset: Literal["field", "optimistic"] = "field"
    """Their latencies: measured in the field, or optimistic as published."""
    seed: int = 1
    """The same seed gives the same latencies."""


class SimTier(WireTable):
    """A model of our simulator, which is started with the pipeline."""

    provider: Literal["sim"]
    model: str = "sonnet"
    """One of the models that `voice simulate` lists."""
    wire: Wire = "chat"
    """The protocol: Chat Completions on a kept-alive connection, Responses over a WebSocket that is kept open, or
    Anthropic's Messages on a kept-alive connection."""
    speed: Literal["standard", "auto", "default", "flex", "priority", "fast", "ultrafast"] | None = None
    """The speed to ask for: an OpenAI service tier on OpenAI's wires, "standard" or "fast" on Anthropic's."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How much the model thinks before it answers, on Anthropic's wire; nothing unless set."""
    # A status such as 500 is a number to TOML.
    fault: Annotated[Fault, BeforeValidator(lambda fault: str(fault) if type(fault) is int else fault)] | None = None
    """A fault of all its requests."""
    ttft_ms: Annotated[float, Field(gt=0, le=60_000)] | None = None
    """A fixed time to first token."""
    fault_speed: Literal["standard", "fast", "priority", "ultrafast", "flex"] | None = None
    """The only speed whose requests have the fault; all speeds unless set."""
    fast_tokens: Annotated[int, Field(ge=1)] | None = None
    """The limit of the fast speed on Anthropic's wire, in answer tokens per minute; none unless set."""

    @property
    def billing(self) -> "Price | None":
        """The price of the real model, unless one is set."""
        from pipelines.providers.resolving import simulated_price

        return super().billing or simulated_price(self._name)

    @property
    def label(self) -> str:
        """The model's name, marked as simulated."""
        return f"{SIM_PREFIX}{self.model.removeprefix(SIM_PREFIX)}"

    @property
    def summary(self) -> str:
        """What it is."""
        return "simulated, starts with the pipeline"

    def describe(self, llm: "Tiers") -> str:
        """The model, its figures and its oddities."""
        oddities: list[str] = [llm.simulator.preset, self.wire]
        oddities += [self.speed] if self.speed else []
        oddities += [f"fault {self.fault}"] if self.fault else []
        oddities += [f"first token after {self.ttft_ms:g} ms"] if self.ttft_ms else []
        return f"{self.label} ({', '.join(oddities)})"

    def check(self, name: str, llm: "Tiers") -> None:
        """Refuse a model that the simulator does not have."""
        from voice.llm.catalog.catalog import STEADY, load_catalog

        models = [*load_catalog().simulated(llm.simulator.preset), STEADY]
        if self._name not in models:
            raise ConfigurationError(
                f"llm.{name}: there is no simulated model {self._name}; choose one of {', '.join(models)}."
            )
        known = get_args(Speed if self.wire == "messages" else ServiceTier)
        if self.speed is not None and self.speed not in known:
            raise ConfigurationError(
                f'llm.{name}: the wire {self.wire} has no speed "{self.speed}"; choose one of {", ".join(known)}.'
            )
        if self.effort is not None and self.wire != "messages":
            raise ConfigurationError(f'llm.{name}: simulated models have an effort on wire = "messages" only.')

    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The model in the simulator that all simulated tiers share."""
        is_messages = self.wire == "messages"

        async def find() -> str:
            url = self._url(await _simulator(llm.simulator, resources))
            return url.removesuffix("/v1") if is_messages else url

        options: dict[str, Any] = {"speed": self.speed, **({"effort": self.effort} if is_messages else {})}
        return WireModel(self, wire=self.wire, model=self.label, where="the simulator", find=find, **options)

    @property
    def _name(self) -> str:
        """The model without its options."""
        return self.model.removeprefix(SIM_PREFIX).partition("?")[0]

    def _url(self, simulator: str) -> str:
        """The simulator's URL with the tier's model and oddities in its path."""
        options = {
            "model": self.model,
            "fault": self.fault,
            "fault_speed": self.fault_speed,
            "ttft_ms": self.ttft_ms,
            "fast_tokens": self.fast_tokens,
        }
        text = "&".join(f"{key}={value}" for key, value in options.items() if value is not None)
        return f"{simulator.removesuffix('/v1')}/with/{text}/v1"


async def _simulator(simulator: SimulatorTable, resources: Resources) -> str:
    """The URL of the simulator's process."""
    from pipelines.server_process import announced

    options = ("--preset", simulator.preset, "--seed", str(simulator.seed))
    url, _ = await resources.open(simulator, lambda: announced("simulate", *options))
    return url
