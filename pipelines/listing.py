"""`voice pipelines`: what there is, and what each still needs."""

import os
from pathlib import Path

from pipelines import settings
from pipelines.settings import OpenAITier, Settings, Whisper


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
    if isinstance(pipeline.llm, OpenAITier):
        key = pipeline.llm.api_key_env
        if key and not os.environ.get(key):
            missing.append(f"an API key in the environment variable {key}")
        if pipeline.llm.base_url and not _serves(pipeline.llm.base_url):
            missing.append(f"a language model server at {pipeline.llm.base_url}, for example `ollama serve`")
    return missing


def _weights_here(model: str) -> bool:
    from voice.asr.weights import cached

    return Path(model).is_dir() or cached(model) is not None


def _serves(url: str) -> bool:
    from pipelines.auto import first_model

    return first_model(url) is not None
