"""The keys of `voice talk` that choose another language model during a call, and the server's replies to them."""

import asyncio
from collections.abc import Callable

from voice.wire.messages import ClientMessage
from voice.wire.requests import Reply, SwapRequest, SwapState

_NOW = SwapRequest()
SWAP_KEYS: dict[str, tuple[str, SwapRequest]] = {
    "l": ("large only", SwapRequest(tier="large")),
    "f": ("fast only", SwapRequest(tier="fast")),
    "a": ("adaptive", SwapRequest(policy="adaptive")),
    "r": ("race", SwapRequest(policy="race")),
    "b": ("fallback", SwapRequest(policy="fallback")),
    "?": ("now", _NOW),
}
"""Each key's label and its request."""
UNANSWERED = 3.0
"""Seconds after which a server that has not answered a request is assumed not to know it."""
NOT_KNOWN = "No answer from the server: it has no language models to choose from."


class SwapKeys:
    """Sends the requests and shows their outcome. Each call has one, on its event loop.

    Args:
        send: sends a request to the server.
        say: shows one line.
    """

    def __init__(self, send: Callable[[SwapRequest], ClientMessage], say: Callable[[str], None]) -> None:
        self.active = False
        """Whether keys are read from the terminal."""
        self.several = False
        """Whether the server has reported more than one tier."""
        self._send = send
        self._say = say
        self._first: ClientMessage | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def open(self) -> None:
        """The call begins: ask which tiers there are. Nothing is shown if the server does not answer."""
        self._first = self._send(_NOW)

    def press(self, key: str) -> None:
        """A key was typed; keys without a meaning are ignored."""
        if (meaning := SWAP_KEYS.get(key.lower())) is None:
            return
        asked = self._send(meaning[1])
        loop = asyncio.get_running_loop()
        self._timers[asked.id] = loop.call_later(UNANSWERED, self._give_up, asked)

    def answered(self, asked: ClientMessage, reply: Reply) -> None:
        """The server has carried out a request."""
        if not isinstance(reply, SwapState):
            return
        self._settle(asked)
        self.several = len(reply.tiers) > 1
        if asked == self._first:
            if self.several and self.active:
                self._say(" · ".join(f"{key} {name}" for key, (name, _) in SWAP_KEYS.items()))
            return
        but = f"; but {reply.overridden}" if reply.overridden else ""
        self._say(f"{'now in use' if asked.request == _NOW else 'from your next turn on'}: {_described(reply)}{but}")

    def refused(self, asked: ClientMessage, reason: str) -> None:
        """The server has refused a request."""
        if isinstance(asked.request, SwapRequest):
            self._settle(asked)
            if asked != self._first:
                self._say(reason)

    def close(self) -> None:
        """The call is over; stop waiting for answers."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _give_up(self, asked: ClientMessage) -> None:
        self._settle(asked)
        self._say(NOT_KNOWN)

    def _settle(self, asked: ClientMessage) -> None:
        if timer := self._timers.pop(asked.id, None):
            timer.cancel()


def _described(state: SwapState) -> str:
    if state.tier is None:
        return str(state.policy)
    return f"{state.tier} only" if state.policy == "single" else f"{state.policy}, {state.tier} only"
