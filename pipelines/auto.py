"""`--pipeline auto`: the best that is already here and costs nothing. It downloads nothing and says what it took."""

import json
import os
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipelines import settings
from pipelines.settings import Settings

# Where local servers listen by default: Ollama, llama.cpp, vLLM, LM Studio.
LOCAL_SERVERS = {"Ollama": 11434, "llama.cpp": 8080, "vLLM": 8000, "LM Studio": 1234}
FIND_WITHIN = 0.15
PROBE_WITHIN = 20.0
"""Seconds for the one-token probe: a server may have to load its model first."""


# Loopback never goes through a proxy, whatever the environment says.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@dataclass(frozen=True, slots=True)
class Choice:
    """A pipeline as resolved, and why each engine was taken (empty for a pipeline that was named)."""

    settings: Settings
    reasons: tuple[str, ...] = ()


def resolve(pipeline: str, overrides: Sequence[str]) -> Choice:
    """Read a named pipeline, or put "auto" together from what is here.

    Raises:
        ConfigurationError: see `settings.load`.
    """
    if pipeline != "auto":
        return Choice(settings.load(pipeline, overrides))
    asr, asr_reason = _asr()
    llm, llm_reason = _llm()
    base = settings.load("embedded").model_dump()
    table = {**base, "name": "auto", "description": "the best that is already here", "asr": asr, "llm": llm}
    for override in overrides:
        settings.apply_override(table, override)
    return Choice(settings.check(table, source="auto"), (asr_reason, llm_reason, "tts: the embedded voice"))


def _asr() -> tuple[dict[str, Any], str]:
    folder = os.environ.get("VOICE_WHISPER_DIR")
    if folder:
        return {"engine": "whisper", "model": folder}, f"asr: faster-whisper, because VOICE_WHISPER_DIR is {folder}"
    from voice.asr.weights import cached

    for model in ("base.en", "tiny.en"):
        if cached(model):
            return {"engine": "whisper", "model": model}, f"asr: faster-whisper {model}, found in the hub's cache"
    return {"engine": "sphinx"}, (
        "asr: PocketSphinx, because no Whisper weights are here; `voice serve --pipeline local` downloads them"
    )


def _llm() -> tuple[dict[str, Any], str]:
    for name, port in LOCAL_SERVERS.items():
        url = f"http://127.0.0.1:{port}/v1"
        model = first_model(url)
        if model and _answers(url, model):
            return {"provider": "openai", "base_url": url, "model": model}, f"llm: {model} at {name} on port {port}"
    return {"provider": "responder"}, (
        "llm: the responder, because no language model server listens here; `ollama run llama3.2` starts one"
    )


def first_model(url: str) -> str | None:
    """The first model a server offers, or None when nothing that speaks OpenAI's protocol answers in time."""
    try:
        with _open(f"{url}/models", timeout=FIND_WITHIN) as answer:
            models = json.load(answer)["data"]
        return str(models[0]["id"]) if models else None
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def _answers(url: str, model: str) -> bool:
    """Whether the server really completes: one token."""
    body = json.dumps({"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}).encode()
    request = urllib.request.Request(f"{url}/chat/completions", body, {"Content-Type": "application/json"})
    try:
        with _open(request, timeout=PROBE_WITHIN) as answer:
            return bool(json.load(answer)["choices"])
    except (OSError, ValueError, KeyError, TypeError):
        return False
