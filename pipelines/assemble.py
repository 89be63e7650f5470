"""One call's pipeline: which parts, in what order."""

import asyncio
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

from pipelines.engines import Engines
from pipelines.observer import MonotonicClock, TurnObserver
from pipelines.settings import Responder, Tiers
from pipelines.telemetry import tracing
from pipelines.turn_log import TurnLog
from voice.llm.budgeted import BudgetedLLMService
from voice.llm.swap import Swap, answer_swaps, swap_tool
from voice.llm.tools import Tool, describe
from voice.server.loop_watch import LoopWatch
from voice.server.transport import HEAD_START, IN_RATE, CallTransport
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
    settings, models = engines.settings, engines.models
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
    llm = models.service(prompt=behaviour.prompt, tools=behaviour.tools)
    swap = make_swap(llm, settings.llm)
    wants_swap_tool = isinstance(settings.llm, Tiers) and settings.llm.swap_tool
    tools = [*behaviour.tools, *([swap_tool(swap)] if swap and wants_swap_tool else [])]
    schemas = ToolsSchema(standard_tools=[describe(tool) for tool in tools])
    context = LLMContext(tools=schemas if tools else NOT_GIVEN)
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
            PiperTTSService(engines.voice, sent_ahead=HEAD_START),
            transport.output(),
            assistant,
        ]
    )
    watch = LoopWatch.of(asyncio.get_running_loop())
    log = TurnLog(
        tier=models.components["llm"],
        models=models.models,
        synthesised=models.synthesised,
        stalls=watch.between if watch else None,
    )
    rtvi = RTVIProcessor()
    _answer_pings(rtvi)
    answer_swaps(rtvi, swap)
    return PipelineWorker(
        pipeline,
        clock=MonotonicClock(),
        # A call is silent for as long as its user is; who hangs up closes the socket.
        idle_timeout_secs=None,
        observers=[TurnObserver(log, rtvi, watch)],
        params=PipelineParams(audio_in_sample_rate=IN_RATE, audio_out_sample_rate=sample_rate, enable_metrics=True),
        rtvi_processor=rtvi,
        enable_tracing=tracing(),
        rtvi_observer_params=RTVIObserverParams(metrics_enabled=False),
    )


def make_swap(llm: LLMService[Any], settings: Responder | Tiers) -> Swap | None:
    """What changes a call's language models while it goes on; None when it has none."""
    if isinstance(settings, Tiers) and isinstance(llm, BudgetedLLMService):
        return Swap(llm, tiers=tuple(settings.tiers), bridge=settings.bridge)
    return None


def _answer_pings(rtvi: RTVIProcessor) -> None:
    """Answer a client's clock ping with this process's monotonic time."""

    @rtvi.event_handler("on_client_message")  # type: ignore[untyped-decorator]
    async def answer(processor: RTVIProcessor, message: ClientMessage) -> None:
        if message.type == "clock" and isinstance(message.data, dict):
            await processor.send_server_response(
                message, {"client": message.data.get("client"), "server": time.monotonic()}
            )
