"""The keys of `voice talk`: the microphone's, and those that choose another language model or speed."""

import asyncio
from collections.abc import Callable

from voice.client.sound.device_line import DeviceLine
from voice.wire.messages import ClientMessage
from voice.wire.requests import Reply, SwapRequest, SwapState

INTERRUPT = "i"
MARK = "x"
MUTE = "m"
TALK = " "


class TalkKeys:
    """Handles keys while a call is under way.

    Args:
        line: the microphone and the loudspeaker.
        say: shows one line.
        interrupt: makes the agent stop speaking.
        mark: marks the latest turn as bad, or removes the mark.
        others: handles the other keys.
        push_to_talk: whether the microphone is off until the space bar is pressed, and again after the next press: a
            terminal does not report when a key is released.
    """

    def __init__(
        self,
        line: DeviceLine,
        *,
        say: Callable[[str], None],
        interrupt: Callable[[], object],
        mark: Callable[[], None],
        others: Callable[[str], None],
        push_to_talk: bool = False,
    ) -> None:
        self._line, self._say, self._push_to_talk = line, say, push_to_talk
        self._interrupt, self._mark, self._others = interrupt, mark, others
        line.muted = push_to_talk

    @property
    def help(self) -> str:
        """The help for the keys of every call."""
        microphone = "space talk / stop talking" if self._push_to_talk else f"{MUTE} mute"
        return f"{microphone} · {INTERRUPT} interrupt · {MARK} mark a bad turn"

    def press(self, key: str) -> None:
        """Handle a typed key."""
        if key.lower() == MUTE or (key == TALK and self._push_to_talk):
            self._line.muted = not self._line.muted
            self._say("the microphone is off" if self._line.muted else "the microphone is on")
        elif key.lower() == INTERRUPT:
            self._interrupt()
        elif key.lower() == MARK:
            self._mark()
        else:
            self._others(key)


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
SPEED, FAST = "s", "↯"
"""The key that changes the large model's speed, and the sign of the fast one."""
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
        self._speed: str | None = None
        self._first: ClientMessage | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def open(self) -> None:
        """Begin the call: ask for its tiers. Nothing is shown if the server does not answer."""
        self._first = self._send(_NOW)

    def press(self, key: str) -> None:
        """Handle a typed key; keys without a meaning are ignored."""
        if key.lower() == SPEED:
            request = SwapRequest(speed="standard" if self._speed == "fast" else "fast")
        elif meaning := SWAP_KEYS.get(key.lower()):
            request = meaning[1]
        else:
            return
        asked = self._send(request)
        loop = asyncio.get_running_loop()
        self._timers[asked.id] = loop.call_later(UNANSWERED, self._give_up, asked)

    def answered(self, asked: ClientMessage, reply: Reply) -> None:
        """Show the result of a request."""
        if not isinstance(reply, SwapState):
            return
        self._settle(asked)
        self.several, self._speed = len(reply.tiers) > 1, reply.speed
        if asked == self._first:
            if self.several and self.active:
                self._say(" · ".join(f"{key} {name}" for key, (name, _) in SWAP_KEYS.items()))
            if reply.speed and self.active:
                other = "usual" if reply.speed == "fast" else f"fast {FAST}"
                self._say(f"{SPEED} the {'large ' if self.several else ''}model at its {other} speed")
            return
        but = f"; but {reply.overridden}" if reply.overridden else ""
        self._say(f"{'now in use' if asked.request == _NOW else 'from your next turn on'}: {_described(reply)}{but}")

    def refused(self, asked: ClientMessage, reason: str) -> None:
        """Show that the server refused a request."""
        if isinstance(asked.request, SwapRequest):
            self._settle(asked)
            if asked != self._first:
                self._say(reason)

    def close(self) -> None:
        """End the call: stop waiting for answers."""
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
    fast = f" at fast speed {FAST}" if state.speed == "fast" else ""
    if state.tier is None:
        return f"{state.policy}{fast and f', the large model{fast}'}"
    # The speed is the large tier's.
    fast = fast if state.tier != "fast" else ""
    return f"{state.tier} only{fast}" if state.policy == "single" else f"{state.policy}, {state.tier} only{fast}"
