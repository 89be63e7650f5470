"""A call by microphone and loudspeaker in one simulated room: the product's own line, and a card that feeds back."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from latency.record.turn import ServerTurn
from tests.voice.client.sound.simulated_room import SimulatedRoom
from voice.client.call.call_result import CallResult
from voice.client.call.session import CallSession
from voice.client.caller.scripted_caller import PlacedTurn, ScriptedCaller
from voice.client.fixtures.fixture import FixtureTurn
from voice.client.playback.playout import Playout
from voice.client.sound.device_line import DeviceLine
from voice.client.sound.echo_canceller import EchoCanceller
from voice.client.sound.pcm import MESSAGE_SAMPLES, RATE
from voice.client.sound.sound_card import CARD_BLOCK, DuplexCallback

ANSWERED_WITHIN = 1.0
"""Seconds after the user's speech in which it may still have stopped the agent."""


class RoomCard:
    """A sound card that calls back in real time, and whose microphone stands in a room with its loudspeaker."""

    latency = (0.01, 0.01)

    def __init__(self, room: SimulatedRoom, caller: ScriptedCaller) -> None:
        self.playout: Playout | None = None
        """What the caller listens to; set before the start."""
        self.hung_up = threading.Event()
        self._room, self._caller = room, caller
        self._callback: DuplexCallback | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def open(self, callback: DuplexCallback) -> "RoomCard":
        self._callback = callback
        return self

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        assert self.playout
        assert self._callback
        heard = np.zeros(MESSAGE_SAMPLES, np.int16)
        start, samples = time.monotonic(), 0
        while not self._closed.wait(max(0.0, start + samples / RATE - time.monotonic())):
            played = bytearray(2 * MESSAGE_SAMPLES)
            for at in range(0, MESSAGE_SAMPLES, CARD_BLOCK):
                both = slice(2 * at, 2 * (at + CARD_BLOCK))
                self._callback(heard[at : at + CARD_BLOCK].tobytes(), memoryview(played)[both], CARD_BLOCK, None, False)
            said = self._caller.next_frame(samples / RATE, self.playout)
            if said is None:
                self.hung_up.set()
                return
            heard = self._room.hear(np.frombuffer(bytes(played), np.int16), said)
            samples += MESSAGE_SAMPLES


class RoomLine(DeviceLine):
    """The line of `voice talk` with this card."""

    def __init__(self, card: RoomCard, placed: Sequence[PlacedTurn], *, cancels: bool) -> None:
        canceller: Callable[[float], EchoCanceller] = lambda latency: EchoCanceller(latency=latency)  # noqa: E731
        super().__init__(canceller=canceller if cancels else None, open_stream=card.open)
        self.placed = placed
        self._card = card

    def open(self, *, keep: bool) -> Playout:
        start, self._card.start = self._card.start, lambda: None  # type: ignore[method-assign]
        self._card.playout = super().open(keep=keep)
        start()
        return self._card.playout


async def call_in_a_room(
    url: str, turns: Sequence[FixtureTurn], room: SimulatedRoom, *, cancels: bool, longest: float = 1800.0
) -> CallResult:
    """Make the call: the caller says the turns, hears the answers, and the microphone hears both."""
    caller = ScriptedCaller(turns)
    card = RoomCard(room, caller)
    session = CallSession(url, RoomLine(card, caller.placed, cancels=cancels))
    running = asyncio.create_task(session.run())
    with contextlib.suppress(asyncio.CancelledError, TimeoutError):
        async with asyncio.timeout(longest):
            while not (running.done() or card.hung_up.is_set()):
                await asyncio.sleep(0.05)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    return session.result()


def stopped_without_cause(result: CallResult) -> int:
    """How often the agent was stopped while the caller said nothing."""
    causes = [(turn.onset, turn.end + ANSWERED_WITHIN) for turn in result.placed]
    return sum(not any(start <= at <= end for start, end in causes) for at in result.flushes)


def false_turns(result: CallResult) -> list[ServerTurn]:
    """The turns with words in which the caller had said nothing; a busy machine may hear the caller's late."""
    causes = [(turn.onset, turn.end + 3.0) for turn in result.placed]
    texts = {turn.turn.text for turn in result.placed}
    return [
        one.turn
        for one in result.turns
        if one.turn.heard
        and one.turn.heard not in texts
        and not any(start <= result.stopped(one) <= end for start, end in causes)
    ]


def understood(result: CallResult) -> int:
    """How many of the caller's turns the recogniser got word for word."""
    heard = " ".join(one.turn.heard or "" for one in result.turns)
    return sum(turn.turn.text in heard for turn in result.placed)


def spoken_by_the_agent(result: CallResult) -> float:
    """Seconds in which the agent was heard."""
    return sum(one.end - one.start for one in result.utterances)
