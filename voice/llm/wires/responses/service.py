"""OpenAI's Responses over persistent WebSockets, warmed up before the turn; only new items are sent."""

import asyncio
import functools
import ssl
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import Frame, LLMMessagesAppendFrame, UserStartedSpeakingFrame
from pipecat.processors.aggregators.llm_context import NOT_GIVEN, LLMContext
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.openai.responses.llm import OpenAIResponsesLLMService, OpenAIResponsesReasoningConfig
from pipecat.services.websocket_service import _BoundedConnection
from websockets.asyncio.client import ClientConnection

from voice.environment import proxy_for
from voice.llm.answer.provider_note import ProviderNote
from voice.llm.tiers.tier import note, sampling, sign_of_life
from voice.llm.wires.chat.service import make_client
from voice.llm.wires.connections import OPENAI
from voice.llm.wires.delivery import deliver, push_failure
from voice.llm.wires.events import Event, ProviderError, WireError, identifier, listed, mapping
from voice.llm.wires.responses.chain import Chain
from voice.llm.wires.responses.reader import ResponseReader
from voice.llm.wires.responses.socket import Socket
from voice.llm.wires.responses.warm_sockets import WarmSockets
from voice.redirects import DirectConnection

ROTATE_AFTER = 55 * 60.0
"""Seconds; OpenAI closes a socket after 60 minutes."""
PING_EVERY = 10.0
LARGEST_EVENT = 2**24
"""The most bytes of an event; the last one of a response repeats its instructions and tools."""
UNKNOWN_RESPONSE = "previous_response_not_found"


class _Connection(DirectConnection, _BoundedConnection):
    """pipecat's connection, with a time limit for sending and without redirects."""


