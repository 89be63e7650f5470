"""`engine = "sphinx"`: PocketSphinx, the recogniser that comes with the package."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from pipelines.engines.engine import AsrTable, Recogniser
from pipelines.versions import version
from voice.asr.sphinx import DOMAIN_WEIGHT
from voice.language import Language

if TYPE_CHECKING:
    from pipecat.services.stt_service import STTService

    from voice.asr.sphinx.pool import SphinxPool
    from voice.queue_waits import QueueWaits
    from voice.second_pass import WordCheck


class Sphinx(AsrTable):
    """PocketSphinx, the embedded recogniser."""

    engine: Literal["sphinx"]
    domain_weight: Annotated[float, Field(ge=0, lt=1)] = DOMAIN_WEIGHT
    """The share of the responder's own sentences in the language model."""

    def objection(self, language: Language) -> str | None:
        """Its model is English."""
        if language == "en":
            return None
        return 'asr.engine = "sphinx" understands English only: use "whisper", with asr.model = "base" for example'

    def recogniser(self, language: Language = "en") -> Recogniser:
        """A pool of worker processes; not started yet."""
        return SphinxRecogniser(self)


class SphinxRecogniser:
    """A pool of worker processes: one for each call and a spare one."""

    gives_partials = True

    def __init__(self, asr: Sphinx) -> None:
        self._asr = asr
        self._pool: SphinxPool | None = None

    @property
    def waits(self) -> "QueueWaits | None":
        """How much longer results take than the remaining work."""
        return self._pool.waits if self._pool else None

    @property
    def name(self) -> str:
        """The engine and its language model."""
        model = self._pool.language_model.name if self._pool else "en-us"
        return f"PocketSphinx {version('pocketsphinx')} ({model})"

    async def start(self, names: Sequence[str] = ()) -> None:
        """Build the language model (once a machine and set of names) and load the spare worker."""
        from voice.asr.sphinx.language_model import build_language_model
        from voice.asr.sphinx.pool import SphinxPool
        from voice.responder.sentences import edition

        weight = self._asr.domain_weight
        model = await asyncio.to_thread(
            lambda: build_language_model(
                lambda: _domain_sentences(names), edition=_edition(edition(), names), domain_weight=weight
            )
        )
        self._pool = SphinxPool(language_model=model)
        # Neither the first call nor the worker may wait for the import of the service.
        await asyncio.gather(self._pool.start(), asyncio.to_thread(_import_service))

    def service(self, *, at_fades: bool = False, check: "WordCheck | None" = None) -> "STTService":
        """A call's recogniser on a worker of its own; it always gives words during speech."""
        from voice.asr.sphinx.service import SphinxSTTService

        assert self._pool is not None
        return SphinxSTTService(pool=self._pool)

    async def close(self) -> None:
        """End every worker."""
        if self._pool:
            await self._pool.close()


_REQUESTS = ("{}", "my {}", "the {}", "what is my {}", "what is the {}", "tell me my {}", "check my {}", "{} please")
"""Requests for something by its name."""
_WEIGHT = 20
"""The weight of each request: a skill of the responder also has some hundred sentences."""


def _domain_sentences(names: Sequence[str]) -> list[str]:
    from voice.asr.sphinx.language_model import pronounceable
    from voice.responder.sentences import domain_sentences

    named = [request.format(name) for name in names for request in _REQUESTS]
    replies, _ = pronounceable([*_replies(), "uh-huh"])
    return domain_sentences() + [*named, *replies] * _WEIGHT


_TOO_LIKE_OTHERS = frozenset(("do", "more", "you may", "you can"))
"""Replies that begin so many requests that favouring them would cause misrecognitions."""


def _replies() -> list[str]:
    """Callers' words over answers, and their replies when asked whether to go on."""
    from voice.language.english.turns import ENGLISH
    from voice.turns.barge_in.meaning import SAID_OVER_ANSWERS

    going_on = [words for words in ENGLISH.go_on if words not in _TOO_LIKE_OTHERS]
    return list(dict.fromkeys([*SAID_OVER_ANSWERS, *going_on, *(f"{words} please" for words in going_on)]))


def _edition(sentences: str, names: Sequence[str]) -> str:
    return " ".join([sentences, *sorted(names), *_replies()])


def _import_service() -> None:
    import voice.asr.sphinx.service  # noqa: F401
