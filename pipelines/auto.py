"""`--pipeline auto`: chooses the best free components on this machine. It downloads nothing and says what it chose."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from pipelines import settings
from pipelines.settings import Settings
from voice.language import NAMES
from voice.models.store import damaged, find, found

WHISPER = ("base.en", "tiny.en", "base")
"""The recognisers of English, best first."""
WHISPER_OF_OTHERS = ("small", "base", "tiny")
"""The recognisers of other languages, best first."""
VOICE = "en_US-joe-medium"
"""What speaks English."""
ANSWERERS = ("qwen2.5-coder-0.5b", "qwen2.5-0.5b-gguf", "qwen3-0.6b-gguf")
"""Language models in this process, the preferred one first."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A resolved pipeline, and the reason for each engine (none for a pipeline that was named)."""

    settings: Settings
    reasons: tuple[str, ...] = ()


def resolve(
    pipeline: str, overrides: Sequence[str], *, change: Callable[[dict[str, Any]], None] | None = None
) -> Choice:
    """Read a named pipeline, or put "auto" together from the components on this machine.

    Args:
        pipeline, overrides, change: as in `settings.load`.

    Raises:
        ConfigurationError: see `settings.load`.
    """
    if pipeline != "auto":
        return Choice(settings.load(pipeline, overrides, change=change))
    language = _language(overrides)
    asr, asr_reason = _asr(language)
    llm, llm_reason = _llm(language)
    base = settings.load("embedded").model_dump(exclude_unset=True)
    tts, tts_reason = _tts(language)
    table = {**base, "name": "auto", "description": "the best that is already here", "asr": asr, "llm": llm, "tts": tts}
    repair = [f"{name} is damaged and is not taken: run `voice models pull {name}`" for name in damaged()]
    return Choice(
        settings.check(table, source="auto", overrides=overrides, change=change),
        (asr_reason, llm_reason, tts_reason, *repair),
    )


def _language(overrides: Sequence[str]) -> str:
    """The language that `--set` chooses."""
    table: dict[str, Any] = {}
    for override in overrides:
        settings.apply_override(table, override)
    return str(table.get("language", "en"))


def _asr(language: str) -> tuple[dict[str, Any], str]:
    folder = os.environ.get("VOICE_WHISPER_DIR")
    if folder:
        return {"engine": "whisper", "model": folder}, f"asr: faster-whisper, because VOICE_WHISPER_DIR is {folder}"
    for model in WHISPER if language == "en" else WHISPER_OF_OTHERS:
        if path := find(model):
            return {"engine": "whisper", "model": model}, f"asr: faster-whisper {model}, found in {path}"
    return {"engine": "sphinx"}, (
        "asr: PocketSphinx, because no Whisper weights are here; "
        f"`voice models pull {'tiny.en' if language == 'en' else 'base'}` gets some"
    )


def _tts(language: str) -> tuple[dict[str, Any], str]:
    """The `[tts]` table, and the reason for it."""
    voices = {VOICE: find(VOICE)} if language == "en" else found("voice")
    for name, path in voices.items():
        if path and name.startswith(f"{language}_"):
            return {"voice": name}, f"tts: {name}, found in {path.parent}"
    why = "" if language == "en" else f", because no {NAMES.get(language, language)} voice is here"
    return {"voice": "embedded"}, f"tts: the embedded voice{why}"


def _llm(language: str) -> tuple[dict[str, Any], str]:
    """The `[llm]` table, and the reason for it."""
    # Its HTTP client takes a tenth of a second to import, which only this pipeline needs.
    from pipelines.providers.local_servers import find_servers, probe

    servers = find_servers()
    taken, failed = probe([server for server in servers if server.model])
    problems = [f"port {server.port}: {server.problem}" for server in (*servers, *failed) if server.problem]
    but = f" ({'; '.join(problems)})" if problems else ""
    if taken:
        large = {"provider": "openai", "base_url": taken.url, "model": taken.model}
        return {"policy": "single", "large": large}, f"llm: {taken.model} at {taken.name} on port {taken.port}{but}"
    if own := _own_model():
        model, why = own
        first = {"responder": True} if language == "en" else {}
        before = "the responder for what it understands, else " if first else ""
        return {"policy": "single", **first, "large": {"provider": "own", "model": model}}, f"llm: {before}{why}{but}"
    return {"provider": "responder"}, (
        f"llm: the responder, because no language model is here and no server of one answers{but}; "
        "`voice models pull` gets a small one, `ollama run llama3.2` starts one"
    )


def _own_model() -> tuple[str, str] | None:
    """The model that runs in this process, and why it is taken; None if none is here."""
    if path := os.environ.get("VOICE_OWN_MODEL"):
        return path, f"the model in this process that VOICE_OWN_MODEL names, {path}"
    for model in ANSWERERS:
        place = find(model)
        if place and find_spec("xllamacpp"):
            return model, f"{model} in this process, found in {place.parent}; no server answers"
    return None
