"""OpenAI's Chat Completions for a voice call: bounded waits, no silent retries, and words when no answer comes."""

import ipaddress
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from openai import APIError, APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
from pipecat.frames.frames import FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.utils.http import connection_limits

from voice.llm.failure import LLMFailureFrame
from voice.llm.provider_errors import reason

CONNECT_WITHIN = 2.0
"""Seconds."""
NOT_ANSWERING = "Sorry, my language model is not answering right now."
BROKE_OFF = "Sorry, I lost the rest of my answer."
SENTENCE_ENDS = ".!?…"


def make_client(*, base_url: str | None, api_key: str, silence: float) -> AsyncOpenAI:
    """A client for all calls, which share its open connections. Takes tenths of a second, much of it imports.

    The SDK would wait ten minutes and ask three times, which on a call is silence.

    Args:
        base_url: the server; None is OpenAI.
        api_key: sent with every request; a server that wants none takes any.
        silence: seconds without a byte after which a request has failed.
    """
    http = DefaultAsyncHttpxClient(
        limits=connection_limits(max_keepalive_connections=100, max_connections=1000, keepalive_expiry=None),
        # A server on this machine is never behind a proxy, whatever the environment says.
        trust_env=not (base_url and _is_loopback(base_url)),
    )
    client = AsyncOpenAI(
        api_key=api_key,
        base_url=base_url,
        max_retries=0,
        timeout=Timeout(silence, connect=CONNECT_WITHIN),
        http_client=http,
    )
    # The SDK imports what a first request needs when it is first asked for.
    assert client.chat.completions is not None
    return client


async def warm_up(client: AsyncOpenAI, *, model: str, where: str) -> str | None:
    """Open a connection; returns one sentence when that fails, which need not last."""
    try:
        await client.with_options(timeout=CONNECT_WITHIN).models.list()
    except APIStatusError:
        # Not every server lists its models; this one is there.
        return None
    except (APIError, ValueError) as error:
        return reason(error, model=model, where=where)
    return None


class ChatService(OpenAILLMService):
    """pipecat's OpenAI service on a shared client. A request that gives no answer is answered by an apology.

    The apology stands in the answer's place, so that the caller hears it and the context keeps turns that alternate;
    its frame is an `LLMFailureFrame`. Once words of the answer were said, it says that the rest is lost.

    Args:
        client: see `make_client`.
        model: its name on the server.
        prompt: the system prompt.
        max_tokens: the longest answer.
        where: how the report names the server.
    """

    def __init__(self, client: AsyncOpenAI, *, model: str, prompt: str, max_tokens: int, where: str) -> None:
        self._shared_client = client
        self._model = model
        self._where = where
        self._last_words = ""
        self._called = False
        # pipecat tells the model of a turn without words as the developer, a role that only OpenAI's servers know.
        self.supports_developer_role = client.base_url.host == "api.openai.com"
        super().__init__(settings=self.Settings(model=model, max_tokens=max_tokens, system_instruction=prompt))

    def create_client(self, *_args: Any, **_kwargs: Any) -> AsyncOpenAI:
        """The shared client; called by pipecat."""
        return self._shared_client

    async def run_function_calls(self, function_calls: Sequence[FunctionCallFromLLM]) -> None:
        """Run what the model asked for; its words come with the next request."""
        self._called = bool(function_calls)
        await super().run_function_calls(function_calls)

    async def _push_llm_text(self, text: str) -> None:
        self._last_words = text.strip() or self._last_words
        await super()._push_llm_text(text)

    async def _process_context(self, context: LLMContext) -> None:
        self._last_words, self._called = "", False
        try:
            await super()._process_context(context)
        except Exception as error:
            await self._apologise(reason(error, model=self._model, where=self._where))
            raise
        if not self._last_words and not self._called:
            sentence = f"{self._model} at {self._where} gave an answer without words."
            await self._apologise(sentence)
            await self.push_error(sentence)

    async def _apologise(self, sentence: str) -> None:
        words = NOT_ANSWERING
        if self._last_words:
            words = f" {BROKE_OFF}" if self._last_words[-1] in SENTENCE_ENDS else f"… {BROKE_OFF}"
        await self.push_frame(LLMFailureFrame(text=words, reason=sentence))


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
