"""Requests of a client to this project's servers during a call, and the answers: typed, with their JSON. Pure.

RTVI carries each request in a `client-message` and its answer in a `server-response`; both name the topic.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from msgspec import ValidationError, convert, to_builtins

from voice.errors import WireError


class _Data:
    """A request or an answer whose fields are its JSON."""

    __slots__ = ()
    topic: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Its data."""
        data: dict[str, Any] = to_builtins(self)
        return data


@dataclass(frozen=True, slots=True)
class ClockPing(_Data):
    """Asks for the server's monotonic clock."""

    topic: ClassVar[str] = "clock"
    client: Any
    """The client's clock, repeated in the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockPong(_Data):
    """Answers a `ClockPing`."""

    topic: ClassVar[str] = "clock"
    server: float
    """The server's monotonic clock at the answer, seconds."""
    client: Any = None
    """The client's clock from the ping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapRequest(_Data):
    """Requests another policy, a single tier, or another speed of the large tier, from the next turn on.

    Without any of them, it asks for the present state.
    """

    topic: ClassVar[str] = "llm"
    policy: str | None = None
    tier: str | None = None
    speed: str | None = None
    """"fast" or "standard"."""

    def to_json(self) -> dict[str, str]:
        """The fields that it sets."""
        return {key: name for key, name in to_builtins(self).items() if name is not None}

    @classmethod
    def from_json(cls, data: Any) -> "SwapRequest":
        """Read a request; no data at all changes nothing.

        Raises:
            WireError: it is not a swap request; the sentence says what to send instead.
        """
        form = 'send {"policy": name}, {"tier": name}, {"speed": name}, or {} to ask what is in force'
        if data is None:
            return cls()
        if not isinstance(data, Mapping):
            raise WireError(f"A swap must be a JSON object, not {type(data).__name__}; {form}.")
        if unknown := sorted(str(key) for key in data.keys() - {"policy", "tier", "speed"}):
            raise WireError(f'A swap has no "{unknown[0]}"; {form}.')
        if len(data) > 1:
            raise WireError(f"A swap names a policy, a tier or a speed, and only one of them; {form}.")
        for key, name in data.items():
            if not isinstance(name, str):
                raise WireError(f"The {key} of a swap must be its name, not {type(name).__name__}; {form}.")
        return cls(**data)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapState(_Data):
    """Answers a `SwapRequest`: the settings from the next turn on, and the alternatives."""

    topic: ClassVar[str] = "llm"
    policy: str | None
    tier: str | None
    """The only tier asked; None if the policy asks several."""
    tiers: tuple[str, ...]
    """All tiers of the call."""
    policies: tuple[str, ...]
    """The policies possible with these tiers."""
    speed: str | None = None
    """The large tier's speed, "fast" or "standard"; None if it has only one."""
    overridden: str | None = None
    """Why another tier answers instead, such as a spending cap; None otherwise."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SwapState":
        """Read an answer; missing fields are None or empty."""
        return cls(
            policy=_name(data.get("policy")),
            tier=_name(data.get("tier")),
            tiers=_names(data.get("tiers")),
            policies=_names(data.get("policies")),
            speed=_name(data.get("speed")),
            overridden=_name(data.get("overridden")),
        )


@dataclass(frozen=True, slots=True)
class InterruptRequest(_Data):
    """Asks the agent to stop speaking, as if the user had said so; the answer has the same topic and no data."""

    topic: ClassVar[str] = "interrupt"


@dataclass(frozen=True, slots=True)
class Custom:
    """A request or an answer on a topic that this project does not define."""

    topic: str
    data: Any = None
    """Any JSON."""

    def to_json(self) -> Any:
        """The data."""
        return self.data


Request: TypeAlias = ClockPing | SwapRequest | InterruptRequest | Custom
Reply: TypeAlias = ClockPong | SwapState | Custom


def read_request(topic: str, data: Any) -> Request:
    """A client's request.

    Raises:
        WireError: its topic is a swap, but its data is not.
    """
    if topic == ClockPing.topic and isinstance(data, Mapping):
        return ClockPing(data.get("client"))
    if topic == SwapRequest.topic:
        return SwapRequest.from_json(data)
    if topic == InterruptRequest.topic:
        return InterruptRequest()
    return Custom(topic, data)


def read_reply(topic: str, data: Any) -> Reply:
    """A server's answer.

    Raises:
        WireError: its topic is the clock, but it lacks the server's.
    """
    if topic == ClockPong.topic:
        try:
            return convert(data, ClockPong)
        except ValidationError as error:
            raise WireError(
                "The server answered a clock ping without its clock; is it another version of this project?"
            ) from error
    if topic == SwapState.topic and isinstance(data, Mapping):
        return SwapState.from_json(data)
    return Custom(topic, data)


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _names(value: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, list | tuple) else ()
