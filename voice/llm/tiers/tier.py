"""A tier: an unmodified pipecat LLM service whose frames reach the pipeline only once its answer is chosen."""

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol, runtime_checkable

from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    FunctionCallFromLLM,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    MetricsFrame,
    SystemFrame,
    TTSSpeakFrame,
)
from pipecat.metrics.metrics import LLMUsageMetricsData
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameCallback, FrameDirection, FrameProcessor, FrameProcessorSetup
from pipecat.services.llm_service import LLMService
from pipecat.utils.context.llm_context_summarization import LLMContextSummarizationUtil

from latency.record.requests import Price, is_fast
from voice.frames import LLMFailureFrame
from voice.llm.answer.llm_request import LLMRequest
from voice.llm.answer.provider_note import ProviderNote
from voice.llm.draft_facts import Sampling, sampling_of
from voice.llm.wires.errors import was_taken
from voice.llm.wires.rate_limits import rest_after

CANCEL_WITHIN = 0.5
"""Seconds that a cancelled request has to release its service before the next request is made anyway."""

Relay = Callable[[Frame], Awaitable[None]]
log = logging.getLogger(__name__)

# The request to which a frame belongs; tasks started by a service for a request inherit it.
_asked: contextvars.ContextVar[tuple[LLMRequest, Callable[[], None]] | None] = contextvars.ContextVar(
    "asked", default=None
)


def is_in_request() -> bool:
    """Whether the current task executes a tier's request, or was started by one."""
    return _asked.get() is not None


def sampling() -> Sampling | None:
    """The sampling of the current request; None for the service's own settings. Called by services."""
    asked = _asked.get()
    return sampling_of(asked[0].state.candidate) if asked else None


def note(known: ProviderNote) -> None:
    """Note metadata of the current request; called by services."""
    if asked := _asked.get():
        asked[0].learn(known)


def sign_of_life() -> None:
    """The server of the current request has begun to answer; called by services that can detect it."""
    if asked := _asked.get():
        asked[0].stirred(time.monotonic())


@runtime_checkable
class ReadsAhead(Protocol):
    """A service whose model keeps its state between requests, such as one in this process."""

    def read_ahead(self, context: LLMContext) -> None:
        """Process the conversation so far, until a request comes."""


@runtime_checkable
class HasSpeed(Protocol):
    """A service whose requests name a speed."""

    @property
    def speed(self) -> str | None:
        """The speed of the next request; None for the provider's default."""

    def use_speed(self, speed: str | None) -> None:
        """Use this speed from the next request on."""


