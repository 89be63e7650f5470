"""The simulator's state, which all requests share: models, faults, prefix caches and the journal."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import parse_qsl

from voice.errors import ConfigurationError
from voice.simulator.connections import Connections
from voice.simulator.conversation import Message, OfferedTool, ScriptedAnswer
from voice.simulator.journal import Journal
from voice.simulator.script import ConversationScript
from voice.simulator.timing.latency_model import LatencyModel, StallState
from voice.simulator.timing.prefix_cache import PrefixCache
from voice.simulator.timing.profiles import load_profiles
from voice.simulator.timing.timetable import SLOW_CONNECT, Fault, parse_fault

MODEL_PREFIX = "sim:"
DEFAULT_MODEL = "gpt-5.4-mini"
"""The model whose network applies to a connection that is opened without naming a model."""
MODEL_OPTIONS = ("fault", "after", "ttft_ms", "tokens_per_s")
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
    """

    name: str
    latency: LatencyModel
    cache: PrefixCache
    fault: Fault | None
    after: int | None

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
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.preset = preset
        self.seed = random.SystemRandom().getrandbits(32) if seed is None else seed
        self.profiles = load_profiles(preset)
        self.socket_life = socket_life
        self.on_cancel = on_cancel
        self.clock = clock
        self._fixed = None if answer is None else ScriptedAnswer(answer)
        self.journal = Journal(clock)
        self.connections = Connections()
        self._script = ConversationScript(self.seed)
        # Building the responder's grammar takes tenths of a second, which would add to the first request's latency.
        self.answer([Message("user", "hello")], ())
        self._stalls = {p.provider: StallState(p.provider, self.seed) for p in self.profiles.values()}
        self._latencies: dict[str, LatencyModel] = {}
        self._caches: dict[str, PrefixCache] = {}
        self._faults: dict[str, Fault] = {}
        for model, fault in (faults or {}).items():
            self.set_fault(model, fault)

    def answer(self, messages: Sequence[Message], tools: Sequence[OfferedTool]) -> ScriptedAnswer:
        """The answer of any model to a conversation, at the current time."""
        return self._fixed or self._script.answer(messages, tools, now=datetime.now().astimezone())

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

    def serve(self, model: str, query: Mapping[str, str] | None = None) -> ServedModel:
        """The model that serves a request, with its options.

        Args:
            model: "sim:sonnet", "sonnet", or with options "sim:steady?ttft_ms=300&fault=midfail&after=4".
            query: options from the request's URL; options in the model name take precedence.

        Raises:
            ConfigurationError: the model or an option is unknown, or a value is not allowed.
        """
        name, _, text = model.partition("?")
        name = self._known(name)
        own = dict(parse_qsl(text, keep_blank_values=True))
        if unknown := sorted(own.keys() - set(MODEL_OPTIONS)):
            raise ConfigurationError(f"A model has no option {unknown[0]}; choose from {', '.join(MODEL_OPTIONS)}.")
        options = {key: value for key, value in (query or {}).items() if key in MODEL_OPTIONS} | own
        fault = parse_fault(options["fault"]) if options.get("fault") else self._faults.get(name)
        after = int(_number(options, "after")) if "after" in options else None
        return ServedModel(
            name=MODEL_PREFIX + name,
            latency=self._latency(name, options),
            cache=self._caches.setdefault(name, PrefixCache()),
            fault=fault,
            after=after,
        )

    def _known(self, model: str) -> str:
        name = model.removeprefix(MODEL_PREFIX)
        if name not in self.profiles:
            raise UnknownModelError(f"There is no simulated model {name}; choose one of {', '.join(self.profiles)}.")
        return name

    def _latency(self, name: str, options: Mapping[str, str]) -> LatencyModel:
        changes: dict[str, Any] = {}
        if "ttft_ms" in options:
            fixed = _number(options, "ttft_ms") / 1000
            changes |= {"p50": fixed, "p95": fixed, "longest": fixed, "stall_rate": 0.0, "error_rate": 0.0}
        if "tokens_per_s" in options:
            changes["tokens_per_s"] = _number(options, "tokens_per_s")
        profile = replace(self.profiles[name], **changes)
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
