"""One call's pipeline: which parts, in what order."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.processors.frameworks.rtvi import RTVIObserverParams, RTVIProcessor
from pipecat.processors.frameworks.rtvi.models import ClientMessage
from pipecat.services.llm_service import LLMService
from pipecat.turns.user_start import VADUserTurnStartStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.types import NOT_GIVEN

from pipelines.engines import Engines, where
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
    schemas = ToolsSchema(standard_tools=[describe(tool) for tool in behaviour.tools])
    context = LLMContext(tools=schemas if behaviour.tools else NOT_GIVEN)
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
            make_llm(engines, behaviour),
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


def make_llm(engines: Engines, behaviour: Behaviour) -> LLMService[Any]:
    """What answers in this call."""
    tier = engines.settings.llm
    if isinstance(tier, OpenAITier):
        from voice.llm.openai_chat import ChatService

        assert engines.chat is not None
        prompt = behaviour.prompt or tier.prompt
        return ChatService(engines.chat, model=tier.model, prompt=prompt, max_tokens=tier.max_tokens, where=where(tier))
    from voice.llm.responder.service import ResponderLLMService

    return ResponderLLMService(tools=behaviour.tools)


def _answer_pings(rtvi: RTVIProcessor) -> None:
    """Answer a client's clock ping with this process's monotonic time."""

    @rtvi.event_handler("on_client_message")  # type: ignore[untyped-decorator]
    async def answer(processor: RTVIProcessor, message: ClientMessage) -> None:
        if message.type == "clock" and isinstance(message.data, dict):
            await processor.send_server_response(
                message, {"client": message.data.get("client"), "server": time.monotonic()}
            )
