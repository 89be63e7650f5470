"""`voice pipelines` and `voice devices`: what there is, and what it still needs."""

import os
from pathlib import Path

from pipelines import settings
from pipelines.settings import OpenAITier, Settings, Tiers, Whisper


def list_pipelines() -> list[str]:
    """One line a pipeline: name, description, and "ready" or what is missing. Nothing is loaded or downloaded."""
    width = max(map(len, settings.names()))
    lines = [f"{'auto':{width}}  ready    the best that is already here and costs nothing"]
    for name in settings.names():
        pipeline = settings.load(name)
        missing = needs(pipeline)
        state = "ready  " if not missing else "needs  "
        lines.append(f"{name:{width}}  {state}  {pipeline.description}")
        lines += [f"{'':{width}}           - {need}" for need in missing]
    return lines


def needs(pipeline: Settings) -> list[str]:
    """What is not here yet, each with how to get it."""
    missing = []
    if isinstance(pipeline.asr, Whisper) and not _weights_here(pipeline.asr.model):
        missing.append(
            f"Whisper weights {pipeline.asr.model}: downloaded at the first start; without the hub, copy a model "
            'folder here and --set asr.model="/path/to/it"'
        )
    tiers = pipeline.llm.tiers.values() if isinstance(pipeline.llm, Tiers) else ()
    openai = [tier for tier in tiers if isinstance(tier, OpenAITier)]
    for key in dict.fromkeys(tier.api_key_env for tier in openai):
        if key and not os.environ.get(key):
            missing.append(f"an API key in the environment variable {key}")
    for url in dict.fromkeys(tier.base_url for tier in openai):
        if url and not _serves(url):
            missing.append(f"a language model server at {url}, for example `ollama serve`")
    voice = pipeline.tts.voice
    if voice != "embedded" and not _voice_here(voice):
        missing.append(f'the Piper voice {voice}: downloaded at the first start, or use tts.voice = "embedded"')
    return missing


def _voice_here(voice: str) -> bool:
    if voice.endswith(".onnx") or "/" in voice:
        return Path(voice).is_file()
    from voice.tts.piper.published import cached_voice

    return cached_voice(voice) is not None


def _weights_here(model: str) -> bool:
    from voice.asr.whisper.weights import cached

    return Path(model).is_dir() or cached(model) is not None


def _serves(url: str) -> bool:
    from pipelines.local_servers import first_model

    return not url.startswith("http://") or first_model(url) is not None


def list_sound() -> list[str]:
    """One line a microphone or loudspeaker: number, direction, name; the defaults are marked.

    Raises:
        ComponentError: PortAudio is missing.
    """
    from voice.client.sound.sound_card import list_devices

    lines = []
    for device in list_devices():
        kinds = [("microphone", device.inputs, device.is_default_input)]
        kinds.append(("loudspeaker", device.outputs, device.is_default_output))
        what = ", ".join(kind + (" (default)" if default else "") for kind, channels, default in kinds if channels)
        lines.append(f"{device.index:3}  {device.name}: {what}")
    return lines or ["No sound device is here."]
