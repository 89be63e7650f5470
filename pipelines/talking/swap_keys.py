"""The keys of `voice talk` that take another language model in mid-call, and what the server says to that."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from voice.wire.client_wire import ClientMessage

MESSAGE = "llm"
"""Type of the client message that swaps or asks."""
KEYS: dict[str, tuple[str, dict[str, str]]] = {
    "l": ("large only", {"tier": "large"}),
    "f": ("fast only", {"tier": "fast"}),
    "a": ("adaptive", {"policy": "adaptive"}),
    "r": ("race", {"policy": "race"}),
    "b": ("fallback", {"policy": "fallback"}),
    "?": ("now", {}),
}
"""What each key is called, and the request that it makes."""
UNANSWERED = 3.0
"""Seconds after which a server that says nothing to a request is taken not to know it."""
NOT_KNOWN = "The server does not answer: it has no language models to choose from."


class SwapKeys:
    """Makes the requests and says what came of them. One for each call, on its event loop.

    Args:
        send: sends a client message of a type with its data.
        say: shows one line.
    """

    def __init__(self, send: Callable[[str, Any], ClientMessage], say: Callable[[str], None]) -> None:
        self.active = False
        """Whether keys are read at all."""
        self.several = False
        """Whether the server has said that it has more than one tier."""
        self._send = send
        self._say = say
        self._first: ClientMessage | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def open(self) -> None:
        """The call begins: find out what there is to choose from. A server that cannot tell is let be."""
        self._first = self._send(MESSAGE, {})

    def press(self, key: str) -> None:
        """A key was typed; those that mean nothing do nothing."""
        if (meaning := KEYS.get(key.lower())) is None:
            return
        asked = self._send(MESSAGE, meaning[1])
        loop = asyncio.get_running_loop()
        self._timers[asked.id] = loop.call_later(UNANSWERED, self._give_up, asked)

    def answered(self, asked: ClientMessage, data: Any) -> None:
        """The server has carried a request out."""
        if asked.type != MESSAGE or not isinstance(data, Mapping):
            return
        self._settle(asked)
        tiers = data.get("tiers")
        self.several = isinstance(tiers, list) and len(tiers) > 1
        if asked == self._first:
            if self.several and self.active:
                self._say(" · ".join(f"{key} {name}" for key, (name, _) in KEYS.items()))
            return
        self._say(f"{'from your next turn on' if asked.data else 'in force'}: {_described(data)}")

    def refused(self, asked: ClientMessage, reason: str) -> None:
        """The server has refused a request."""
        if asked.type == MESSAGE:
            self._settle(asked)
            if asked != self._first:
                self._say(reason)

    def close(self) -> None:
        """The call is over; what is still unanswered stays so."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _give_up(self, asked: ClientMessage) -> None:
        self._settle(asked)
        self._say(NOT_KNOWN)

    def _settle(self, asked: ClientMessage) -> None:
        if timer := self._timers.pop(asked.id, None):
            timer.cancel()


def _described(state: Mapping[str, Any]) -> str:
    tier, policy = state.get("tier"), state.get("policy")
    if tier is None:
        return str(policy)
    return f"{tier} only" if policy == "single" else f"{policy}, {tier} only"
