"""Plain Python functions as tools of a language model."""

import inspect
import logging
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.services.llm_service import FunctionCallParams
from pydantic import PydanticUserError, TypeAdapter

from voice.errors import ConfigurationError

Tool = Callable[..., Any]
_Any = TypeVar("_Any", bound=Tool)
_IRREVERSIBLE = "__turnaround_irreversible__"
log = logging.getLogger(__name__)


def irreversible(tool: _Any) -> _Any:
    """Declare that what a tool does cannot be undone; use it as a decorator.

    With two tiers, only the large one may then call it. A call by another tier does not run: the large tier takes the
    turn over.
    """
    setattr(tool, _IRREVERSIBLE, True)
    return tool


def is_irreversible(tool: Tool) -> bool:
    """Whether a tool was declared `irreversible`."""
    return bool(getattr(tool, _IRREVERSIBLE, False))


def describe(tool: Tool) -> FunctionSchema:
    """The schema a model sees, from the function's name, annotations and docstring, and the handler that calls it.

    A synchronous function runs on the event loop: one that waits for something should be `async`.

    Raises:
        ConfigurationError: the function has no docstring, a parameter lacks an annotation, or takes `*args`.
    """
    name = getattr(tool, "__name__", repr(tool))
    if not callable(tool) or not name.isidentifier():
        raise ConfigurationError(f"A tool must be a named function; {name} is not.")
    description = inspect.getdoc(tool)
    if not description:
        raise ConfigurationError(f"The tool {name} needs a docstring: it is what tells the model when to use it.")
    hints = get_type_hints(tool)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in inspect.signature(tool).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigurationError(f"The tool {name} takes *{parameter.name}; a model can only give named arguments.")
        if parameter.name not in hints:
            raise ConfigurationError(f"The tool {name} needs a type on its parameter {parameter.name}, such as str.")
        try:
            properties[parameter.name] = TypeAdapter(hints[parameter.name]).json_schema()
        except PydanticUserError as error:
            raise ConfigurationError(
                f"The tool {name} has a parameter {parameter.name} whose type a model cannot give: {error.message}."
            ) from error
        if parameter.default is parameter.empty:
            required.append(parameter.name)

    async def call(params: FunctionCallParams) -> None:
        result = tool(**params.arguments)
        if inspect.isawaitable(result):
            result = await result
        log.info("tool %s(%s) -> %r", name, ", ".join(f"{k}={v!r}" for k, v in params.arguments.items()), result)
        await params.result_callback(result)

    return FunctionSchema(name=name, description=description, properties=properties, required=required, handler=call)
