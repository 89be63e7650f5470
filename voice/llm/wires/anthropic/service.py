"""Anthropic's Messages for a voice call: bounded waits, no silent retries, either speed, and open connections."""

import asyncio
import contextvars
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from anthropic import AsyncAnthropic
from pipecat.frames.frames import Frame
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.anthropic.llm import AnthropicLLMService

from voice.llm.answer.provider_note import ProviderNote, RateLimitPause
from voice.llm.tiers.tier import sampling, sign_of_life
from voice.llm.wires.anthropic.reader import MessageReader
from voice.llm.wires.anthropic.speed import FAST, REFUSED_FOR, CallSpeed, FastPool
from voice.llm.wires.connections import ANTHROPIC, WarmService, sdk_options
from voice.llm.wires.delivery import deliver, push_failure
from voice.llm.wires.errors import is_overload, reason
from voice.llm.wires.event_stream import read
from voice.llm.wires.events import CallPart, Event, Text, Usage
from voice.llm.wires.rate_limits import FAST_POOL, before_refusal, read_limits, retry_after, room

FAST_BETA = "fast-mode-2026-02-01"
"""The value of `anthropic-beta` that some models require for a speed."""
log = logging.getLogger(__name__)


# The conversation answered by the current task.
_answered: contextvars.ContextVar[LLMContext] = contextvars.ContextVar("answered")


def make_client(
    *, base_url: str | None, api_key: str, silence: float, headers: Mapping[str, str] | None = None
) -> AsyncAnthropic:
    """Make a client whose connections all calls share. This takes tenths of a second, mostly for imports.

    Args:
        base_url: the server's URL, without /v1; None for Anthropic.
        api_key: sent with every request.
        silence: seconds without a byte after which a request has failed.
        headers: further headers of every request.

    Raises:
        ConfigurationError, ComponentError: the environment names a proxy that cannot be used.
    """
    client = AsyncAnthropic(
        api_key=api_key,
        base_url=base_url,
        default_headers=headers,
        **sdk_options(silence=silence, url=base_url or ANTHROPIC),
    )
    # The SDK imports the modules for requests on first access.
    assert client.beta.messages.create is not None
    return client


