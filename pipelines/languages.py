"""The effects of a pipeline's `language`: defaults of other settings, and limitations."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, get_args

from pipelines.engines.piper import VOICES
from voice.language import NAMES, Language
from voice.language.by_language import PHRASES

WHISPER: dict[Language, str] = {"de": "base"}
"""The default Whisper weights for each language other than English."""


def with_usual(table: dict[str, Any]) -> dict[str, Any]:
    """A pipeline's nested dictionaries, with the defaults of its language for missing settings."""
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
    """A stage's table, with `values` for missing keys; a value that is not a table is refused elsewhere."""
    return {**values, **stage} if isinstance(stage, dict) else stage


class Stage(Protocol):
    """A stage of a pipeline, which knows its languages."""

    def objection(self, language: Language) -> str | None:
        """Why it cannot work in a language and what to do, as a clause; None if it can."""

    def notice(self, language: Language) -> str | None:
        """A limitation in a language, as a clause; None if there is none."""


def objection(language: Language, stages: Iterable[Stage]) -> str | None:
    """Why a pipeline's stages cannot work in its language and what to do, as one clause; None if they can."""
    found = [clause for stage in stages if (clause := stage.objection(language))]
    return f'language = "{language}": {"; ".join(found)}' if found else None


def notices(language: Language, stages: Iterable[Stage], *, adaptive: bool) -> Iterator[str]:
    """The limitations of a pipeline in its language, each as one clause.

    Args:
        language: the pipeline's language.
        stages: the pipeline's stages.
        adaptive: whether the pipeline ends turns by evidence.
    """
    yield from (clause for stage in stages if (clause := stage.notice(language)))
    if language != "en" and adaptive:
        yield (
            f"turns.adaptive has no model of how finished {NAMES[language]} words read: turns end by their sound, "
            "their length and the caller's pauses"
        )
