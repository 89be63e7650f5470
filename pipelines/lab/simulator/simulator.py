"""The simulator's state, which all requests share: models, faults, prefix caches and the journal."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import parse_qsl

from pipelines.lab.simulator.connections import Connection, Connections
from pipelines.lab.simulator.conversation import Message, OfferedTool, ScriptedAnswer
from pipelines.lab.simulator.journal import Exchange, Journal, Wire
from pipelines.lab.simulator.latency_model import LatencyModel, StallState
from pipelines.lab.simulator.prefix_cache import PrefixCache
from pipelines.lab.simulator.profiles import load_profiles
from pipelines.lab.simulator.rate_limits import RateLimits
from pipelines.lab.simulator.script import ConversationScript
from pipelines.lab.simulator.shared_answers import mistaken
from pipelines.lab.simulator.timetable import SLOW_CONNECT, Fault, parse_fault
from voice.errors import ConfigurationError

MODEL_PREFIX = "sim:"
DEFAULT_MODEL = "gpt-5.4-mini"
"""The model whose network applies to a connection that is opened without naming a model."""
MODEL_OPTIONS = ("fault", "after", "fault_speed", "ttft_ms", "tokens_per_s", "serves", "requests", "fast_tokens")
FAST = "fast"
"""Anthropic's speed that has its own pool and prefix cache."""
SOCKET_LIFE = 3600.0
"""Longest life of a Responses socket in seconds; OpenAI's is the same."""


class UnknownModelError(ConfigurationError):
    """A request names no simulated model."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The model that serves a request, with the options of that request.

    Parameters:
        name: the served model, such as "sim:sonnet".
        latency: draws its latencies.
        cache: its prefix cache.
        fault: its fault, or None.
        after: tokens sent before a fault in the middle of an answer; None means half of the answer.
        speed: the speed at which it serves, perhaps another than requested; None for the usual one.
        limits: the rate limits that the request counts against, or None.
    """

    name: str
    latency: LatencyModel
    cache: PrefixCache
    fault: Fault | None
    after: int | None
    speed: str | None = None
    limits: RateLimits | None = None

    def admit(self) -> bool:
        """Count a request against its limits; returns False if one of them is used up."""
        if self.limits is None:
            return True
        if admitted := self.limits.admits:
            self.limits.take("requests", 1)
        return admitted

    def spend(self, *, given: int = 0, output: int = 0) -> None:
        """Count the tokens of a request and of its answer."""
        if self.limits is not None:
            self.limits.take("input-tokens", given)
            self.limits.take("output-tokens", output)
            self.limits.take("tokens", given + output)

    def opening(self, *, websocket: bool) -> float:
        """Seconds before a new connection can carry a request."""
        slow = SLOW_CONNECT if self.fault is Fault.SLOW_CONNECT else 0.0
        return self.latency.connecting(websocket=websocket) + slow


