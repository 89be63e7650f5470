"""One open WebSocket of the Responses API: sends requests, receives events, and tracks the state of its request."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import WebSocketException

from voice.llm.wires.events import ProviderError, WireError, identifier, is_error, mapping, parsed
from voice.llm.wires.responses.chain import Chain
from voice.llm.wires.responses.socket_upkeep import OpenSocket, State

SEND_WITHIN = 1.0
PONG_WITHIN = 1.0
"""Seconds."""
RESPONSE_ENDS = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
WORN_OUT = "websocket_connection_limit_reached"


class Socket:
    """An open WebSocket and its server's state. Once `ended` is set, its request is over and it is clean."""

    def __init__(self, websocket: ClientConnection, opened: float) -> None:
        self.websocket, self.opened = websocket, opened
        self.used: float | None = None
        self.state: State = "free"
        self.chain: Chain | None = None
        self.response_id: str | None = None
        self.asked = self.ended = False
        self._announces = self._has_begun = False

    @property
    def held(self) -> OpenSocket:
        """The socket's state for its upkeep."""
        return OpenSocket(self.opened, self.used, self.state)

    async def ask(self, request: Mapping[str, Any]) -> None:
        """Send a `response.create`; its events follow. Unread events of the last response are dropped."""
        with contextlib.suppress(TimeoutError):
            while True:
                async with asyncio.timeout(0):
                    await self.websocket.recv()
        self.asked, self.ended, self.response_id, self._has_begun = True, False, None, False
        await self._send({"type": "response.create", **request})

    async def cancel(self) -> None:
        """Cancel the response; if the server complies, the response's last event still follows."""
        await self._send({"type": "response.cancel", "response_id": self.response_id})

    async def recv(self, within: float | None = None) -> dict[str, Any]:
        """The next event of this request.

        Events of another response are dropped, and, if the server announces the beginning of responses, all events
        before it.

        Args:
            within: the longest wait, seconds.

        Raises:
            TimeoutError: no event came in time.
            ConnectionClosed: the socket is lost.
            WireError: the server sent something that is not an event of the Responses API.
        """
        async with asyncio.timeout(within):
            while self._is_stale(event := self._read(await self.websocket.recv())):
                pass
        kind = event["type"]
        if kind == "response.created":
            self.response_id = identifier(mapping(event.get("response")).get("id"))
            self._announces = self._has_begun = True
        elif kind in RESPONSE_ENDS:
            self.ended = True
        elif kind == "error":
            self.ended = ProviderError(event).code != WORN_OUT
        return event

    def _is_stale(self, event: Mapping[str, Any]) -> bool:
        """Whether an event belongs to an earlier response. A refused request never begins."""
        about = identifier(event.get("response_id")) or identifier(mapping(event.get("response")).get("id"))
        if self.response_id is not None and about is not None:
            return about != self.response_id
        refuses = ("response.created", "response.failed", "error")
        return self._announces and not self._has_begun and event["type"] not in refuses

    def _read(self, message: str | bytes) -> dict[str, Any]:
        try:
            event = parsed(message)
        except (ValueError, RecursionError) as error:
            raise WireError(_instead("no JSON")) from error
        if not isinstance(event, dict) or not (isinstance(event.get("type"), str) or is_error(event)):
            raise WireError(_instead("JSON of another kind"))
        event.setdefault("type", "error")
        return event

    async def answers(self) -> bool:
        """Whether the other end still responds; a network that drops packets does not report a loss."""
        pong = None
        try:
            async with asyncio.timeout(PONG_WITHIN):
                pong = await self.websocket.ping()
                await pong
        except TimeoutError:
            # If this process was stalled, the pong and the timeout arrive together.
            return isinstance(pong, asyncio.Future) and pong.done() and not pong.cancelled()
        except WebSocketException:
            return False
        return True

    async def _send(self, event: Mapping[str, Any]) -> None:
        async with asyncio.timeout(SEND_WITHIN):
            await self.websocket.send(json.dumps(event, separators=(",", ":"), ensure_ascii=False))


def _instead(what: str) -> str:
    return f"answered with {what}, not with an event of the Responses API: check base_url"
