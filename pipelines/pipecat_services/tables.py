"""`engine = "pipecat"` and `provider = "pipecat"`: a service of any package instead of one of ours."""

from collections.abc import Sequence
from functools import cached_property
from inspect import isroutine
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, field_serializer

from pipelines.engines.engine import AsrTable, Recogniser, Synthesiser, TtsTable
from pipelines.providers.provider import TierModel, TierTable
from pipelines.providers.resources import Resources
from pipelines.settings_table import Table, VariableName
from voice.environment import checked_key, read_key
from voice.errors import ConfigurationError
from voice.language import Language
from voice.redaction import hide_secrets, without_secrets

if TYPE_CHECKING:
    from pipecat.processors.frame_processor import FrameProcessor
    from pipecat.services.llm_service import LLMService

    from pipelines.pipecat_services.component_factory import ComponentFactory
    from pipelines.tiers.table import Tiers
    from voice.llm.tools import Tool


def _checked(service: Any) -> Any:
    # A component itself need not be callable.
    if isinstance(service, str) or callable(service) or hasattr(service, "process_frame"):
        return service
    raise ValueError('it should be a class such as "package.module.Class"')


def _path(service: Any) -> str:
    from pipelines.pipecat_services.component_factory import path_of

    return path_of(service)


class PipecatService(Table):
    """A pipecat service: `service` is the dotted path of its class, `parameters` are its keyword arguments.

    In `parameters`, a table `settings` holds the fields of the class's own `Settings`. The API key is read from the
    variable `api_key_env` and passed as `api_key`. From Python, `service` may be the class, a function that makes one
    instance for each call, or one instance, which then serves a single call.
    """

    service: Annotated[Any, BeforeValidator(_checked), PlainSerializer(_path, return_type=str)]
    """The class, as `package.module.Class`."""
    parameters: dict[str, Any] = Field(default={}, repr=False)
    """The keyword arguments of the class. A table `settings` in them holds the fields of the class's own `Settings`."""
    api_key_env: VariableName | None = None
    """The environment variable that holds the API key, which is passed to the class as `api_key`."""

    @field_serializer("parameters")
    def _without_secrets(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters that runs and health checks show."""
        return without_secrets(parameters)

    @property
    def summary(self) -> str:
        """The class, or the function, whose result is unknown until the server starts."""
        from pipelines.pipecat_services.component_factory import load

        name = f"pipecat:{_path(self.service).rpartition('.')[2]}"
        part = load(self.service, where="service") if isinstance(self.service, str) else self.service
        return f"{name}, a function; its result is checked when the server starts" if isroutine(part) else name

    @property
    def lacks_key(self) -> bool:
        """Whether the variable that should hold the key is empty."""
        return self.api_key_env is not None and read_key(self.api_key_env) is None

    def needs(self) -> list[str]:
        """The missing part: the key, or the class."""
        from pipelines.pipecat_services.component_factory import load_component

        missing = (
            [f"the environment variable {self.api_key_env} is not set; it should hold the API key"]
            if self.lacks_key
            else []
        )
        if isinstance(self.service, str):
            try:
                load_component(self.service, where="service")
            except ConfigurationError as error:
                missing.append(str(error))
        return missing

    def factory_of(self, where: str, kind: "type[FrameProcessor]") -> "ComponentFactory":
        """The factory that gives each call its instance."""
        from pipelines.pipecat_services.component_factory import ComponentFactory

        parameters = dict(self.parameters)
        hide_secrets(parameters)
        if self.api_key_env:
            parameters["api_key"] = read_key(self.api_key_env) or ""
        elif isinstance(key := parameters.get("api_key"), str):
            parameters["api_key"] = checked_key(key, f"{where}.parameters.api_key")
        return ComponentFactory(self.service, where=f"{where}.service", parameters=parameters, kind=kind)


class PipecatAsr(PipecatService, AsrTable):
    """A speech recogniser that is a pipecat service."""

    engine: Literal["pipecat"]

    def notice(self, language: Language) -> str | None:
        """The service has its own setting."""
        return _unset("asr", language)

    def recogniser(self, language: Language = "en") -> Recogniser:
        """The service, not created yet."""
        from pipecat.processors.frame_processor import FrameProcessor

        from pipelines.pipecat_services.speech import PipecatRecogniser

        return PipecatRecogniser(self.factory_of("asr", FrameProcessor))


def _unset(stage: str, language: Language) -> str | None:
    if language == "en":
        return None
    return f'language = "{language}" does not reach the pipecat service in [{stage}], which has a setting of its own'


class PipecatTts(PipecatService, TtsTable):
    """A speech synthesiser that is a pipecat service."""

    engine: Literal["pipecat"]

    def notice(self, language: Language) -> str | None:
        """The service has its own setting."""
        return _unset("tts", language)

    def synthesiser(self) -> Synthesiser:
        """The service, not created yet."""
        from pipecat.processors.frame_processor import FrameProcessor

        from pipelines.pipecat_services.speech import PipecatSynthesiser

        return PipecatSynthesiser(self.factory_of("tts", FrameProcessor))


class PipecatTier(PipecatService, TierTable):
    """A pipecat language model service as a tier.

    It gets the pipeline's prompt unless it has a system instruction of its own. As with every tier, its tools run only
    if its answer is the one that is spoken.
    """

    provider: Literal["pipecat"]

    @cached_property
    def factory(self) -> "ComponentFactory":
        """The factory that gives each call its service."""
        from pipecat.services.llm_service import LLMService

        return self.factory_of("llm", LLMService)

    @property
    def label(self) -> str:
        """The name of the class, and its model once that is known."""
        return self.factory.name

    def describe(self, llm: "Tiers") -> str:
        """The same as `label`."""
        return self.label

    def check(self, name: str, llm: "Tiers") -> None:
        """Refuse a tier whose API key is not set."""
        if self.lacks_key:
            raise ConfigurationError(
                f"llm.{name}: {self.label} needs a key in the environment variable {self.api_key_env}, which is not "
                "set; the pipelines embedded and local work without one."
            )

    def model_of(self, llm: "Tiers", resources: Resources) -> TierModel:
        """The service, not created yet."""
        return PipecatModel(self.factory)


class PipecatModel:
    """A tier with a new service for each call."""

    def __init__(self, factory: "ComponentFactory") -> None:
        self._factory = factory

    async def start(self) -> None:
        """Make the first call's service."""
        self._factory.prepare()

    def service(self, *, prompt: str, tools: "Sequence[Tool]", requests: int) -> "LLMService[Any]":
        """A new service. `requests` is ignored: the service decides how many it runs at the same time."""
        service: Any = self._factory.take()
        if not service._settings.system_instruction:
            service.append_system_instruction(prompt)
        made: LLMService[Any] = service
        return made

    async def close(self) -> None:
        """Do nothing: calls share nothing."""
