"""What a pipeline file may say, and one clear sentence for everything it may not.

A pipeline is a TOML file: one table a stage. Times that people write are in milliseconds and end in `_ms`.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError

from latency.budget import LLM_ALLOWED
from voice.asr.sphinx import DOMAIN_WEIGHT
from voice.errors import ConfigurationError
from voice.turns.endpointing import RISK

FOLDER = Path(__file__).parent / "presets"
Fault = Literal[
    "silent", "keepalive", "dribble", "refuse", "401", "429", "500", "midfail", "slow-connect", "cut-socket"
]
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
    """When the user has finished: by Smart Turn, or by a silence.

    `fallback_ms`: the silence that ends a turn whose words are in doubt; by default as much as leaves a prepared answer
    within the 800 ms of a turn.
    `adaptive`: how finished the words read, and the caller's own pauses, count too; words that are hardly finished, and
    those of a caller who pauses in most turns, may then wait for longer than the fallback. `risk`: the estimated chance
    of cutting the user off at which an adaptive silence ends the turn; a smaller one costs time.
    `speculation`: what is begun ahead of the end of a turn that is likely to be over: nothing, the answer, or also the
    speech of its first clause. `hint_ms`: the silence after which the recogniser begins with it.
    """

    detector: Literal["smart-turn", "silence"] = "smart-turn"
    fallback_ms: Annotated[int, Field(ge=100, le=5000)] = 700
    adaptive: bool = True
    risk: Annotated[float, Field(gt=0, lt=1)] = RISK
    speculation: Literal["off", "llm", "llm+tts"] = "llm+tts"
    hint_ms: Annotated[int, Field(ge=0, le=1000)] = 64


class Sphinx(Table):
    """The embedded recogniser. `domain_weight`: share of the responder's own sentences in the language model."""

    engine: Literal["sphinx"]
    domain_weight: Annotated[float, Field(ge=0, lt=1)] = DOMAIN_WEIGHT


class Whisper(Table):
    """faster-whisper: `model` is a folder or a name on the hub.

    `context`: what a pass encodes, "full" windows of 30 s or ("auto") little more than the audio, several times faster;
    see `voice.asr.whisper.decoding`. `streaming`: decode speech while it goes on, where a pass is fast enough for that.
    """

    engine: Literal["whisper"]
    model: str = "tiny.en"
    device: Literal["cpu", "cuda"] = "cpu"
    compute_type: Literal["int8", "int8_float16", "float16", "float32"] = "int8"
    context: Literal["full", "auto"] = "full"
    streaming: bool = True


class Responder(Table):
    """The embedded backend without a language model."""

    provider: Literal["responder"]


class Tier(Table):
    """What every language model says of itself.

    `p95_ms`: how long its first clause takes in 95 of 100 requests; assumed until enough is measured.
    `silence_ms`: how long it may send nothing, before an answer or inside it, until its request has failed.
    """

    wire: Literal["chat", "responses"] = "chat"
    max_tokens: Annotated[int, Field(ge=1, le=8192)] = 300
    silence_ms: Annotated[int, Field(ge=100, le=120_000)] = 10_000
    p95_ms: Annotated[int, Field(ge=10, le=60_000)] | None = None


class OpenAITier(Tier):
    """Any server that speaks OpenAI's protocols. The key is read from the variable `api_key_env`."""

    provider: Literal["openai"]
    model: str
    base_url: str | None = None
    api_key_env: str | None = None


class SimTier(Tier):
    """A model of our simulator, which is started with the pipeline. `ttft_ms` fixes its time to first token."""

    provider: Literal["sim"]
    model: str = "sonnet"
    # A status such as 500 is a number to TOML.
    fault: Annotated[Fault, BeforeValidator(lambda fault: str(fault) if type(fault) is int else fault)] | None = None
    ttft_ms: Annotated[float, Field(gt=0, le=60_000)] | None = None


class Simulator(Table):
    """Whose figures simulated models have, and the seed of their chance."""

    preset: Literal["field", "optimistic"] = "field"
    seed: int = 1


