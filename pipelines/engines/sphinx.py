"""`engine = "sphinx"`: PocketSphinx, the recogniser that comes with the package."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from pipelines.engines.engine import AsrTable, Recogniser
from pipelines.versions import version
from voice.asr.sphinx import DOMAIN_WEIGHT

if TYPE_CHECKING:
    from pipecat.services.stt_service import STTService

    from voice.asr.sphinx.pool import SphinxPool


class Sphinx(AsrTable):
    """PocketSphinx, the embedded recogniser."""

    engine: Literal["sphinx"]
    domain_weight: Annotated[float, Field(ge=0, lt=1)] = DOMAIN_WEIGHT
    """The share of the responder's own sentences in the language model."""

    def recogniser(self) -> Recogniser:
        """A pool of worker processes; not started yet."""
        return SphinxRecogniser(self)


class SphinxRecogniser:
    """A pool of worker processes, one for each call and a spare one."""

    gives_partials = True

    def __init__(self, asr: Sphinx) -> None:
        self._asr = asr
        self._pool: SphinxPool | None = None

    @property
    def name(self) -> str:
        """The engine and its language model."""
        model = self._pool.language_model.name if self._pool else "en-us"
        return f"PocketSphinx {version('pocketsphinx')} ({model})"

    async def start(self) -> None:
        """Build the language model (once a machine) and load the spare worker."""
        from voice.asr.sphinx.language_model import build_language_model
        from voice.asr.sphinx.pool import SphinxPool
        from voice.responder.source_digest import source_digest

        weight = self._asr.domain_weight
        model = await asyncio.to_thread(
            lambda: build_language_model(_domain_sentences, edition=source_digest(), domain_weight=weight)
        )
        self._pool = SphinxPool(language_model=model)
        # The first call must not wait for the import of the service, nor the worker for it.
        await asyncio.gather(self._pool.start(), asyncio.to_thread(_import_service))

    def service(self, *, at_fades: bool = False) -> "STTService":
        """A call's recogniser on a worker of its own; it gives its words while they are spoken anyway."""
        from voice.asr.sphinx.service import SphinxSTTService

        assert self._pool is not None
        return SphinxSTTService(pool=self._pool)

    async def close(self) -> None:
        """End every worker."""
        if self._pool:
            await self._pool.close()


def _domain_sentences() -> list[str]:
    from voice.responder.sentences import domain_sentences

    return domain_sentences()


def _import_service() -> None:
    import voice.asr.sphinx.service  # noqa: F401
