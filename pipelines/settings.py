"""The settings of a pipeline file, and one clear sentence for each mistake in it.

A pipeline is a TOML file: one table a stage. Times that people write are in milliseconds and end in `_ms`.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Discriminator, Field, Tag, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from latency.command_line import did_you_mean
from pipelines.engines.engine import AsrTable, TtsTable
from pipelines.engines.piper import VOICES, Piper
from pipelines.engines.whisper import WEIGHTS
from pipelines.providers.responder import ResponderTable
from pipelines.registry import RECOGNISERS, SYNTHESISERS
from pipelines.settings_table import SENTENCE, UNKNOWN_KEY, UNKNOWN_KIND, OneOf, Table
from pipelines.tiers.table import Tiers
from voice.errors import ConfigurationError
from voice.language import NAMES, Language
from voice.language.by_language import PHRASES
from voice.language.english.phrases import ENGLISH
from voice.redaction import hide, hide_secrets, is_secret
from voice.text_file import read_text
from voice.turns.early_answers import EXTRA
from voice.turns.endpointing import RISK

FOLDER = Path(__file__).parent / "presets"
ENGINE = "engine"
"""The key of a stage's table that chooses its engine or provider."""
TIER_BRINGS = ("provider", "model", "wire", "base_url", "api_key_env", "headers", "speed", "effort", "price", "p95_ms")
"""The settings that a tier of the catalogue determines itself."""
STAGE_EXAMPLES = {
    "asr": '; add a table such as [asr] with engine = "sphinx"',
    "llm": '; add a table such as [llm] with provider = "responder"',
}
"""The advice for a required stage that a file lacks."""


class Vad(Table):
    """Voice activity detection (Silero)."""

    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.7
    """The probability from which the detector takes a window of 32 ms for speech."""
    start_ms: Annotated[int, Field(ge=32, le=1000)] = 200
    """The length of speech that counts as the start of a turn or as a barge-in."""
    stop_ms: Annotated[int, Field(ge=32, le=2000)] = 200
    """The silence that ends speech; no turn ends sooner."""
    min_volume: Annotated[float, Field(ge=0, le=1)] = 0.4
    """The loudness below which nothing is speech, as pipecat measures it."""


class Turns(Table):
    """The end of the user's turn; see docs/concepts/end-of-turn.md."""

    detector: Literal["smart-turn", "silence"] = "smart-turn"
    """How to judge whether the words sound finished: by Smart Turn, or only by the silence after them."""
    fallback_ms: Annotated[int, Field(ge=100, le=5000)] = 700
    """The silence that ends a turn if it is unknown whether its words are finished and, without `adaptive`, if they
    sound unfinished. The default leaves time for a prepared answer within the 800 ms of a turn."""
    adaptive: bool = True
    """Whether the evidence also includes how finished the words read, the length of the turn, and the number and length
    of the caller's pauses. Words in doubt then need as much silence as `risk` allows, up to `longest_ms`."""
    reader: str = "auto"
    """The language model that judges how finished English words read: the name of a pulled model or a GGUF file, of a
    kind that knows ChatML. `auto` takes smollm2-135m if it is pulled; without it, or with `trigram`, a trigram model
    that comes with PocketSphinx judges."""
    risk: Annotated[float, Field(gt=0, lt=1)] = RISK
    """The share of a caller's pauses that may be taken for the end of the turn. A smaller one costs time, a larger one
    cuts off more callers; `latency curve` shows both."""
    longest_ms: Annotated[int, Field(ge=100, le=10_000)] = 2500
    """The longest silence of an adaptive turn."""
    speculation: Literal["off", "llm", "llm+tts", "early"] = "early"
    """The work that starts before the likely end of a turn: none, the answer, or also the speech of its first clause.
    With `early` both start while the last words are still spoken, if they read like an end; this needs a Whisper with
    short passes, otherwise `early` does the same as `llm+tts`."""
    extra_requests: Annotated[float, Field(ge=0, le=2)] = EXTRA
    """The early requests that a call may waste, as a share of its turns."""
    hint_ms: Annotated[int, Field(ge=0, le=1000)] = 64
    """The silence after which the recogniser starts to finish its text, and the answer may be started; 0 for never."""


