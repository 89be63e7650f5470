"""What a pipeline's `language` changes: the usual values of other settings, and what cannot be done in it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

from pipelines.engines.piper import VOICES
from voice.language import NAMES, Language
from voice.language.phrases import PHRASES

if TYPE_CHECKING:
    from pipelines.settings import Settings

WHISPER: dict[Language, str] = {"de": "base"}
"""The usual Whisper weights for each language that has others than English."""


def with_usual(table: dict[str, Any]) -> dict[str, Any]:
    """A pipeline's nested dictionaries with the usual values of its language, where the file says nothing."""
    language: Language = next((code for code in get_args(Language) if code == table.get("language")), "en")
    if language == "en":
        return table
    stages: dict[str, Any] = {name: table.get(name, {}) for name in ("asr", "llm", "tts", "call")}
    usual: dict[str, dict[str, str]] = {"call": {"silence_question": PHRASES[language].still_there}}
    if _says(stages["asr"], "engine", None) == "whisper":
        usual["asr"] = {"model": WHISPER[language]}
    if _says(stages["llm"], "provider", None) != "responder":
        usual["llm"] = {"prompt": PHRASES[language].prompt}
    if _says(stages["tts"], "engine", "piper") == "piper":
        usual["tts"] = {"voice": VOICES[language]}
    return {**table, **{name: _filled(stages[name], values) for name, values in usual.items()}}


def _says(stage: Any, key: str, default: str | None) -> Any:
    return stage.get(key, default) if isinstance(stage, dict) else None


def _filled(stage: Any, values: dict[str, str]) -> Any:
    """A stage's table with `values` where it has none; what is no table is refused elsewhere."""
    return {**values, **stage} if isinstance(stage, dict) else stage


def objection(settings: "Settings") -> str | None:
    """Why a pipeline cannot work in its language and what to do, as one clause; None if it may."""
    language = settings.language
    found = [clause for stage in _stages(settings) if (clause := stage.objection(language))]
    return f'language = "{language}": {"; ".join(found)}' if found else None


def notices(settings: "Settings") -> Iterator[str]:
    """What is worse in a pipeline's language than somebody would expect, each as one clause."""
    language = settings.language
    yield from (clause for stage in _stages(settings) if (clause := stage.notice(language)))
    if language != "en" and settings.turns.adaptive:
        yield (
            f"turns.adaptive has no model of how finished {NAMES[language]} words read: turns end by their sound, "
            "their length and the caller's pauses"
        )


def _stages(settings: "Settings") -> tuple[Any, ...]:
    return settings.asr, settings.llm, settings.tts