class Simulator:
    """Everything that requests share.

    Args:
        preset: figures of the profiles: "field" or "optimistic".
        seed: seed of all random numbers; None takes one from the system.
        faults: initial faults by model name, with or without "sim:".
        socket_life: longest life of a Responses socket, seconds.
        answer: a fixed answer to every request; None for answers that fit the request.
        on_cancel: effect of `response.cancel`, which OpenAI does not document: "keep" ends the response and keeps the
            lane's latest complete one, "forget" forgets that too, "ignore" does nothing, "unknown" reports an error.
        fast_needs_header: whether Anthropic's fast speed is refused without its `anthropic-beta` header.
        clock: returns seconds, for the journal and the stalls.

    Raises:
        ConfigurationError: the preset or a model is unknown.
    """

    def __init__(
        self,
        *,
        preset: str = "field",
        seed: int | None = None,
        faults: Mapping[str, Fault] | None = None,
        socket_life: float = SOCKET_LIFE,
        answer: str | None = None,
        on_cancel: Literal["keep", "forget", "ignore", "unknown"] = "keep",
        fast_needs_header: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.preset = preset
        self.seed = random.SystemRandom().getrandbits(32) if seed is None else seed
        self.profiles = load_profiles(preset)
        self.socket_life = socket_life
        self.on_cancel = on_cancel
        self.fast_needs_header = fast_needs_header
        self.clock = clock
        self._fixed = None if answer is None else ScriptedAnswer(answer)
        self.journal = Journal(clock)
        self.connections = Connections()
        self._script = ConversationScript()
        # Building the responder's grammar takes tenths of a second, which would add to the first request's latency.
        self.answer([Message("user", "hello")], ())
        self._stalls = {p.provider: StallState(p.provider, self.seed) for p in self.profiles.values()}
        self._latencies: dict[str, LatencyModel] = {}
        self._caches: dict[tuple[str, bool], PrefixCache] = {}
        self._limits: dict[tuple[str, bool, str], RateLimits] = {}
        self._faults: dict[str, Fault] = {}
        for model, fault in (faults or {}).items():
            self.set_fault(model, fault)

    def answer(
        self, messages: Sequence[Message], tools: Sequence[OfferedTool], *, fault: Fault | None = None
    ) -> ScriptedAnswer:
        """A model's answer to a conversation at the current time; a wrong one if that is the model's fault."""
        answer = self._fixed or self._script.answer(messages, tools, now=datetime.now().astimezone())
        return answer if fault is not Fault.WRONG else replace(answer, text=mistaken(answer.text))

    def begin(
        self, wire: Wire, served: ServedModel, connection: Connection, *, size: int, warm_up: bool = False
    ) -> Exchange:
        """Record a request that has arrived."""
        return self.journal.add(
            Exchange(
                wire=wire,
                model=served.name,
                fault=served.fault,
                connection=connection.number,
                opened=connection.requests == 1,
                bytes_in=size,
                requested=self.clock(),
                speed=served.speed,
                warm_up=warm_up,
            )
        )

    def set_fault(self, model: str, fault: Fault | None) -> None:
        """Set or remove a model's fault; a fault that a request names itself takes precedence.

        Raises:
            UnknownModelError: there is no such model.
        """
        name = self._known(model)
        if fault is None:
            self._faults.pop(name, None)
        else:
            self._faults[name] = fault

    def serve(self, model: str, query: Mapping[str, str] | None = None, *, speed: str | None = None) -> ServedModel:
        """The model that serves a request, with its options.

        Args:
            model: "sim:sonnet", "sonnet", or with options "sim:steady?ttft_ms=300&fault=midfail&after=4".
            query: options from the request's URL; options in the model name take precedence.
            speed: the requested speed, by its name in the profiles; None for the usual one.

        Raises:
            ConfigurationError: the model or an option is unknown, or a value is not allowed.
        """
        name, _, text = model.partition("?")
        name = self._known(name)
        own = dict(parse_qsl(text, keep_blank_values=True))
        if unknown := sorted(own.keys() - set(MODEL_OPTIONS)):
            raise ConfigurationError(f"A model has no option {unknown[0]}; choose from {', '.join(MODEL_OPTIONS)}.")
        options = {key: value for key, value in (query or {}).items() if key in MODEL_OPTIONS} | own
        speed = options.get("serves") or speed
        fault = parse_fault(options["fault"]) if options.get("fault") else self._faults.get(name)
        if options.get("fault_speed") not in (None, speed or "standard"):
            fault = None
        after = int(_number(options, "after")) if "after" in options else None
        return ServedModel(
            name=MODEL_PREFIX + name,
            latency=self._latency(name, options, speed),
            cache=self._caches.setdefault((name, speed == FAST), PrefixCache()),
            fault=fault,
            after=after,
            speed=speed,
            limits=self._limits_of(name, options, is_fast=speed == FAST),
        )

    def _limits_of(self, name: str, options: Mapping[str, str], *, is_fast: bool) -> RateLimits | None:
        """The limits of a model's fast pool, or of its usual one; requests that name the same limits share them."""
        option = "fast_tokens" if is_fast else "requests"
        if option not in options:
            return None
        key = (name, is_fast, options[option])
        if key not in self._limits:
            limit = _number(options, option)
            # Conversations are several times longer than answers [A].
            limits = {"input-tokens": 10 * limit, "output-tokens": limit} if is_fast else {"requests": limit}
            self._limits[key] = RateLimits(limits, self.clock)
        return self._limits[key]

    def _known(self, model: str) -> str:
        name = model.removeprefix(MODEL_PREFIX)
        if name not in self.profiles:
            raise UnknownModelError(f"There is no simulated model {name}; choose one of {', '.join(self.profiles)}.")
        return name

    def _latency(self, name: str, options: Mapping[str, str], speed: str | None) -> LatencyModel:
        changes: dict[str, Any] = {}
        if "ttft_ms" in options:
            fixed = _number(options, "ttft_ms") / 1000
            changes |= {"p50": fixed, "p95": fixed, "longest": fixed, "stall_rate": 0.0, "error_rate": 0.0}
        if "tokens_per_s" in options:
            changes["tokens_per_s"] = _number(options, "tokens_per_s")
        profile = replace(self.profiles[name], **changes)
        profile = replace(profile, tokens_per_s=profile.tokens_per_s * profile.speeds.get(speed or "", 1.0))
        key = repr(profile)
        if key not in self._latencies:
            self._latencies[key] = LatencyModel(profile, self._stalls[profile.provider], self.seed)
        return self._latencies[key]


def _number(options: Mapping[str, str], key: str) -> float:
    try:
        value = float(options[key])
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ConfigurationError(f"The option {key} must be a number above 0, not {options[key]}.")
    return value