class ResponsesService(OpenAIResponsesLLMService):
    """pipecat's Responses service on persistent sockets, for a `Tier`.

    pipecat's own service connects when the call starts. It notices a lost connection only at the next request, and then
    tries three times with pauses of seconds; it drains a cancelled response before the next request, for up to five
    seconds per event. This one holds two sockets: if the socket with the conversation is lost, too old, or its request
    was cancelled, the next request uses the other one at once and sends the whole conversation. Each request has its
    own socket, so several may run at the same time. A failure is reported at once as an `LLMFailureFrame`.

    Args:
        base_url: the server's HTTP URL, which usually ends in /v1; None for OpenAI.
        api_key: sent when connecting.
        headers: further headers, sent when connecting.
        model: its name on the server.
        prompt: the system prompt.
        max_tokens: the longest answer.
        silence: seconds without an event after which a request has failed.
        where: how the report names the server.
        tools: the tools of the call's contexts; without them, the prefix cached by the warm-up would not match contexts
            with tools.
        rotate_after: age from which a socket is replaced, seconds.
        speed: the service tier to request; None for the default.
        effort: how much the model thinks; None for the least effort that pipecat knows.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str,
        headers: Mapping[str, str] | None = None,
        model: str,
        prompt: str,
        max_tokens: int,
        silence: float,
        where: str,
        tools: ToolsSchema | None = None,
        rotate_after: float = ROTATE_AFTER,
        speed: str | None = None,
        effort: str | None = None,
    ) -> None:
        self._base_url, self._headers = base_url, headers or {}
        self._model, self._where, self._silence = model, where, silence
        self._tools = tools
        self._speed = speed
        settings = self.Settings(model=model, max_completion_tokens=max_tokens, system_instruction=prompt)
        if effort is not None:
            settings.reasoning = OpenAIResponsesReasoningConfig(effort=effort)
        super().__init__(api_key=api_key, ws_url=socket_url(base_url or OPENAI), service_tier=speed, settings=settings)
        self._sockets = WarmSockets(
            self._open, warm_up=self._warm_up, create_task=self.create_task, rotate_after=rotate_after
        )

    @property
    def speed(self) -> str | None:
        """The service tier of the next request; None for the default."""
        return self._speed

    def use_speed(self, speed: str | None) -> None:
        """Use another service tier from the next request on."""
        self._speed = self._service_tier = speed

    def _create_client(self, *_args: Any, **_kwargs: Any) -> Any:
        """Called by pipecat. Making an HTTP client takes a tenth of a second, and it is hardly ever needed."""
        return None

    async def run_inference(self, context: LLMContext, *args: Any, **kwargs: Any) -> str | None:
        """Make a request outside any turn, over HTTP."""
        client = await asyncio.to_thread(
            make_client,
            base_url=self._base_url,
            api_key=str(self._api_key),
            headers=self._headers,
            silence=self._silence,
        )
        async with client:
            self._client = client
            return await super().run_inference(context, *args, **kwargs)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Answer contexts; when the user starts to speak, check that the free sockets still work."""
        if isinstance(frame, UserStartedSpeakingFrame):
            self._sockets.check()
        await super().process_frame(frame, direction)

    async def _connect_websocket(self) -> None:
        self._sockets.start()

    async def _disconnect_websocket(self) -> None:
        await self._sockets.close()

    async def _open(self) -> ClientConnection:
        secure = self._ws_url.startswith("wss")
        websocket: ClientConnection = await self._websocket_connect(
            self._ws_url,
            create_connection=_Connection,
            additional_headers={"Authorization": f"Bearer {self._api_key}", **self._headers},
            ssl=await asyncio.to_thread(_tls) if secure else None,
            # An unencrypted server is on this machine or its network, never behind a proxy.
            proxy=proxy_for(self._ws_url) if secure else None,
            compression=None,
            max_size=LARGEST_EVENT,
            ping_interval=PING_EVERY,
            ping_timeout=PING_EVERY,
            open_timeout=None,
            close_timeout=0.5,
        )
        return websocket

    async def _warm_up(self, socket: Socket) -> None:
        """Have the server process the instructions and tools; the conversation continues from that response."""
        settings: Any = self._settings
        params = await self._params(LLMContext([], tools=self._tools or NOT_GIVEN))
        params |= {"instructions": settings.system_instruction, "input": [], "generate": False}
        await socket.ask(params)
        while not socket.ended:
            event = await socket.recv()
        response = mapping(event.get("response"))
        if event["type"] != "response.completed" or not response.get("id"):
            raise ProviderError(event)
        socket.chain = _chain(response, ())

    async def _process_context(self, context: LLMContext) -> None:
        is_asked = False
        try:
            params = await self._params(context)
            async with self._sockets.lent() as socket:
                is_asked = True
                await self._ask(context, params, socket)
        except Exception as error:
            await push_failure(self, error, model=self._model, where=self._where, is_asked=is_asked)
            raise

    async def _params(self, context: LLMContext) -> dict[str, Any]:
        """The fields of a `response.create` with the whole conversation."""
        settings: Any = self._settings
        invocation = await self.get_llm_adapter().get_llm_invocation_params(
            context, system_instruction=settings.system_instruction
        )
        params: dict[str, Any] = self._build_response_params(invocation)
        # The WebSocket protocol does not have this field.
        params.pop("stream")
        if own := sampling():
            params["temperature"] = own.temperature
        return params

    async def _ask(self, context: LLMContext, params: dict[str, Any], socket: Socket) -> None:
        """Make the request; if the server has forgotten the last response, repeat it with the whole conversation."""
        whole = params["input"]
        news = socket.chain.following(whole) if socket.chain else None
        if socket.chain and news:
            params = {**params, "input": news, "previous_response_id": socket.chain.response_id}
        note(ProviderNote(speed=self._speed))
        try:
            try:
                await deliver(self, context, self._events(socket, params, whole))
            except ProviderError as error:
                if error.code != UNKNOWN_RESPONSE or not news:
                    raise
                params.pop("previous_response_id")
                await deliver(self, context, self._events(socket, {**params, "input": whole}, whole))
        except WireError:
            socket.chain = None
            raise

    async def _events(self, socket: Socket, params: dict[str, Any], whole: list[Any]) -> AsyncGenerator[Event]:
        """Make the request, and yield its events.

        Raises:
            ProviderError: the response has failed.
        """
        await socket.ask(params)
        adapter = self.get_llm_adapter()
        reader = ResponseReader(lambda item: LLMMessagesAppendFrame([adapter.create_llm_specific_message(item)]))
        while not reader.is_over:
            event = await socket.recv(self._silence)
            sign_of_life()
            for each in reader.read(event):
                yield each
        socket.chain = _chain(reader.response, whole)


def _chain(response: Mapping[str, Any], given: Sequence[Any]) -> Chain | None:
    """The chain that continues a complete response; None if it has no id."""
    known = identifier(response.get("id"))
    return known and Chain(known, given, [mapping(item) for item in listed(response.get("output"))]) or None


def socket_url(base_url: str) -> str:
    """The URL of the Responses WebSocket of a server whose HTTP API is at `base_url`."""
    url = urlsplit(base_url)
    scheme = {"http": "ws", "https": "wss"}.get(url.scheme, url.scheme)
    return urlunsplit((scheme, url.netloc, f"{url.path.rstrip('/')}/responses", url.query, ""))


@functools.cache
def _tls() -> ssl.SSLContext:
    # Reading the certificates takes a tenth of a second.
    return ssl.create_default_context()