class Tier:
    """Runs requests on a pipecat service, and collects its output in `LLMRequest`s.

    The service is not part of a pipeline. It receives the start and end of the call, and each request as an
    `LLMContextFrame`. Its tool calls are recorded, not run.

    Args:
        name: its name in policies and reports.
        service: the language model; only this tier may use it from now on.
        spare: a second service of the same kind for a simultaneous request; needed if a service can run only one (a
            persistent socket).
        price: the price of its tokens; None if unknown.
    """

    def __init__(
        self,
        name: str,
        service: LLMService[Any],
        *,
        spare: LLMService[Any] | None = None,
        price: Price | None = None,
    ) -> None:
        self.name = name
        self.price = price
        self.service = service
        self.services: tuple[LLMService[Any], ...] = (service,) if spare is None else (service, spare)
        self._fast = _fast_speed(service, price)
        self._running: dict[asyncio.Task[None], LLMService[Any]] = {}
        self._relay: Relay | None = None
        self._reports_usage = False

    @property
    def speed(self) -> str | None:
        """The speed of the next request, "fast" or "standard"; None if it is not known to have both."""
        if self._fast is None or not isinstance(self.service, HasSpeed):
            return None
        return "fast" if self.service.speed == self._fast else "standard"

    def use_speed(self, speed: str) -> None:
        """Use "fast" or "standard" from the next request on; only for a tier that has both."""
        for service in self.services:
            if isinstance(service, HasSpeed):
                service.use_speed(self._fast if speed == "fast" else None)

    async def setup(self, setup: FrameProcessorSetup, relay: Relay) -> None:
        """Set up the services; `relay` takes frames that go to the pipeline even if the answer is not chosen."""
        self._relay = relay
        self._reports_usage = setup.enable_usage_metrics
        for service in self.services:
            _Around(self, service)
            await service.setup(replace(setup, observer=None, enable_usage_metrics=True))

    async def tell(self, frame: Frame) -> None:
        """Pass a frame of the call to the services; frames pushed in response are dropped."""
        for service in self.services:
            await service.process_frame(frame, FrameDirection.DOWNSTREAM)

    def read_ahead(self, context: LLMContext) -> None:
        """Let a service that keeps its model's state prepare for the next request."""
        for service in self.services:
            if isinstance(service, ReadsAhead):
                service.read_ahead(context)

    async def cleanup(self) -> None:
        """End running requests, and the services."""
        await self.settle()
        for service in self.services:
            await service.cleanup()

    async def settle(self) -> None:
        """Cancel every request and wait until they have released their services."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CANCEL_WITHIN)

    @property
    def usable(self) -> bool:
        """Whether the service can serve requests; False once the provider has rejected its key or model."""
        return self.service.is_usable

    @property
    def instruction_tokens(self) -> int:
        """The tokens of the system instruction, which each request repeats; an estimate."""
        settings: Any = self.service.settings
        instruction = getattr(settings, "system_instruction", None)
        return LLMContextSummarizationUtil.estimate_tokens(instruction) if isinstance(instruction, str) else 0

    def ask(self, request: LLMRequest, context: LLMContext, changed: Callable[[], None]) -> asyncio.Task[None]:
        """Make a request; `changed` is called whenever it makes progress or ends."""
        busy = {service for task, service in self._running.items() if not task.cancelling()}
        service = next((service for service in self.services if service not in busy), self.service)
        leaving = [task for task, used in self._running.items() if used is service and task.cancelling()]
        task: asyncio.Task[None] = service.create_task(
            self._run(service, request, context, changed, leaving),
            f"{self.name}#{request.state.number}",
            contextvars.copy_context(),
        )
        self._running[task] = service
        task.add_done_callback(lambda done: self._running.pop(done, None))
        return task

    async def _run(
        self,
        service: LLMService[Any],
        request: LLMRequest,
        context: LLMContext,
        changed: Callable[[], None],
        leaving: Sequence[asyncio.Task[None]],
    ) -> None:
        _asked.set((request, changed))
        if leaving:
            await asyncio.wait(leaving, timeout=CANCEL_WITHIN)
            # A cancelled task keeps this frame alive, which would keep the previous task alive, and so on.
            del leaving
        if not service.is_usable:
            await service.set_usable(True)
        try:
            await service.process_frame(LLMContextFrame(context), FrameDirection.DOWNSTREAM)
        except Exception as error:
            # After any error of a service, the turn goes on with the other tier.
            log.warning("tier %s failed", self.name, exc_info=True)
            request.fail(f"{type(error).__name__}: {error}", time.monotonic())
        # If the service broke after a tool call, the call still stands.
        request.complete(time.monotonic())
        changed()

    async def pushed(self, frame: Frame, direction: FrameDirection) -> None:
        """Take a frame pushed by a service."""
        asked = _asked.get()
        if asked is None:
            return
        request, changed = asked
        now = time.monotonic()
        match frame:
            case LLMFailureFrame():
                request.fail(frame.reason, now, was_taken=frame.was_taken)
                changed()
            case LLMTextFrame():
                if request.add(frame.text, now):
                    changed()
                    # More text may have arrived already; finished words must not wait until it is parsed.
                    await asyncio.sleep(0)
            case ErrorFrame():
                request.fail(frame.error, now, was_taken=was_taken(frame.exception))
                if rest := rest_after(frame.exception, datetime.now(UTC)):
                    request.learn(ProviderNote(rest=rest))
                changed()
            case MetricsFrame():
                usage = [data for data in frame.data if isinstance(data, LLMUsageMetricsData)]
                for data in usage:
                    request.usage = data.value
                # Usage is billed whichever tier is spoken; the parent reports the times of the answer.
                if usage and self._reports_usage and self._relay:
                    await self._relay(frame)
            case TTSSpeakFrame():
                # Output of a service without a request (a timer) is not part of an answer.
                if self._relay:
                    await self._relay(frame)
            case LLMFullResponseStartFrame() | LLMFullResponseEndFrame() | SystemFrame():
                pass
            case _ if direction is FrameDirection.DOWNSTREAM:
                request.add_frame(frame)
            case _:
                pass


def _fast_speed(service: object, price: Price | None) -> str | None:
    """The provider's name for this model's fast speed; None if it is not known to have one.

    It has one if the settings ask for it, or if its price is known.
    """
    if not isinstance(service, HasSpeed):
        return None
    known = (service.speed, *(price.speeds if price else ()))
    return next((name for name in known if is_fast(name)), None)


class _Around(FrameProcessor):
    """A service's neighbour on both sides, which receives its pushed frames.

    Frames are taken in the task that pushes them, which identifies their request, and without a queue.

    Tool calls do not come as frames: pipecat's `run_function_calls` announces calls and runs them at once, with no way
    to learn of a call without running it. So this one method is replaced in the service. A catch-all function
    (`register_function(None, ...)`) would not help: a service prefers functions of the called name, which it takes from
    each context's tools.
    """

    def __init__(self, tier: Tier, service: LLMService[Any]) -> None:
        super().__init__(name=f"Around {service.name}", enable_direct_mode=True)
        self._tier = tier
        service.run_function_calls = self.run_function_calls  # type: ignore[method-assign]
        service.link(self)
        self.link(service)

    async def queue_frame(
        self, frame: Frame, direction: FrameDirection = FrameDirection.DOWNSTREAM, callback: FrameCallback | None = None
    ) -> None:
        """Take a frame pushed by the service."""
        await self._tier.pushed(frame, direction)

    async def run_function_calls(self, function_calls: Sequence[FunctionCallFromLLM]) -> None:
        """Record the calls; they are run when the answer is chosen."""
        if asked := _asked.get():
            asked[0].call(function_calls, time.monotonic())
            asked[1]()
