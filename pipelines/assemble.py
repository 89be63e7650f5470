"""One call's pipeline: which parts, in what order."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext, LLMContextMessage
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frameworks.rtvi import RTVIObserverParams, RTVIProcessor
from pipecat.processors.frameworks.rtvi.models import ClientMessage
from pipecat.services.llm_service import LLMService
from pipecat.turns.user_start import VADUserTurnStartStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.types import NOT_GIVEN

from pipelines.engines import Engines
from pipelines.observer import MonotonicClock, TurnObserver
from pipelines.settings import OpenAITier
from pipelines.turn_log import TurnLog
from voice.llm.tools import Tool, describe
from voice.server.transport import IN_RATE, CallTransport
from voice.tts.piper import PiperTTSService
from voice.turns.stop import TurnStop


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the agent should be, beyond its engines.

    Parameters:
        prompt: the system prompt; None takes the pipeline's own.
        tools: plain functions that a language model may call, and the responder by their names.
    """

    prompt: str | None = None
    tools: Sequence[Tool] = ()


def build_call(engines: Engines, behaviour: Behaviour, transport: CallTransport, *, sample_rate: int) -> PipelineWorker:
    """The worker that runs one call over `transport`, answering at `sample_rate` (Hz).

    The VAD stands in front of the recogniser, so that what the recogniser does never delays it.
    """
    settings = engines.settings
    params = VADParams(
        confidence=settings.vad.confidence,
        start_secs=settings.vad.start_ms / 1000,
        stop_secs=settings.vad.stop_ms / 1000,
        min_volume=settings.vad.min_volume,
    )
    # The fallback silence is the whole silence; Smart Turn counts it from the VAD stop on.
    vad = engines.turns.vad(params)
    fallback = max(0.0, settings.turns.fallback_ms / 1000 - params.stop_secs)
    end_of_turn = engines.turns.end_of_turn(vad, fallback=fallback)
    llm, messages = make_llm(engines, behaviour)
    schemas = ToolsSchema(standard_tools=[describe(tool) for tool in behaviour.tools])
    context = LLMContext(messages, tools=schemas if behaviour.tools else NOT_GIVEN)
    strategies = UserTurnStrategies(
        start=[VADUserTurnStartStrategy()],
        stop=[TurnStop(turn_analyzer=end_of_turn)],
    )
    user, assistant = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(user_turn_strategies=strategies)
    )
    pipeline = Pipeline(
        [
            transport.input(),
            VADProcessor(vad_analyzer=vad),
            engines.recogniser.service(),
            user,
            llm,
            PiperTTSService(engines.voice),
            transport.output(),
            assistant,
        ]
    )
    rtvi = RTVIProcessor()
    _answer_pings(rtvi)
    return PipelineWorker(
        pipeline,
        clock=MonotonicClock(),
        # A call is silent for as long as its user is; who hangs up closes the socket.
        idle_timeout_secs=None,
        observers=[TurnObserver(TurnLog(tier=engines.components()["llm"]), rtvi)],
        params=PipelineParams(audio_in_sample_rate=IN_RATE, audio_out_sample_rate=sample_rate, enable_metrics=True),
        rtvi_processor=rtvi,
        rtvi_observer_params=RTVIObserverParams(metrics_enabled=False),
    )


def make_llm(engines: Engines, behaviour: Behaviour) -> tuple[LLMService[Any], list[LLMContextMessage]]:
    """What answers in this call, and the messages its context starts with."""
    tier = engines.settings.llm
    if isinstance(tier, OpenAITier):
        from pipecat.services.openai.llm import OpenAILLMService

        service = OpenAILLMService(
            # A server on this machine wants no key, but the SDK refuses to start without one.
            api_key=os.environ.get(tier.api_key_env, "") if tier.api_key_env else "none",
            base_url=tier.base_url,
            settings=OpenAILLMService.Settings(model=tier.model, max_tokens=tier.max_tokens),
        )
        return service, [{"role": "system", "content": behaviour.prompt or tier.prompt}]
    from voice.llm.responder.service import ResponderLLMService

    return ResponderLLMService(tools=behaviour.tools), []


def _answer_pings(rtvi: RTVIProcessor) -> None:
    """Answer a client's clock ping with this process's monotonic time."""

    @rtvi.event_handler("on_client_message")  # type: ignore[untyped-decorator]
    async def answer(processor: RTVIProcessor, message: ClientMessage) -> None:
        if message.type == "clock" and isinstance(message.data, dict):
            await processor.send_server_response(
                message, {"client": message.data.get("client"), "server": time.monotonic()}
            )
