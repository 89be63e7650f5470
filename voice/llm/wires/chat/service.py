"""OpenAI's Chat Completions for a voice call, with bounded waits, no silent retries and open connections."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from openai import AsyncOpenAI
from pipecat.adapters.llm.services.open_ai_adapter import OpenAILLMInvocationParams
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.utils.context.llm_context_summarization import LLMContextSummarizationUtil

from voice.llm.answer.provider_note import ProviderNote
from voice.llm.tiers.tier import note, sampling, sign_of_life
from voice.llm.wires.chat.reader import ChatReader
from voice.llm.wires.connections import OPENAI, WarmService, sdk_options
from voice.llm.wires.delivery import deliver, push_failure
from voice.llm.wires.event_stream import read
from voice.llm.wires.rate_limits import before_refusal, read_limits, room


def make_client(
    *, base_url: str | None, api_key: str, silence: float, headers: Mapping[str, str] | None = None
) -> AsyncOpenAI:
    """Make a client whose connections all calls share. This takes tenths of a second, mostly for imports.

    Args:
        base_url: the server's URL; None for OpenAI.
        api_key: sent with every request; a server that needs no key accepts any.
        silence: seconds without a byte after which a request has failed.
        headers: further headers of every request.

    Raises:
        ConfigurationError, ComponentError: the environment names a proxy that cannot be used.
    """
    client = AsyncOpenAI(
        api_key=api_key,
        base_url=base_url,
        default_headers=headers,
        **sdk_options(silence=silence, url=base_url or OPENAI),
    )
    # The SDK imports the modules for requests on first access.
    assert client.chat.completions is not None
    return client


class ChatService(WarmService, OpenAILLMService):
    """pipecat's OpenAI service on a shared client, for a `Tier`: a failure is reported as an `LLMFailureFrame`.

    A cancelled request closes its connection. Another one is opened at once, so that the next turn need not wait for
    it. `ChatReader` parses the response instead of the SDK's types.

    Args:
        client: see `make_client`.
        model: its name on the server.
        prompt: the system prompt.
        max_tokens: the longest answer.
        where: how the report names the server.
        connections: how many to keep open: the most simultaneous requests.
        speed: the service tier to request; None for the default.
        effort: how much the model thinks; None for the least effort that pipecat knows.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        *,
        model: str,
        prompt: str,
        max_tokens: int,
        where: str,
        connections: int = 1,
        speed: str | None = None,
        effort: str | None = None,
    ) -> None:
        self._shared_client = client
        self._model = model
        self._where = where
        # pipecat reports a turn without words in the developer role, which only OpenAI's servers support.
        self.supports_developer_role = client.base_url.host == "api.openai.com"
        self._longest, self._speed = max_tokens, speed
        settings = self.Settings(model=model, max_tokens=max_tokens, system_instruction=prompt)
        if effort is not None:
            settings.extra = {"reasoning_effort": effort}
        super().__init__(service_tier=speed, settings=settings)
        self.keep_warm(client, model=model, where=where, connections=connections)

    @property
    def speed(self) -> str | None:
        """The service tier of the next request; None for the default."""
        return self._speed

    def use_speed(self, speed: str | None) -> None:
        """Use another service tier from the next request on."""
        self._speed = self._service_tier = speed

    def create_client(self, *_args: Any, **_kwargs: Any) -> AsyncOpenAI:
        """The shared client; called by pipecat."""
        return self._shared_client

    def build_chat_completion_params(self, params_from_context: OpenAILLMInvocationParams) -> dict[str, Any]:
        """The request's parameters; called by pipecat. The messages bypass the SDK's checks.

        The SDK would walk through each message on the event loop, which takes 20 ms in a call's sixtieth turn (120
        messages).
        """
        params: dict[str, Any] = super().build_chat_completion_params(params_from_context)
        self._merge_extra_body(params, {"messages": params["messages"]})
        params["messages"] = []
        if own := sampling():
            params |= {"temperature": own.temperature, "seed": own.seed}
        return params

    async def _process_context(self, context: LLMContext) -> None:
        note(ProviderNote(speed=self._speed))
        try:
            stream = await self.get_chat_completions(context)
            sign_of_life()
            headers = stream.response.headers
            if limits := read_limits(headers, datetime.now(UTC)):
                given = LLMContextSummarizationUtil.estimate_context_tokens(context)
                rest = before_refusal(limits, given=given, output=self._longest)
                note(ProviderNote(rest=rest, room=room(limits, given=given, output=self._longest)))
            await deliver(self, context, read(stream, ChatReader(headers)))
        except asyncio.CancelledError:
            self.open_connections()
            raise
        except Exception as error:
            await push_failure(self, error, model=self._model, where=self._where)
            raise