class BargeIn(Table):
    """The effect of the caller's speech on an answer; see docs/concepts/barge-in.md."""

    mode: Literal["auto", "off", "speech", "words"] = "auto"
    """What stops an answer: nothing, any speech, or certain words. `auto` is `words` if the recogniser gives words
    during speech, else `speech`."""
    duck_db: Annotated[float, Field(ge=0, le=60)] = 15
    """The attenuation of an answer, in decibels, until the words have decided."""
    decide_ms: Annotated[int, Field(ge=300, le=3000)] = 650
    """The length of speech after which any words stop an answer; backchannels never do."""
    short_ms: Annotated[int, Field(ge=0, le=3000)] = 500
    """Shorter speech stops it only with "stop" or the like, early in an answer also with a whole request: recognisers
    hear words in coughs."""
    hold_ms: Annotated[int, Field(ge=100, le=5000)] = 2000
    """How long an answer that was silenced by speech without words waits for words before it goes on."""
    far_db: Annotated[float, Field(ge=0, le=60)] = 15
    """The level difference, in decibels, from which a softer voice is not the caller's; 0 for none."""


class Watchdog(Table):
    """Limits on a caller's wait in silence; see docs/concepts/failures.md."""

    silence_ms: Annotated[int, Field(ge=1000, le=120_000)] = 8000
    """The part that the caller waits for must show progress within this time. A language model or a tool is then
    announced as still working; any other part has hung: the caller is told, or the call is ended."""
    give_up_ms: Annotated[int, Field(ge=1000, le=600_000)] = 60_000
    """A language model or a tool that is still working after this time has also hung."""


class Call(Table):
    """Silence, goodbye, long answers and transcripts; see docs/concepts/conversation.md."""

    silence_ms: Annotated[int, Field(ge=0, le=3_600_000)] = 30_000
    """The silence after which the caller is asked, once, whether they are still there; 0 never asks."""
    silence_question: Annotated[str, Field(min_length=1, max_length=200)] = ENGLISH.still_there
    """The question after that silence; the default is in the pipeline's `language`."""
    part_ms: Annotated[int, Field(ge=0, le=600_000)] = 20_000
    """The approximate length after which an answer stops at the end of a sentence and the caller is asked whether to go
    on; 0 speaks every answer to its end."""
    hang_up: bool = True
    """Whether the agent ends the call after it has answered a goodbye."""
    transcripts: str = ""
    """The folder for the transcripts of calls; empty keeps none."""
    transcript_days: Annotated[int, Field(ge=0, le=36_500)] = 0
    """Days for which a transcript is kept: older ones are deleted when the next one begins; 0 deletes none."""


