"""The timetable of a call: the server's actions and their times, for a healthy model and for every fault. Pure."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from pipelines.lab.simulator.conversation import tokens
from pipelines.lab.simulator.latency_model import LatencyModel
from voice.errors import ConfigurationError

KEEPALIVE_EVERY = 0.1
DRIBBLE_EVERY = 0.3
SLOW_CONNECT = 1.5
"""Seconds that the fault adds to opening a connection."""


class Fault(StrEnum):
    """A fault of a simulated server."""

    SILENT = "silent"
    """It accepts the request and never answers."""
    KEEPALIVE = "keepalive"
    """It sends signs of life without any text, and never an answer."""
    DRIBBLE = "dribble"
    """It sends one character every 0.3 s."""
    REFUSE = "refuse"
    """It resets the connection before answering."""
    UNAUTHORIZED = "401"
    NO_CREDIT = "402"
    """The account has no credit."""
    LOW_CREDIT = "low-credit"
    """The same in Anthropic's form: a bad request (400) whose message names the credit."""
    FORBIDDEN = "403"
    RETIRED = "404"
    """The provider has withdrawn the model."""
    RATE_LIMITED = "429"
    SERVER_ERROR = "500"
    OVERLOADED = "529"
    MIDFAIL = "midfail"
    """It reports an error in the middle of the answer."""
    OVERLOAD_EVENT = "overload-event"
    """It accepts the request, begins the stream, and reports there that it is overloaded, before any text or after a
    given number of tokens."""
    SLOW_CONNECT = "slow-connect"
    """A new connection takes 1.5 s longer."""
    CUT_SOCKET = "cut-socket"
    """It resets the connection in the middle of the answer."""
    WRONG = "wrong"
    """It answers in time, and the first number that it states is wrong."""


STATUSES = {
    Fault.UNAUTHORIZED: 401,
    Fault.NO_CREDIT: 402,
    Fault.LOW_CREDIT: 400,
    Fault.FORBIDDEN: 403,
    Fault.RETIRED: 404,
    Fault.RATE_LIMITED: 429,
    Fault.SERVER_ERROR: 500,
    Fault.OVERLOADED: 529,
}


MESSAGES = {Fault.LOW_CREDIT: "Your credit balance is too low to access the API (simulated)."}


@dataclass(frozen=True, slots=True)
class SendText:
    """Send `tokens` tokens of text, `at` seconds after the request."""

    at: float
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class SendThought:
    """Send `tokens` tokens of the model's thoughts before the answer."""

    at: float
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """Send a sign of life without text."""

    at: float


@dataclass(frozen=True, slots=True)
class Failure:
    """Report an error with this HTTP status and message, or the status's usual one; nothing follows."""

    at: float
    status: int
    message: str | None = None


@dataclass(frozen=True, slots=True)
class ResetConnection:
    """Reset the connection; nothing follows."""

    at: float


@dataclass(frozen=True, slots=True)
class Hang:
    """Send nothing more and keep the connection open."""

    at: float


Action = SendText | SendThought | KeepAlive | Failure | ResetConnection | Hang


def parse_fault(text: str) -> Fault:
    """The fault with this name.

    Raises:
        ConfigurationError: there is no such fault.
    """
    try:
        return Fault(text)
    except ValueError:
        raise ConfigurationError(f"There is no fault {text}; choose one of {', '.join(Fault)}.") from None


def timetable(
    text: str,
    model: LatencyModel,
    *,
    now: float,
    uncached_tokens: int = 0,
    fault: Fault | None = None,
    fault_after: int | None = None,
    thought: str = "",
) -> Iterator[Action]:
    """The actions of one call in order; the answer is complete after the last one.

    Args:
        text: the whole answer.
        model: draws the latencies.
        now: when the request arrived, seconds on the clock of the stalls.
        uncached_tokens: tokens of its prefix that are not in the cache.
        fault: the server's fault, or None.
        fault_after: tokens sent before a fault in the middle of the answer; None means half of the answer.
        thought: the model's thoughts before the answer, at its output rate; the first token is then one of them.
    """
    first = model.first_token(now, uncached_tokens=uncached_tokens)
    rtt = model.profile.rtt
    if fault is Fault.SILENT:
        yield Hang(rtt)
    elif fault is Fault.REFUSE:
        yield ResetConnection(rtt)
    elif fault in STATUSES:
        yield Failure(rtt, STATUSES[fault], MESSAGES.get(fault))
    elif fault is Fault.KEEPALIVE:
        yield from (KeepAlive(rtt + count * KEEPALIVE_EVERY) for count in itertools.count())
    elif fault is Fault.DRIBBLE:
        yield from (SendText(first.after + index * DRIBBLE_EVERY, char, 1) for index, char in enumerate(text))
    elif first.error is not None:
        yield Failure(first.after, first.error)
    elif fault in (Fault.MIDFAIL, Fault.CUT_SOCKET):
        sent = tokens(text)
        kept = max(1, len(sent) // 2) if fault_after is None else min(fault_after, len(sent))
        last = first.after
        for chunk in _chunks(sent[:kept], first.after, model):
            last = chunk.at
            yield chunk
        last += model.gap()
        yield Failure(last, 500) if fault is Fault.MIDFAIL else ResetConnection(last)
    elif fault is Fault.OVERLOAD_EVENT:
        last = first.after
        yield KeepAlive(last)
        for chunk in _chunks(tokens(text)[: fault_after or 0], last, model):
            last = chunk.at
            yield chunk
        yield Failure(last, STATUSES[Fault.OVERLOADED])
    else:
        start = first.after
        for chunk in _chunks(tokens(thought), start, model):
            start = chunk.at
            yield SendThought(chunk.at, chunk.text, chunk.tokens)
        yield from _chunks(tokens(text), start + model.gap() if thought else start, model)


def _chunks(words: list[str], first: float, model: LatencyModel) -> Iterator[SendText]:
    """Groups tokens into messages; each is sent when its last token exists, the first one at `first`."""
    at, index = first, 0
    while index < len(words):
        size = model.chunk(len(words) - index)
        if index:
            at += sum(model.gap() for _ in range(size))
        yield SendText(at, "".join(words[index : index + size]), size)
        index += size
