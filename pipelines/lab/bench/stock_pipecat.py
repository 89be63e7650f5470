"""A local voice bot as pipecat's documentation writes it, with nothing tuned.

It has a FastAPI WebSocket transport, Silero in the user aggregator with the default turn strategies, Whisper from a
model folder, an OpenAI-compatible language model and a Piper voice. Each call creates its own services, as in pipecat's
examples.
"""

from fastapi import WebSocket
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.workers.runner import WorkerRunner

from pipelines.lab.bench.peer import Parts


async def run_bot(websocket: WebSocket, parts: Parts) -> None:
    """Serve one call on an accepted connection."""
    stt = WhisperSTTService(settings=WhisperSTTService.Settings(model=str(parts.whisper)))
    await converse(websocket, parts, stt, LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer()))


async def converse(
    websocket: WebSocket, parts: Parts, stt: WhisperSTTService, user_params: LLMUserAggregatorParams
) -> None:
    """Serve one call with a recogniser and the parameters of turn taking."""
    transport = FastAPIWebsocketTransport(
        websocket,
        FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=ProtobufFrameSerializer()),
    )
    llm = OpenAILLMService(
        api_key="none",
        base_url=parts.llm_url,
        settings=OpenAILLMService.Settings(model=parts.llm_model, system_instruction=parts.prompt),
    )
    tts = PiperTTSService(
        download_dir=parts.voice.parent, settings=PiperTTSService.Settings(voice=parts.voice.name.removesuffix(".onnx"))
    )
    user, assistant = LLMContextAggregatorPair(LLMContext(), user_params=user_params)
    worker = PipelineWorker(
        Pipeline([transport.input(), stt, user, llm, tts, transport.output(), assistant]),
        params=PipelineParams(enable_metrics=True, enable_usage_metrics=True),
    )

    @transport.event_handler("on_client_disconnected")  # type: ignore[untyped-decorator]
    async def hang_up(_transport: FastAPIWebsocketTransport, _websocket: WebSocket) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()
