"""Language models as tiers, shared by all calls: their connections, their simulator, and how fast they have been."""

import asyncio
import itertools
import logging
import os
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import psutil
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema

from latency.budget import Budget
from pipelines.serving.child import announced
from pipelines.settings import OpenAITier, SimTier, Tiers
from voice.errors import ConfigurationError
from voice.llm.answer.bridging import HOLD, Bridging
from voice.llm.policy import make_policy
from voice.llm.policy.tier_stats import TierBook, Wait, quantile
from voice.llm.tools import Tool, describe
from voice.simulator.timing.profiles import load_profiles

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from voice.llm.answer.speaking_ahead import SpeakingAheadLLMService
    from voice.llm.answer.tier import Tier

USUAL_P95 = {"large": 1.5, "fast": 0.3}
"""Seconds to a first clause that are assumed of a tier that does not say its own and is not measured yet."""
ENOUGH = 10
"""Measured syntheses from which on their 95th percentile counts."""
log = logging.getLogger(__name__)


class TieredModels:
    """Language models as tiers of a `BudgetedLLMService`.

    Raises:
        ConfigurationError: settings that contradict each other, or a key that is not set.
    """

    def __init__(self, llm: Tiers) -> None:
        self._llm = llm
        if llm.hold_phrases and not llm.bridge:
            raise ConfigurationError("llm.hold_phrases are never said with llm.bridge = false; leave one of them out.")
        self._policy = make_policy(
            llm.policy,
            large="large" if llm.large else None,
            fast="fast" if llm.fast else None,
            bridge=llm.bridge,
        )
        self._budget = Budget.with_llm(llm.budget_ms / 1000)
        self._book = TierBook({name: _assumed_p95(name, tier) for name, tier in llm.tiers.items()})
        self._calls = itertools.count()
        self._synthesis: deque[Wait] = deque(maxlen=100)
        self._urls: dict[str, str | None] = {}
        self._clients: dict[str, AsyncOpenAI] = {}
        self._resources = AsyncExitStack()
        self.processes: list[psutil.Process] = []
        self.phrases = self._bridging(0).phrases if llm.bridge else ()
        for name, tier in llm.tiers.items():
            if isinstance(tier, OpenAITier):
                check_key(tier, name, others={key: other for key, other in llm.tiers.items() if key != name})
            else:
                check_simulated(tier, name, preset=llm.simulator.preset)

    @property
    def components(self) -> dict[str, str]:
        """The policy and each tier."""
        llm = self._llm
        named = {"llm": f"{llm.policy}, {llm.budget_ms:g} ms to the first clause"}
        for name, tier in llm.tiers.items():
            if isinstance(tier, SimTier):
                oddities: list[str] = [llm.simulator.preset, tier.wire]
                oddities += [f"fault {tier.fault}"] if tier.fault else []
                oddities += [f"first token after {tier.ttft_ms:g} ms"] if tier.ttft_ms else []
                named[name] = f"{self.models[name]} ({', '.join(oddities)})"
            else:
                named[name] = f"{tier.model} at {where(tier)} ({tier.wire})"
        return named

    @property
    def models(self) -> dict[str, str]:
        """The model of each tier; simulated ones are named so."""
        return {
            name: f"sim:{tier.model.removeprefix('sim:')}" if isinstance(tier, SimTier) else tier.model
            for name, tier in self._llm.tiers.items()
        }

    async def start(self) -> None:
        """Start the simulator if a tier wants it, and open each tier's connection.

        A server that does not answer now is logged and may come back: each turn that it fails says so.
        """
        self._warn()
        simulated = [tier for tier in self._llm.tiers.values() if isinstance(tier, SimTier)]
        # The SDK takes a second to import.
        importing = asyncio.create_task(asyncio.to_thread(_import_sdk))
        simulator = None
        if simulated:
            options = ("--preset", self._llm.simulator.preset, "--seed", str(self._llm.simulator.seed))
            simulator, process = await self._resources.enter_async_context(announced("simulate", *options))
            self.processes.append(process)
        await importing
        for name, tier in self._llm.tiers.items():
            self._urls[name] = _simulated_url(simulator, tier) if isinstance(tier, SimTier) else tier.base_url
        await asyncio.gather(*map(self._connect, self._llm.tiers))
        # The first call would otherwise wait for more imports.
        self.service(prompt=None, tools=())

    def service(self, *, prompt: str | None, tools: Sequence[Tool]) -> "SpeakingAheadLLMService":
        """A call's service over services of its own, one a tier."""
        from voice.llm.answer.service import BudgetedLLMService

        return BudgetedLLMService(
            [self._tier(name, prompt or self._llm.prompt, tools) for name in self._llm.tiers],
            self._policy,
            book=self._book,
            budget=self._budget,
            bridging=self._bridging(next(self._calls)),
            synthesis_p95=self._synthesis_p95,
        )

    def whole_request(self, text: str) -> bool | None:
        """A language model takes anything: nothing is known of what it would call whole."""
        return None

    def synthesised(self, seconds: float) -> None:
        """Deadlines leave synthesis what it has lately needed."""
        self._synthesis.append(Wait(seconds, reached=True))

    async def close(self) -> None:
        """Close the connections and stop the simulator."""
        for client in self._clients.values():
            await client.close()
        await self._resources.aclose()

    def _synthesis_p95(self) -> float | None:
        return quantile(self._synthesis, 0.95) if len(self._synthesis) >= ENOUGH else None

    def _bridging(self, call: int) -> Bridging:
        return Bridging(self._llm.hold_phrases or HOLD, start=call)

    def _warn(self) -> None:
        if warning := self._budget.warning:
            log.warning("%s.", warning)
        if self._llm.large and self._llm.fast and (warning := self._book.warning(large="large", fast="fast")):
            log.warning("%s.", warning)

    async def _connect(self, name: str) -> None:
        tier = self._llm.tiers[name]
        if tier.wire == "responses":
            # Its socket belongs to a call.
            return
        from voice.llm.openai.chat import make_client, warm_up

        client = await asyncio.to_thread(
            lambda: make_client(base_url=self._urls[name], api_key=_key(tier), silence=tier.silence_ms / 1000)
        )
        self._clients[name] = client
        if problem := await warm_up(client, model=self.models[name], where=where(tier)):
            log.warning("%s", problem)

    def _tier(self, name: str, prompt: str, tools: Sequence[Tool]) -> "Tier":
        from voice.llm.answer.tier import Tier

        settings = self._llm.tiers[name]
        common: dict[str, Any] = {
            "model": self.models[name],
            "prompt": prompt,
            "max_tokens": settings.max_tokens,
            "where": where(settings),
        }
        if settings.wire == "responses":
            from voice.llm.openai.responses import ResponsesService

            offered = ToolsSchema(standard_tools=[describe(tool) for tool in tools]) if tools else None
            silence = settings.silence_ms / 1000
            return Tier(
                name,
                ResponsesService(
                    base_url=self._urls[name], api_key=_key(settings), silence=silence, tools=offered, **common
                ),
            )
        from voice.llm.openai.chat import ChatService

        # The fast tier may be asked twice in a turn.
        return Tier(name, ChatService(self._clients[name], connections=2 if name == "fast" else 1, **common))


