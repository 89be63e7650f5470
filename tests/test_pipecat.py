"""Which private members of pipecat are used: exactly the listed ones, and the installed version has them."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PRIVATE: dict[str, set[str]] = {
    "pipecat.audio.turn.smart_turn.base_smart_turn.BaseSmartTurn": {"_predict_endpoint"},
    "pipecat.audio.turn.smart_turn.local_smart_turn_v3.LocalSmartTurnAnalyzerV3": {"_log_data", "_session"},
    "pipecat.audio.vad.silero.SileroVADAnalyzer": {
        "_low_confidence_windows",
        "_maybe_reset_model",
        "_model",
        "_windows_since_reset",
    },
    "pipecat.audio.vad.vad_analyzer.VADAnalyzer": {
        "_run_analyzer",
        "_vad_frames",
        "_vad_start_frames",
        "_vad_starting_count",
        "_vad_state",
        "_vad_stopping_count",
    },
    "pipecat.pipeline.worker.PipelineWorker": {"_observer"},
    "pipecat.pipeline.worker_observer.WorkerObserver": {"_observers", "_proxies", "_proxy_task_handler"},
    "pipecat.processors.aggregators.llm_response_universal.LLMContextAggregator": {"_aggregation"},
    "pipecat.processors.aggregators.llm_response_universal.LLMUserAggregator": {
        "_handle_transcription",
        "_user_idle_controller",
        "_user_turn_controller",
        "_user_turn_start_timestamp",
    },
    "pipecat.processors.frame_processor.FrameProcessor": {"_start_interruption"},
    "pipecat.processors.frameworks.rtvi.observer.RTVIObserver": {
        "_handle_interruptions",
        "_handle_user_transcriptions",
    },
    "pipecat.processors.frameworks.rtvi.processor.RTVIProcessor": {
        "_handle_message",
        "_handle_send_text",
        "_handle_transport_message",
        "_message_queue",
        "_send_error_frame",
        "_send_error_response",
    },
    "pipecat.services.ai_service.AIService": {"_settings"},
    "pipecat.services.anthropic.llm.AnthropicLLMService": {"_create_message_stream", "_process_context"},
    "pipecat.services.llm_service.LLMService": {
        "_handle_eager_end_of_turn_cancel",
        "_push_llm_text",
        "_skip_tts",
        "_speculation_gate",
    },
    "pipecat.services.openai.base_llm.BaseOpenAILLMService": {"_merge_extra_body", "_process_context", "_service_tier"},
    "pipecat.services.openai.responses.llm.OpenAIResponsesLLMService": {"_process_context", "_ws_url"},
    "pipecat.services.openai.responses.llm._BaseOpenAIResponsesLLMService": {
        "_api_key",
        "_build_response_params",
        "_client",
        "_create_client",
        "_service_tier",
    },
    "pipecat.services.stt_service.STTService": {"_user_id"},
    "pipecat.services.tts_service.TTSService": {"_resampler", "_stamp_segment_announcement"},
    "pipecat.services.websocket_service": {"_BoundedConnection"},
    "pipecat.services.websocket_service.WebsocketService": {
        "_connect_websocket",
        "_disconnect_websocket",
        "_websocket_connect",
    },
    "pipecat.services.whisper.stt.WhisperSTTService": {"_load", "_model"},
    "pipecat.transports.base_output.BaseOutputTransport": {"_media_senders"},
    "pipecat.transports.base_output.BaseOutputTransport.MediaSender": {"_bot_stopped_speaking"},
    "pipecat.transports.base_transport.BaseTransport": {"_input_name", "_output_name"},
    "pipecat.transports.websocket.fastapi.FastAPIWebsocketClient": {"_can_send", "_closing", "_websocket"},
    "pipecat.transports.websocket.fastapi.FastAPIWebsocketOutputTransport": {
        "_send_interval",
        "_write_audio_sleep",
        "_write_frame",
    },
    "pipecat.transports.websocket.fastapi.FastAPIWebsocketTransport": {"_callbacks", "_client", "_input", "_output"},
    "pipecat.utils.base_object.BaseObject": {"_call_event_handler", "_register_event_handler"},
}
"""What is imported, called, set or overridden, by the module or class that has it."""


def test_the_private_members_of_pipecat_that_are_used_are_the_listed_ones() -> None:
    assert used() == PRIVATE


def used() -> dict[str, set[str]]:
    """What the sources use and the installed version has."""
    found: dict[str, set[str]] = {}
    for path in sorted((*(ROOT / "voice").rglob("*.py"), *(ROOT / "pipelines").rglob("*.py"))):
        source = path.read_text(encoding="utf-8")
        # What drives LiveKit's agents needs its packages, and nothing of pipecat.
        if "pipecat" in source and "livekit" not in source:
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            for where, name in _used_in(ast.parse(source), module):
                found.setdefault(where, set()).add(name)
    return found


def _used_in(tree: ast.Module, module: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pipecat"):
            yield from ((str(node.module), each.name) for each in node.names if _is_private(each.name))
        elif isinstance(node, ast.ClassDef):
            own = getattr(importlib.import_module(module), node.name, None)
            theirs = [kind for kind in inspect.getmro(own) if kind.__module__.startswith("pipecat.")] if own else []
            names = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute) and _is_of_self(each)}
            names |= {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
            for name in filter(_is_private, names):
                if having := [kind for kind in theirs if name in _members(kind)]:
                    yield f"{having[-1].__module__}.{having[-1].__qualname__}", name
        elif isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_of_self(node):
            # Of which class another object is, the list says.
            yield from (
                (where, node.attr)
                for where, names in PRIVATE.items()
                if node.attr in names and node.attr in _members(_kind(where))
            )


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_of_self(node: ast.Attribute) -> bool:
    value = node.value
    is_super = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "super"
    return is_super or (isinstance(value, ast.Name) and value.id in ("self", "cls"))


def _kind(where: str) -> Any:
    """The class of that name, also one in another; the module of that name."""
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError:
        outer, _, name = where.rpartition(".")
        return getattr(_kind(outer), name)


@cache
def _members(kind: Any) -> frozenset[str]:
    """What a class itself defines or sets on its instances."""
    return frozenset(vars(kind)) | frozenset(re.findall(r"\bself\.(_\w+)", inspect.getsource(kind)))
