"""The interface of an agent's protocol: one class for each protocol, registered under `latency.protocols`."""

from abc import ABC, abstractmethod

from voice.client.sound.pcm import Pcm
from voice.wire.framing import Incoming

PROTOCOLS = "latency.protocols"
"""Entry-point group: a protocol's name and its `AgentCall`, which is made with the agent's URL as the only argument."""


class CallOver(Exception):
    """The connection is gone for good; the message is the reason, a clause."""


class AgentCall(ABC):
    """One call to an agent in the agent's own protocol; used once.

    Making it connects to nothing, but refuses a wrong address or a missing key (`ConfigurationError`).
    """

    @abstractmethod
    async def open(self) -> None:
        """Connect, and return when the agent listens.

        Raises:
            CallRefused: the agent takes no more calls now.
            ComponentError: the agent cannot be reached, or refuses the call for another reason.
        """

    @abstractmethod
    async def send_audio(self, pcm: Pcm) -> None:
        """Send the caller's next samples, 16 kHz mono; called in real time, every 16 ms.

        Raises:
            CallOver: there is no connection any more.
        """

    @abstractmethod
    async def receive(self) -> Incoming:
        """The agent's next audio (`AudioPacket`), or an order to drop audio that is not played yet (`Interruption`).

        Raises:
            CallOver: there is no connection any more.
            WireError: the agent violated the protocol.
        """

    @abstractmethod
    async def close(self) -> None:
        """Hang up; called once, even if `open` failed."""

    def cost(self, *, seconds: float, turns: int) -> float | None:
        """The expected price of a conversation in USD; None if it is billed at an unknown price.

        Args:
            seconds: of the caller's speech.
            turns: the number of answers.
        """
        return 0.0
