"""The stock pipecat bot with settings chosen for latency.

The voice detector's stop of 0.2 s is pipecat's recommendation for Smart Turn; a turn that Smart Turn takes for
unfinished ends after 1 s of silence, as in NVIDIA's voice agent blueprint, not after 3. Whisper decodes as our
recogniser does, with as many threads, and the models of Whisper and Piper are loaded once, not at every call. pipecat
has no settings for the last two, so they are made here.

A second bot is interrupted by words: pipecat's `MinWordsUserTurnStartStrategy` with three words, as in its
documentation. Its Whisper service gives words only after the speech, so such an interruption is decided then.
"""

from collections.abc import Callable
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

from fastapi import WebSocket
from faster_whisper import WhisperModel
from pipecat.audio.turn.smart_turn.base_smart_turn import SmartTurnParams
from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregatorParams
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.turns.user_start import BaseUserTurnStartStrategy, MinWordsUserTurnStartStrategy
from pipecat.turns.user_stop import TurnAnalyzerUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from piper import PiperVoice

from pipelines.lab.bench.peer import DECODING, Parts
from pipelines.lab.bench.stock_pipecat import converse

VAD_STOP, LONGEST_SILENCE = 0.2, 1.0
"""Seconds: of silence before Smart Turn is asked, and of silence that ends a turn whatever Smart Turn says."""
MIN_WORDS = 3
"""Words that interrupt the second bot; while it is silent, one word starts a turn."""


@cache
def whisper(folder: str) -> WhisperModel:
    """The model of all calls."""
    return WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=1)


class QuickWhisper(WhisperSTTService):
    """pipecat's service on a model that is loaded already and decodes greedily."""

    def _load(self) -> None:
        settings: Any = self._settings
        model = whisper(str(settings.model))
        decode: Callable[..., Any] = partial(model.transcribe, **DECODING)
        self._model = SimpleNamespace(transcribe=decode, supported_languages=model.supported_languages)


def prewarm(parts: Parts) -> None:
    """Load the models before the first call."""
    # pipecat's service loads its voice with this method, in every call.
    PiperVoice.load = cache(PiperVoice.load)
    PiperVoice.load(parts.voice, use_cuda=False)
    whisper(str(parts.whisper))


async def run_bot(websocket: WebSocket, parts: Parts) -> None:
    """Serve one call on an accepted connection; any speech interrupts."""
    await _run(websocket, parts, start=None)


async def run_bot_of_words(websocket: WebSocket, parts: Parts) -> None:
    """Serve one call on an accepted connection; words interrupt."""
    await _run(websocket, parts, start=[MinWordsUserTurnStartStrategy(min_words=MIN_WORDS)])


async def _run(websocket: WebSocket, parts: Parts, *, start: list[BaseUserTurnStartStrategy] | None) -> None:
    analyzer = LocalSmartTurnAnalyzerV3(params=SmartTurnParams(stop_secs=LONGEST_SILENCE))
    stop = TurnAnalyzerUserTurnStopStrategy(turn_analyzer=analyzer)
    turns = LLMUserAggregatorParams(
        vad_analyzer=SileroVADAnalyzer(params=VADParams(stop_secs=VAD_STOP)),
        user_turn_strategies=UserTurnStrategies(start=start, stop=[stop]),
    )
    stt = QuickWhisper(settings=QuickWhisper.Settings(model=str(parts.whisper)))
    await converse(websocket, parts, stt, turns)
