"""`voice pipelines` and `voice devices`: what there is, and what it still needs."""

import os
from pathlib import Path

from latency.command_line import folded
from pipelines import settings
from pipelines.settings import OpenAITier, Piper, Settings, Tiers, Whisper
from voice.errors import ConfigurationError


def list_pipelines() -> list[str]:
    """The pipelines by name, each "ready" or with what is missing. Nothing is loaded or downloaded."""
    width = max(map(len, settings.names()))
    rows = [("auto", "ready", "the best that is already here and costs nothing", list[str]())]
    for name in settings.names():
        pipeline = settings.load(name)
        missing = needs(pipeline)
        rows.append((name, "needs" if missing else "ready", pipeline.description, missing))
    lines = []
    for name, state, description, missing in rows:
        lines.append(folded(description, first=f"{name:{width}}  {state}  ", indent=width + 9))
        lines += [folded(need, first=f"{'':{width + 9}}- ", indent=width + 11) for need in missing]
    return lines


def needs(pipeline: Settings) -> list[str]:
    """What is not here yet, each with how to get it."""
    tiers = pipeline.llm.tiers.values() if isinstance(pipeline.llm, Tiers) else ()
    openai = [tier for tier in tiers if isinstance(tier, OpenAITier)]
    keys = [need for tier in openai for need in needs_of(tier)]
    servers = [
        f"a language model server at {tier.base_url}, for example `ollama serve`"
        for tier in openai
        if tier.base_url and not _serves(tier.base_url)
    ]
    return [*needs_of(pipeline.asr), *dict.fromkeys(keys), *dict.fromkeys(servers), *needs_of(pipeline.tts)]


def needs_of(table: object) -> list[str]:
    """What the settings of one part need that is not on this machine, each with how to get it.

    No server is asked.

    Raises:
        ConfigurationError: a name cannot be that of a model or a voice.
    """
    match table:
        case Whisper():
            return _weights_missing(table.model)
        case OpenAITier() if table.api_key_env and not os.environ.get(table.api_key_env):
            return [f"an API key in the environment variable {table.api_key_env}"]
        case OpenAITier() if not table.api_key_env and not table.base_url:
            return ['an API key: name its environment variable, such as api_key_env = "OPENAI_API_KEY"']
        case Piper():
            return _voice_missing(table.voice)
    return []


def _weights_missing(model: str) -> list[str]:
    from voice.asr.whisper.weights import cached, from_folder

    folder = Path(model).expanduser()
    if folder.is_dir() or model.startswith(("/", ".", "~")):
        try:
            from_folder(folder)
        except ConfigurationError as error:
            return [str(error)]
    elif cached(model) is None:
        return [
            f"Whisper weights {model}: downloaded at the first start; without the hub, copy a model folder here and "
            '--set asr.model="/path/to/it"'
        ]
    return []


def _voice_missing(voice: str) -> list[str]:
    if voice == "embedded":
        return []
    if voice.endswith(".onnx") or "/" in voice:
        files = (Path(voice).expanduser(), Path(f"{voice}.json").expanduser())
        return [f"the voice file {file}: copy it here, or correct tts.voice" for file in files if not file.is_file()]
    from voice.tts.piper.published import cached_voice

    if cached_voice(voice) is None:
        return [f'the Piper voice {voice}: downloaded at the first start, or use tts.voice = "embedded"']
    return []


def _serves(url: str) -> bool:
    from pipelines.local_servers import first_model

    return not url.startswith("http://") or first_model(url) is not None


def list_sound() -> list[str]:
    """One line for each microphone or loudspeaker: number, name, direction; the defaults are marked.

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
    return lines or ["This machine has no sound device."]
