"""The LiveKit session with settings chosen for latency.

A turn ends after 0.3 s of silence, where the defaults are 0.55 s for the voice detector and 0.5 s for the turn, and the
answer is synthesised before the turn has ended (`preemptive_tts`). Whisper decodes as our recogniser does, with as many
threads. LiveKit's own turn detector is not used: its weights have to be downloaded.
"""

from functools import cache

from fastapi import WebSocket
from faster_whisper import WhisperModel
from livekit.agents import AgentSession, TurnHandlingOptions
from livekit.plugins import openai, silero
from piper import PiperVoice

from pipelines.lab.bench.livekit_agents import LivekitPiper, LivekitWhisper, converse
from pipelines.lab.bench.peer import DECODING, Parts

SILENCE = 0.3
"""Seconds of silence that end a turn, as in LiveKit's example of a shorter delay."""


@cache
def prewarm(parts: Parts) -> tuple[WhisperModel, PiperVoice, silero.VAD]:
    """Load the models that all calls share."""
    whisper = WhisperModel(str(parts.whisper), device="cpu", compute_type="int8", cpu_threads=1)
    return whisper, PiperVoice.load(parts.voice), silero.VAD.load(min_silence_duration=SILENCE)


async def run_bot(websocket: WebSocket, parts: Parts) -> None:
    """Serve one call on an accepted connection."""
    whisper, voice, vad = prewarm(parts)
    session: AgentSession[None] = AgentSession(
        stt=LivekitWhisper(whisper, **DECODING),
        vad=vad,
        llm=openai.LLM(model=parts.llm_model, base_url=parts.llm_url, api_key="none"),
        tts=LivekitPiper(voice),
        turn_handling=TurnHandlingOptions(
            endpointing={"min_delay": SILENCE}, preemptive_generation={"preemptive_tts": True}
        ),
    )
    await converse(websocket, parts, session, voice.config.sample_rate)