class Tiers(Table):
    """Language models under a policy and a budget: the time from the end of the user's turn to the first clause.

    `swap_tool`: offer the models a tool with which they change who answers from then on.
    """

    policy: Literal["single", "hedged", "fallback", "race", "adaptive"] = "adaptive"
    budget_ms: Annotated[float, Field(ge=LLM_ALLOWED[0] * 1000, le=LLM_ALLOWED[1] * 1000)] = 450
    bridge: bool = True
    hold_phrases: list[str] = []
    prompt: str = PROMPT
    swap_tool: bool = False
    large: Annotated[OpenAITier | SimTier, Field(discriminator="provider")] | None = None
    fast: Annotated[OpenAITier | SimTier, Field(discriminator="provider")] | None = None
    simulator: Simulator = Simulator()

    @property
    def tiers(self) -> dict[str, OpenAITier | SimTier]:
        """Those there are, by name, the large one first."""
        return {name: tier for name, tier in (("large", self.large), ("fast", self.fast)) if tier}


class Piper(Table):
    """Piper: `voice` is "embedded", a voice's .onnx file, or a published name such as en_US-lessac-medium.

    `streaming`: send a sentence's audio while the rest of it is made, where the voice allows it.
    """

    engine: Literal["piper"] = "piper"
    voice: str = "embedded"
    streaming: bool = True


class Settings(Table):
    """A whole pipeline, as resolved: every value that was used."""

    name: str
    description: str = ""
    vad: Vad = Vad()
    turns: Turns = Turns()
    asr: Annotated[Sphinx | Whisper, Field(discriminator="engine")]
    llm: Annotated[
        Annotated[Responder, Tag("responder")] | Annotated[Tiers, Tag("tiers")],
        Discriminator(lambda llm: _llm_kind(llm)),
    ]
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


def _llm_kind(llm: Any) -> str:
    """Which of the two forms an `llm` table has."""
    provider = llm.get("provider") if isinstance(llm, dict) else getattr(llm, "provider", None)
    return "responder" if provider == "responder" else "tiers"


def _sentence(table: dict[str, Any], error: dict[str, Any], source: str) -> str:
    path = [str(part) for part in error["loc"]]
    key = ".".join(_in_file(path))
    context = error.get("ctx", {})
    if key == "llm.provider" and error["type"] == "extra_forbidden":
        return (
            f'{source}: llm.provider must be "responder"; a language model is a tier: '
            'write [llm.large] with provider = "openai", and [llm.fast] beside it.'
        )
    if error["type"] == "extra_forbidden":
        known = ", ".join(_model_at(path[:-1]).model_fields)
        return f"{source}: {key} is not a setting; known here: {known}."
    if error["type"] == "missing":
        return f"{source}: {key} is missing."
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tag = str(context.get("discriminator", "")).strip("'")
        allowed = (str(context.get("expected_tags", "")) or ", ".join(_TAGS[_in_file(path)[0]])).replace("'", "")
        return f"{source}: {key}.{tag} must be one of {allowed}."
    return f"{source}: {key} = {error['input']!r} is not allowed: {error['msg'][0].lower()}{error['msg'][1:]}."


_TAGS = {"asr": ("sphinx", "whisper"), "llm": ("openai", "sim")}
_UNIONS: dict[str, type[Table]] = {
    "sphinx": Sphinx,
    "whisper": Whisper,
    "responder": Responder,
    "tiers": Tiers,
    "openai": OpenAITier,
    "sim": SimTier,
}


def _in_file(path: Sequence[str]) -> list[str]:
    """A path as the file has it: pydantic puts into it which form of a table was taken."""
    choices = {1} if path[0] in ("asr", "llm") else set()
    if len(path) > 3 and path[2] in ("large", "fast"):
        choices.add(3)
    return [part for position, part in enumerate(path) if position not in choices]


def _model_at(path: Sequence[str]) -> type[BaseModel]:
    """The table that a path of pydantic's leads to."""
    if not path:
        return Settings
    if path[-1] in _UNIONS:
        return _UNIONS[path[-1]]
    stages: dict[str, type[Table]] = {"vad": Vad, "turns": Turns, "tts": Piper, "simulator": Simulator}
    return stages[path[-1]]