def where(tier: OpenAITier | SimTier) -> str:
    """The server of a language model, as people read it."""
    if isinstance(tier, SimTier):
        return "the simulator"
    return tier.base_url or "OpenAI"


def check_key(tier: OpenAITier, name: str, *, others: Mapping[str, OpenAITier | SimTier]) -> None:
    """Refuse a provider whose key is not set, naming the variable and what works without one."""
    if not _lacks_key(tier):
        return
    keyless = [other for other, settings in others.items() if isinstance(settings, SimTier) or not _lacks_key(settings)]
    without = "".join(f'[llm.{other}] works without it (policy = "single"), and ' for other in keyless)
    if tier.api_key_env is None:
        raise ConfigurationError(
            f"llm.{name}: {tier.model} at {where(tier)} needs a key; say which environment variable holds it, such as "
            f'api_key_env = "OPENAI_API_KEY", or give the base_url of a server that wants none.'
        )
    raise ConfigurationError(
        f"llm.{name}: {tier.model} needs a key in the environment variable {tier.api_key_env}, which is not set; "
        f"{without}the pipelines embedded and local work without one."
    )


def check_simulated(tier: SimTier, name: str, *, preset: str) -> None:
    """Refuse a model that the simulator does not have: each of its requests would fail."""
    profiles = load_profiles(preset)
    if (model := tier.model.removeprefix("sim:").partition("?")[0]) not in profiles:
        raise ConfigurationError(
            f"llm.{name}: there is no simulated model {model}; choose one of {', '.join(profiles)}."
        )


def _lacks_key(tier: OpenAITier) -> bool:
    """Whether requests would be made without the key that they need."""
    return not os.environ.get(tier.api_key_env) if tier.api_key_env else tier.base_url is None


def _key(tier: OpenAITier | SimTier) -> str:
    # A server on this machine wants no key, but the SDK refuses to start without one.
    variable = tier.api_key_env if isinstance(tier, OpenAITier) else None
    return os.environ.get(variable, "") if variable else "none"


def _assumed_p95(name: str, tier: OpenAITier | SimTier) -> float:
    return USUAL_P95[name] if tier.p95_ms is None else tier.p95_ms / 1000


def _simulated_url(simulator: str | None, tier: SimTier) -> str:
    """The simulator's URL with the tier's model and oddities in its path."""
    assert simulator is not None
    options = {"model": tier.model, "fault": tier.fault, "ttft_ms": tier.ttft_ms}
    text = "&".join(f"{key}={value}" for key, value in options.items() if value is not None)
    return f"{simulator.removesuffix('/v1')}/with/{text}/v1"


def _import_sdk() -> None:
    import voice.llm.openai.chat  # noqa: F401
