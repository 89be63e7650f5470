"""`provider = "own"`: a small language model in this process, from a GGUF file, or pulled by name."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from latency.record.requests import Price
from pipelines.providers.provider import TierModel, TierTable
from pipelines.providers.resources import Resources
from voice.errors import ComponentError, ConfigurationError, VoiceError

if TYPE_CHECKING:
    from pipecat.services.llm_service import LLMService

    from pipelines.tiers.table import Tiers
    from voice.llm.catalog.tier import Quality
    from voice.llm.tools import Tool
    from voice.llm.wires.in_process.gguf_file import GgufFile
    from voice.llm.wires.in_process.model import OwnModel


class OwnTier(TierTable):
    """A language model in this process. It is offered no tools."""

    provider: Literal["own"]
    model: str
    """A GGUF file, or the name of a model that `voice models` lists."""
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    """Threads of a request: more slow down recognition and speech on a machine with few cores."""
    max_tokens: Annotated[int, Field(ge=1, le=8192)] = 120
    """The longest answer."""
    context_tokens: Annotated[int, Field(ge=16, le=32_768)] = 2048
    """The most tokens of the conversation in a request; tokens already read are kept for the next one."""

    @property
    def billing(self) -> Price:
        """Free unless a price is set: it runs on this machine."""
        return super().billing or Price(input=0, output=0)

    @property
    def quality(self) -> "Quality | None":
        """The share of fifty ordinary requests that it answers right; None if not counted."""
        from voice.llm.catalog.tier import Quality
        from voice.models.table import named

        row = named(self.model)
        if row is None or row.right is None:
            return None
        return Quality(share=row.right, benchmark="fifty ordinary requests", source="test_fifty_requests.py")

    @property
    def label(self) -> str:
        """The model's own name, if it is here; a name with "scripted:" means made-up weights."""
        try:
            return file_of(self.model).name
        except VoiceError:
            return self.model

    def describe(self, llm: "Tiers") -> str:
        """The model and its threads."""
        return f"{self.label} in this process ({self.threads} thread{'s' if self.threads > 1 else ''})"

    @property
    def summary(self) -> str:
        """The model."""
        return f"{self.label} in this process"

    def needs(self) -> list[str]:
        """The model, if it is not here or cannot be used."""
        try:
            usable_file(self.model)
        except VoiceError as error:
            return [str(error)]
        return []

    def check(self, name: str, llm: "Tiers") -> None:
        """Refuse a model that is not here or cannot be used; nothing is downloaded for a call."""
        usable_file(self.model)

    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The model; not loaded yet."""
        return InProcessModel(self, prompt=llm.prompt)


class InProcessModel:
    """A model that is loaded once, for all calls."""

    def __init__(self, tier: OwnTier, *, prompt: str) -> None:
        self._tier = tier
        self._prompt = prompt
        self._model: OwnModel | None = None

    async def start(self) -> None:
        """Load the model and process the pipeline's prompt."""
        import voice.llm.wires.in_process.service  # noqa: F401  (not in the first call)

        self._model = await asyncio.to_thread(self._load)

    def service(self, *, prompt: str, tools: "Sequence[Tool]", requests: int) -> "LLMService[Any]":
        """A call's service on the shared model; it gets no tools, and requests wait for each other."""
        from voice.llm.wires.in_process.service import OwnLLMService

        assert self._model is not None
        return OwnLLMService(self._model, prompt=prompt, max_tokens=self._tier.max_tokens)

    async def close(self) -> None:
        """Free the model."""
        if self._model:
            model, self._model = self._model, None
            await asyncio.to_thread(model.close)

    def _load(self) -> "OwnModel":
        from voice.llm.wires.in_process.engine import GenerationError
        from voice.llm.wires.in_process.model import OwnModel

        file = usable_file(self._tier.model)
        model = OwnModel.load(file, threads=self._tier.threads, context_tokens=self._tier.context_tokens)
        try:
            model.read(self._prompt).result()
        except GenerationError as error:
            model.close()
            raise ComponentError(f"The model in {file.path} does not run: {error}; take another one.") from error
        return model


def file_of(model: str) -> "GgufFile":
    """The file of the model that a setting names: a path, or the name of a model that was pulled.

    Raises:
        ConfigurationError: it is neither a path nor a name of the table.
        ComponentError: it is not here, or is no model.
    """
    from voice.llm.wires.in_process.gguf_file import read_gguf
    from voice.models.store import find_model
    from voice.models.table import named, names

    known = named(model)
    if known and known.kind == "language model":
        if path := find_model(known):
            return read_gguf(path)
        raise known.not_here()
    path = Path(model).expanduser()
    if path.exists() or "/" in model or model.startswith(".") or path.suffix == ".gguf":
        return read_gguf(path)
    raise ConfigurationError(f"{model!r} names no model: use a GGUF file, or one of {names('language model')}.")


def usable_file(model: str) -> "GgufFile":
    """The model that a setting names, checked without loading it.

    Raises:
        ConfigurationError: the name is not known.
        ComponentError: it is not here, is no model, or its runtime is not installed.
    """
    from voice.llm.wires.in_process.engine import require_library

    file = file_of(model)
    require_library()
    return file