class Settings(Table):
    """A resolved pipeline with all its values."""

    name: str
    """The pipeline's name."""
    description: str = ""
    """One sentence for `voice pipelines`."""
    language: Language = "en"
    """The language of caller and agent: it chooses the recogniser's language, the voice, the agent's own phrases, and
    the words that decide turns and interruptions; see docs/how-to/languages.md."""
    vad: Vad = Vad()
    turns: Turns = Turns()
    barge_in: BargeIn = BargeIn()
    watchdog: Watchdog = Watchdog()
    call: Call = Call()
    asr: Annotated[AsrTable, OneOf("engine", RECOGNISERS)]
    llm: Annotated[
        Annotated[ResponderTable, Tag("responder")] | Annotated[Tiers, Tag("tiers")],
        Discriminator(lambda llm: _llm_kind(llm)),
    ]
    tts: Annotated[TtsTable, OneOf("engine", SYNTHESISERS, default="piper")] = Piper()

    @model_validator(mode="before")
    @classmethod
    def _take_usual(cls, values: Any) -> Any:
        return _with_usual(values) if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _check_language(self) -> Self:
        if found := [clause for stage in self._stages if (clause := stage.objection(self.language))]:
            clause = f'language = "{self.language}": {"; ".join(found)}'
            raise PydanticCustomError(SENTENCE, "{clause}", {"clause": clause})
        return self

    @property
    def _stages(self) -> "tuple[AsrTable, ResponderTable | Tiers, TtsTable]":
        return self.asr, self.llm, self.tts

    def notices(self) -> list[str]:
        """The limitations in its language, each as one clause."""
        found = [clause for stage in self._stages if (clause := stage.notice(self.language))]
        if self.language != "en" and self.turns.adaptive:
            found.append(
                f"turns.adaptive has no model of how finished {NAMES[self.language]} words read: turns end by their "
                "sound, their length and the caller's pauses"
            )
        return found

    def needs(self) -> list[str]:
        """The missing parts, each with the way to get it. Nothing is loaded or downloaded."""
        return [need for stage in self._stages for need in stage.needs()]


def names() -> list[str]:
    """The pipelines that come with the package, by file name."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(
    pipeline: str, overrides: Sequence[str] = (), *, change: Callable[[dict[str, Any]], None] | None = None
) -> Settings:
    """Read and check a pipeline.

    Args:
        pipeline: a name of `names()` or the path of a TOML file.
        overrides: `key=value` strings, keys dotted as in the file; a value is TOML, or else a plain string.
        change: edits the file's nested dictionaries before the overrides do.

    Raises:
        ConfigurationError: no such pipeline, not TOML, an unknown key or a value out of range.
    """
    path = Path(pipeline) if pipeline.endswith(".toml") or "/" in pipeline else FOLDER / f"{pipeline}.toml"
    try:
        table = tomllib.loads(read_text(path))
    except FileNotFoundError:
        known = ["auto", *names()]
        others = f"; use one of {', '.join(known)}, or the path of a .toml file."
        meant = did_you_mean(pipeline, known)
        raise ConfigurationError(f'There is no pipeline "{pipeline}"{meant or others}') from None
    except (OSError, UnicodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"{path} cannot be read as a pipeline file: {why}.") from error
    return check({"name": path.stem, **table}, source=path.name, overrides=overrides, change=change)


def check(
    table: dict[str, Any],
    *,
    source: str,
    overrides: Sequence[str] = (),
    change: Callable[[dict[str, Any]], None] | None = None,
) -> Settings:
    """Validate a pipeline given as nested dictionaries; `source` names it in errors. The rest is as in `load`."""
    if change is not None:
        change(table)
    # An engine first: it has settings of its own, which other overrides may change.
    for override in sorted(overrides, key=lambda override: not _chooses_engine(override)):
        apply_override(table, override)
    hide_secrets(table)
    try:
        return Settings.model_validate(table)
    except ValidationError as error:
        clauses = (_sentence(table, dict(e)) for e in error.errors()[:3])
        sentences = (f"{source}: {clause}{'' if clause.endswith('?') else '.'}" for clause in clauses)
        raise ConfigurationError(" ".join(sentences)) from error


def _chooses_engine(override: str) -> bool:
    return override.partition("=")[0].strip().endswith(f".{ENGINE}")


def apply_override(table: dict[str, Any], override: str) -> None:
    """Apply one `--set key=value` to a pipeline's nested dictionaries; a new engine drops the old one's settings.

    Raises:
        ConfigurationError: it has no key, or the key goes through a value.
    """
    key, equals, value = override.partition("=")
    if not equals or not key.strip():
        raise ConfigurationError(f'--set takes key=value, for example turns.fallback_ms=600; got "{override}".')
    if is_secret(key.strip()):
        hide(value.strip().strip("\"'"))
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        parsed = value.strip()
    *parents, last = key.strip().split(".")
    for parent in parents:
        table = table.setdefault(parent, {})
        if not isinstance(table, dict):
            raise ConfigurationError(f'{override}: "{parent}" is a value, not a table.')
    if last == "tier":
        # Another tier of the catalogue has its own.
        for replaced in TIER_BRINGS:
            table.pop(replaced, None)
    if last == ENGINE and parents and table.get(ENGINE, parsed) != parsed:
        table.clear()
    table[last] = parsed


def _llm_kind(llm: Any) -> str:
    """The form of an `llm` table, one of two."""
    provider = llm.get("provider") if isinstance(llm, dict) else getattr(llm, "provider", None)
    return "responder" if provider == "responder" else "tiers"


def _sentence(table: dict[str, Any], error: dict[str, Any]) -> str:
    """The mistake as a sentence without source and full stop; it ends with a suggestion if there is a close one."""
    path = _path_in_file(table, error)
    kind, context = error["type"], error.get("ctx", {})
    key = ".".join([*path, context["key"]] if "key" in context else path)
    if kind == SENTENCE:
        return str(error["msg"])
    if kind == UNKNOWN_KEY and key == "llm.provider":
        return (
            'llm.provider must be "responder"; a language model is a tier: '
            'write [llm.large] with provider = "openai", and [llm.fast] beside it'
        )
    if kind == UNKNOWN_KEY:
        meant = did_you_mean(context["key"], context["known"].split(", "))
        return f"{key} is not a setting; known here: {context['known']}{meant}"
    if kind == UNKNOWN_KIND:
        meant = did_you_mean(str(error["input"].get(context["key"])), context["known"].split(", "))
        return f"{key} must be one of {context['known']}{meant}"
    if kind == "missing":
        return f"{key} is missing" + STAGE_EXAMPLES.get(key, "")
    if kind in ("model_type", "model_attributes_type"):
        return f"{key} must be a table, not {error['input']!r}"
    meant = did_you_mean(str(error["input"]), re.findall(r"'([^']+)'", str(context.get("expected", ""))))
    msg = error["msg"].removeprefix("Value error, ")
    return f"{key} = {error['input']!r} is not allowed: {msg[0].lower()}{msg[1:]}{meant}"


def _path_in_file(table: Any, error: dict[str, Any]) -> list[str]:
    """The path of an error in the file; pydantic's path also contains the kind of table."""
    path = []
    for part in error["loc"]:
        if isinstance(table, dict) and part in table:
            table = table[part]
        elif isinstance(table, dict) or not isinstance(part, int):
            continue
        path.append(str(part))
    if error["type"] == "missing":
        path.append(str(error["loc"][-1]))
    return path


