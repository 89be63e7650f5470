"""What a pipeline's `language` changes: the usual values of other settings, and what cannot be done in it."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, get_args

from pipelines.engines.piper import VOICES
from voice.language import NAMES, Language
from voice.language.by_language import PHRASES

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


class Stage(Protocol):
    """A stage of a pipeline, which knows the languages that it works in."""

    def objection(self, language: Language) -> str | None:
        """Why it cannot work in a language and what to do, as a clause; None if it can."""

    def notice(self, language: Language) -> str | None:
        """What is worse in a language than somebody would expect, as a clause; None if nothing is."""


def objection(language: Language, stages: Iterable[Stage]) -> str | None:
    """Why a pipeline's stages cannot work in its language and what to do, as one clause; None if they can."""
    found = [clause for stage in stages if (clause := stage.objection(language))]
    return f'language = "{language}": {"; ".join(found)}' if found else None


def notices(language: Language, stages: Iterable[Stage], *, adaptive: bool) -> Iterator[str]:
    """What is worse in a pipeline's language than somebody would expect, each as one clause.

    Args:
        language: of the pipeline.
        stages: of the pipeline.
        adaptive: whether it ends turns by evidence.
    """
    yield from (clause for stage in stages if (clause := stage.notice(language)))
    if language != "en" and adaptive:
        yield (
            f"turns.adaptive has no model of how finished {NAMES[language]} words read: turns end by their sound, "
            "their length and the caller's pauses"
        )