class AnthropicService(WarmService, AnthropicLLMService):
    """pipecat's Anthropic service on a shared client, for a `Tier`: a failure is reported as an `LLMFailureFrame`.

    The prompt is cached. `MessageReader` parses the response instead of the SDK's types.

    Args:
        client: see `make_client`.
        model: its name on the server.
        prompt: the system prompt.
        max_tokens: the longest answer.
        silence: seconds without progress after which a request has failed; the server's pings are none.
        where: how the report names the server.
        speed: "fast", "standard", or None for the provider's default.
        pool: the state of the fast speed, shared by all calls.
        beta_header: the required part of `anthropic-beta` for the fast speed; empty for none.
        effort: how much the model thinks; None for the least effort that pipecat knows.
        connections: how many to keep open: the most simultaneous requests.
        clock: seconds.
    """

    def __init__(
        self,
        client: AsyncAnthropic,
        *,
        model: str,
        prompt: str,
        max_tokens: int,
        silence: float,
        where: str,
        speed: str | None = None,
        pool: FastPool | None = None,
        beta_header: str = FAST_BETA,
        effort: str | None = None,
        connections: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model, self._where, self._silence = model, where, silence
        self._longest, self._beta_header, self._clock = max_tokens, beta_header, clock
        self._speed = CallSpeed(speed, pool or FastPool())
        settings = self.Settings(
            model=model,
            max_tokens=max_tokens,
            system_instruction=prompt,
            enable_prompt_caching=True,
            effort=effort,
        )
        super().__init__(api_key="", client=client, settings=settings)
        self.keep_warm(client, model=model, where=where, connections=connections)

    @property
    def speed(self) -> str | None:
        """The speed of the next request; None for the default."""
        return self._speed.current

    def use_speed(self, speed: str | None) -> None:
        """Use another speed from the next request on; one refused in this call stays unused."""
        self._speed.use(speed)

    async def _process_context(self, context: LLMContext) -> None:
        answered = _answered.set(context)
        try:
            await super()._process_context(context)
        except asyncio.CancelledError:
            self.open_connections()
            raise
        finally:
            _answered.reset(answered)

    async def _create_message_stream(self, api_call: Any, params: dict[str, Any]) -> AsyncGenerator[Any]:
        """Make the request and deliver its answer; called by pipecat, which gets an empty stream."""
        try:
            await deliver(
                self, _answered.get(), self._events_at_speed(api_call, _without_checks(params)), silence=self._silence
            )
        except Exception as error:
            await push_failure(self, error, model=self._model, where=self._where)
            raise
        return _nothing()

    async def _events_at_speed(self, api_call: Any, params: dict[str, Any]) -> AsyncGenerator[Event]:
        """The events of an answer, at standard speed if the fast one is refused before any output."""
        self._speed.begin(self._clock())
        speed, is_begun = self._speed.current, False
        yield ProviderNote(speed=speed, slowed=self._told())
        try:
            async with aclosing(self._events(api_call, self._at(speed, params), speed)) as events:
                async for event in events:
                    is_begun |= isinstance(event, Text | CallPart | Frame)
                    yield event
        except Exception as error:
            if speed != FAST or not is_overload(error):
                raise
            wait = retry_after(error, datetime.now(UTC))
            why = f"the fast speed was refused: {reason(error, model=self._model, where=self._where).rstrip('.')}"
            self._speed.leave(RateLimitPause(seconds=REFUSED_FOR if wait is None else wait, why=why), self._clock())
            yield ProviderNote(slowed=self._told())
            if is_begun:
                raise
            async with aclosing(self._events(api_call, params, self._speed.current)) as events:
                async for event in events:
                    yield event

    async def _events(self, api_call: Any, params: dict[str, Any], speed: str | None) -> AsyncGenerator[Event]:
        """The events of one response."""
        stream = await api_call(**params)
        sign_of_life()
        headers, is_told = stream.response.headers, False
        reader = MessageReader(headers, llm=self.get_llm_adapter().id_for_llm_specific_messages)
        async with aclosing(read(stream, reader)) as events:
            async for event in events:
                if isinstance(event, Usage) and not is_told:
                    is_told = True
                    yield self._limits(event, headers, speed)
                yield event

    def _limits(self, usage: Usage, headers: Mapping[str, str], speed: str | None) -> ProviderNote:
        """Read the limits in the headers, and leave a speed's pool before it refuses."""
        limits = read_limits(headers, datetime.now(UTC))
        given = (usage.prompt or 0) - (usage.cached or 0)
        if speed == FAST and (rest := before_refusal(limits, pool=FAST_POOL, given=given, output=self._longest)):
            why = f"the fast speed is left before it refuses: {rest.why}"
            self._speed.leave(RateLimitPause(seconds=rest.seconds, why=why), self._clock())
            return ProviderNote()
        rest = before_refusal(limits, given=given, output=self._longest)
        return ProviderNote(rest=rest, room=room(limits, given=given, output=self._longest))

    def _at(self, speed: str | None, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a request at a speed. Only the fast one is named; the other is the default."""
        if speed != FAST:
            return params
        betas = [*params.get("betas", ()), *([self._beta_header] if self._beta_header else ())]
        return {**params, "betas": betas, "extra_body": {**params["extra_body"], "speed": FAST}}

    def _told(self) -> str | None:
        """Why the fast speed was left, reported and logged only once."""
        if news := self._speed.news():
            log.warning("%s at %s: standard speed for the rest of the call, because %s", self._model, self._where, news)
        return news


async def _nothing() -> AsyncGenerator[Any]:
    """A stream without events."""
    return
    yield


def _without_checks(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters with the messages placed where the SDK does not check each one on the event loop."""
    body = {**params.get("extra_body", {}), "messages": params["messages"]}
    if own := sampling():
        body["temperature"] = own.temperature
    return {**params, "messages": [], "extra_body": body}
