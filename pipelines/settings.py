"""What a pipeline file may say, and one clear sentence for everything it may not.

A pipeline is a TOML file: one table a stage. Times that people write are in milliseconds and end in `_ms`.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voice.errors import ConfigurationError

FOLDER = Path(__file__).parent
PROMPT = (
    "You are a helpful assistant on a voice call. Your words are spoken aloud: answer in one to three short sentences "
    "of plain text, without lists, markup or emoji."
)


class Table(BaseModel):
    """A table of a pipeline file: unknown keys are refused, values are never coerced silently."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Vad(Table):
    """Voice activity detection (Silero)."""

    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.7
    start_ms: Annotated[int, Field(ge=32, le=1000)] = 200
    stop_ms: Annotated[int, Field(ge=32, le=2000)] = 200
    min_volume: Annotated[float, Field(ge=0, le=1)] = 0.4


class Turns(Table):
    """When the user has finished: by Smart Turn, or at the latest after the fallback silence."""

    detector: Literal["smart-turn", "silence"] = "smart-turn"
    fallback_ms: Annotated[int, Field(ge=100, le=5000)] = 800


class Sphinx(Table):
    """The embedded recogniser. `domain_weight`: share of the responder's own sentences in the language model."""

    engine: Literal["sphinx"]
    domain_weight: Annotated[float, Field(ge=0, lt=1)] = 0.5


class Whisper(Table):
    """faster-whisper: `model` is a folder or a name on the hub."""

    engine: Literal["whisper"]
    model: str = "tiny.en"
    device: Literal["cpu", "cuda"] = "cpu"
    compute_type: Literal["int8", "int8_float16", "float16", "float32"] = "int8"


class ResponderTier(Table):
    """The embedded backend without a language model."""

    provider: Literal["responder"]


class OpenAITier(Table):
    """Any server that speaks OpenAI's Chat Completions. The key is read from the variable `api_key_env`.

    `silence_ms`: how long it may send nothing, before an answer or inside it, until the turn has failed.
    """

    provider: Literal["openai"]
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    prompt: str = PROMPT
    max_tokens: Annotated[int, Field(ge=1, le=8192)] = 300
    silence_ms: Annotated[int, Field(ge=100, le=120_000)] = 10_000


class Piper(Table):
    """Piper: `voice` is "embedded", a voice's .onnx file, or a published name such as en_US-lessac-medium."""

    engine: Literal["piper"] = "piper"
    voice: str = "embedded"


class Settings(Table):
    """A whole pipeline, as resolved: every value that was used."""

    name: str
    description: str = ""
    vad: Vad = Vad()
    turns: Turns = Turns()
    asr: Annotated[Sphinx | Whisper, Field(discriminator="engine")]
    llm: Annotated[ResponderTier | OpenAITier, Field(discriminator="provider")]
    tts: Piper = Piper()


def names() -> list[str]:
    """The pipelines that come with the package, by file name."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(pipeline: str, overrides: Sequence[str] = ()) -> Settings:
    """Read and check a pipeline.

    Args:
        pipeline: a name of `names()` or the path of a TOML file.
        overrides: `key=value` strings, keys dotted as in the file; a value is TOML, or else a plain string.

    Raises:
        ConfigurationError: no such pipeline, not TOML, an unknown key or a value out of range.
    """
    path = Path(pipeline) if pipeline.endswith(".toml") or "/" in pipeline else FOLDER / f"{pipeline}.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = ", ".join(["auto", *names()])
        raise ConfigurationError(
            f'There is no pipeline "{pipeline}"; use one of {known}, or the path of a .toml file.'
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read as a pipeline file: {error}.") from error
    for override in overrides:
        apply_override(table, override)
    return check({"name": path.stem, **table}, source=path.name)


def check(table: dict[str, Any], *, source: str) -> Settings:
    """Validate a pipeline given as nested dictionaries; `source` names it in errors."""
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        raise ConfigurationError(" ".join(_sentence(table, dict(e), source) for e in error.errors()[:3])) from error


def apply_override(table: dict[str, Any], override: str) -> None:
    """Carry out one `--set key=value` on a pipeline's nested dictionaries.

    Raises:
        ConfigurationError: it has no key, or the key goes through a value.
    """
    key, equals, value = override.partition("=")
    if not equals or not key.strip():
        raise ConfigurationError(f'--set takes key=value, for example turns.fallback_ms=600; got "{override}".')
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()
    *parents, last = key.strip().split(".")
    for parent in parents:
        table = table.setdefault(parent, {})
        if not isinstance(table, dict):
            raise ConfigurationError(f'--set {override}: "{parent}" is a value, not a table.')
    table[last] = parsed


def _sentence(table: dict[str, Any], error: dict[str, Any], source: str) -> str:
    # pydantic puts the discriminator's value into the path; the file has no such key.
    path = [str(part) for part in error["loc"]]
    key = ".".join(p for i, p in enumerate(path) if not (i == 1 and path[0] in ("asr", "llm") and len(path) > 2))
    context = error.get("ctx", {})
    if error["type"] == "extra_forbidden":
        known = ", ".join(_known(table, path))
        return f"{source}: {key} is not a setting; known here: {known}."
    if error["type"] == "missing":
        return f"{source}: {key} is missing."
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tag = str(context.get("discriminator", "")).strip("'")
        allowed = _tags(path[0])
        return f"{source}: {key}.{tag} must be one of {', '.join(allowed)}."
    return f"{source}: {key} = {error['input']!r} is not allowed: {error['msg'][0].lower()}{error['msg'][1:]}."


def _tags(stage: str) -> list[str]:
    """The engines a stage may name."""
    unions: dict[str, tuple[type[Table], ...]] = {"asr": (Sphinx, Whisper), "llm": (ResponderTier, OpenAITier)}
    tag = {"asr": "engine", "llm": "provider"}[stage]
    return [get_args(option.model_fields[tag].annotation)[0] for option in unions[stage]]


def _known(table: dict[str, Any], path: list[str]) -> list[str]:
    model: type[BaseModel] = Settings
    if len(path) > 1:
        stages: dict[str, type[Table]] = {"vad": Vad, "turns": Turns, "tts": Piper}
        engines: dict[str, type[Table]] = {
            "sphinx": Sphinx,
            "whisper": Whisper,
            "responder": ResponderTier,
            "openai": OpenAITier,
        }
        model = stages.get(path[0]) or engines[path[1]]
    return list(model.model_fields)