def _with_usual(table: dict[str, Any]) -> dict[str, Any]:
    """A pipeline's nested dictionaries, with the defaults of its language for missing settings."""
    language: Language = next((code for code in get_args(Language) if code == table.get("language")), "en")
    if language == "en":
        return table
    stages: dict[str, Any] = {name: table.get(name, {}) for name in ("asr", "llm", "tts", "call")}
    usual: dict[str, dict[str, str]] = {"call": {"silence_question": PHRASES[language].still_there}}
    if _says(stages["asr"], "engine", None) == "whisper":
        usual["asr"] = {"model": WEIGHTS[language]}
    if _says(stages["llm"], "provider", None) != "responder":
        usual["llm"] = {"prompt": PHRASES[language].prompt}
    if _says(stages["tts"], "engine", "piper") == "piper":
        usual["tts"] = {"voice": VOICES[language]}
    return {**table, **{name: _filled(stages[name], values) for name, values in usual.items()}}


def _says(stage: Any, key: str, default: str | None) -> Any:
    return stage.get(key, default) if isinstance(stage, dict) else None


def _filled(stage: Any, values: dict[str, str]) -> Any:
    """A stage's table, with `values` for missing keys; a value that is not a table is refused elsewhere."""
    return {**values, **stage} if isinstance(stage, dict) else stage
