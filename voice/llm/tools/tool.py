"""Plain Python functions as tools of a language model."""

import asyncio
import contextvars
import inspect
import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar, get_type_hints, runtime_checkable

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext, LLMSpecificMessage
from pipecat.services.llm_service import FunctionCallParams
from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from voice.errors import ConfigurationError
from voice.plain_text import plain, plain_values

Tool = Callable[..., Any]
_Any = TypeVar("_Any", bound=Tool)
_IRREVERSIBLE = "__turnaround_irreversible__"
_FITS = "__turnaround_fits__"
_TRAITS = "__turnaround_traits__"
LIMIT = 20.0
"""Default limit of a tool, in seconds: no caller waits for longer."""
STOPPED = "The caller interrupted, and the tool was stopped before it ended. It has no result."
GOES_ON = "The caller interrupted. The tool runs on, and its result is not known yet."
_UNSETTLED = ("IN_PROGRESS", "CANCELLED", GOES_ON, STOPPED)
"""Placeholders for a result: pipecat's words, and ours for the model."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """A tool's declared behaviour; see `slow`."""

    limit: float = LIMIT
    cancellable: bool = False
    saying: str | None = None


@runtime_checkable
class WatchesTools(Protocol):
    """A language model service that says phrases while tools run."""

    def running(self, traits: Traits) -> AbstractContextManager[None]:
        """A tool runs while this is entered."""


def slow(*, limit: float = LIMIT, cancellable: bool = False, saying: str | None = None) -> Callable[[_Any], _Any]:
    """Declare the behaviour of a slow tool; a decorator.

    Args:
        limit: seconds after which the model is told that it took too long. A coroutine is then cancelled; a plain
            function runs on in its thread, and its result is ignored.
        cancellable: whether it stops when the caller interrupts. Otherwise it runs on, and its result is kept in the
            conversation.
        saying: a phrase for the caller while it runs, which must be true then; a general one by default.

    Raises:
        ConfigurationError: the limit is not a positive number.
    """
    if not limit > 0:
        raise ConfigurationError(f"A tool's limit is a positive number of seconds, not {limit}.")

    def declare(tool: _Any) -> _Any:
        setattr(tool, _TRAITS, Traits(limit=limit, cancellable=cancellable, saying=saying))
        return tool

    return declare


def traits_of(tool: Tool) -> Traits:
    """A tool's declared behaviour."""
    traits: Traits = getattr(tool, _TRAITS, Traits())
    return traits


def irreversible(tool: _Any) -> _Any:
    """Declare that a tool's effects cannot be undone; a decorator.

    With two tiers, only the large one may then call it. A call by another tier does not run: the large tier takes over
    the turn.
    """
    setattr(tool, _IRREVERSIBLE, True)
    return tool


def is_irreversible(tool: Tool) -> bool:
    """Whether a tool was declared `irreversible`."""
    return bool(getattr(tool, _IRREVERSIBLE, False))


def describe(tool: Tool) -> FunctionSchema:
    """The schema for the model, from the function's name, annotations and docstring, and the handler that calls it.

    Arguments that do not fit the annotations are not passed on; the model is told so in a sentence. A synchronous
    function runs in its own thread. A tool ends after its limit; see `slow`.

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
    traits = traits_of(tool)
    adapters: dict[str, TypeAdapter[Any]] = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for parameter in inspect.signature(tool).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigurationError(f"The tool {name} takes *{parameter.name}; a model can only give named arguments.")
        if parameter.name not in hints:
            raise ConfigurationError(f"The tool {name} needs a type on its parameter {parameter.name}, such as str.")
        try:
            adapters[parameter.name] = TypeAdapter(hints[parameter.name])
            properties[parameter.name] = adapters[parameter.name].json_schema()
        except PydanticUserError as error:
            raise ConfigurationError(
                f"The tool {name} has a parameter {parameter.name} whose type a model cannot give: {error.message}."
            ) from error
        if parameter.default is parameter.empty:
            required.append(parameter.name)

    async def call(params: FunctionCallParams) -> None:
        try:
            arguments = fitted(params.arguments, adapters, required)
        except ValueError as error:
            log.warning("tool %s was not run: %s", name, error)
            await params.result_callback({"error": str(error)})
            return
        with params.llm.running(traits) if isinstance(params.llm, WatchesTools) else nullcontext():
            try:
                result = await run(partial(tool, **arguments), traits, lambda done: _keep(done, name, params))
            except TookTooLongError as error:
                log.warning("tool %s took longer than %g s", name, traits.limit)
                result = {"error": str(error)}
            result = _as_json(result, name)
        log.info("tool %s(%s) -> %r", name, ", ".join(f"{k}={v!r}" for k, v in params.arguments.items()), result)
        await params.result_callback(result)

    setattr(call, _TRAITS, traits)
    setattr(call, _FITS, partial(fitted, adapters=adapters, required=required))
    return FunctionSchema(name=name, description=description, properties=properties, required=required, handler=call)


def declared(context: LLMContext) -> frozenset[str]:
    """The names of the tools that a model may call in a conversation."""
    return frozenset(schema.name for schema in _schemas(context))


def _schemas(context: Any) -> Sequence[FunctionSchema]:
    tools = getattr(context, "tools", None)
    return tools.standard_tools if isinstance(tools, ToolsSchema) else []


def misfit(call: FunctionCallFromLLM) -> str | None:
    """What is wrong with the arguments of a model's call, in one sentence; None if they fit or cannot be checked."""
    fits = getattr(_handler(call.context, call.function_name), _FITS, None)
    try:
        if fits is not None:
            fits(call.arguments)
    except ValueError as error:
        return str(error)
    return None


def fitted(
    arguments: Mapping[str, Any], adapters: Mapping[str, TypeAdapter[Any]], required: Sequence[str]
) -> dict[str, Any]:
    """A call's arguments, converted to the tool's annotated types.

    Raises:
        ValueError: they do not fit; one sentence.
    """
    if missing := [name for name in required if name not in arguments]:
        raise ValueError(f"The argument {missing[0]} is missing.")
    values = {}
    for name, value in arguments.items():
        if name not in adapters:
            raise ValueError(f"There is no argument {name}; known: {', '.join(adapters) or 'none'}.")
        try:
            values[name] = adapters[name].validate_python(value)
        except ValidationError as error:
            raise ValueError(f"The argument {name} does not fit: {error.errors()[0]['msg']}.") from error
    return values


def _as_json(result: Any, name: str) -> Any:
    """A tool's result as JSON for the conversation: dataclasses as objects, times as text.

    A result that cannot become JSON is replaced by a sentence that says so; otherwise the model would never be asked
    again.
    """
    try:
        made = to_jsonable_python(plain_values(result), inf_nan_mode="null")
        json.dumps(made, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        log.warning("tool %s returned what is no JSON: %s", name, error)
        return {"error": f"The tool returned something that is no JSON ({type(result).__name__})."}
    return made


class TookTooLongError(Exception):
    """A tool took longer than its limit; the message says so."""


async def run(tool: Callable[[], Any], traits: Traits, kept: Callable[["asyncio.Future[Any]"], None]) -> Any:
    """The result of a tool; a synchronous one runs in a thread of its own.

    Args:
        tool: the tool with its arguments.
        traits: its declared behaviour.
        kept: called with the task of a tool that ran on after an interruption, when it ends.

    Raises:
        TookTooLongError: it took longer than its limit.
    """
    work = asyncio.ensure_future(_result(tool))
    try:
        async with asyncio.timeout(traits.limit):
            return await asyncio.shield(work)
    except TimeoutError:
        if work.done():
            # The tool itself timed out on something.
            return await work
        work.cancel()
        raise TookTooLongError(f"The tool took longer than {traits.limit:g} seconds; its result is unknown.") from None
    except asyncio.CancelledError:
        if traits.cancellable:
            work.cancel()
        else:
            work.add_done_callback(kept)
        raise


async def _result(tool: Callable[[], Any]) -> Any:
    if inspect.iscoroutinefunction(tool):
        return await tool()
    result = await _in_thread(tool)
    return await result if inspect.isawaitable(result) else result


def _in_thread(tool: Callable[[], Any]) -> asyncio.Future[Any]:
    """Run a function in a thread that does not delay the end of the process, unlike an executor's."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if future.cancelled():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        result, failure = None, None
        try:
            result = tool()
        except Exception as error:  # a tool raises errors of any type; the call's task raises them again
            failure = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=contextvars.copy_context().run, args=(work,), name="tool", daemon=True).start()
    return future


def _keep(work: "asyncio.Future[Any]", name: str, params: FunctionCallParams) -> None:
    """Put the late result of a tool that was interrupted into the conversation, at the place of its call."""
    if work.cancelled():
        return
    error = work.exception()
    result = {"error": f"The tool failed: {plain(str(error))}"} if error else _as_json(work.result(), name)
    log.info("tool %s, interrupted before, -> %r", name, result)
    said = json.dumps(result, ensure_ascii=False)
    if not settle(params.context, params.tool_call_id, said):
        params.context.add_message({"role": "developer", "content": f"The tool {name}, which had gone on: {said}"})


def goes_on(context: LLMContext, name: str) -> bool:
    """Whether a tool of a conversation runs on when the caller interrupts."""
    traits = getattr(_handler(context, name), _TRAITS, None)
    return isinstance(traits, Traits) and not traits.cancellable


def settle(context: LLMContext, call_id: str, words: str) -> bool:
    """Note in the conversation the outcome of a tool call without a result; returns whether there was one."""
    message = _message(context, call_id)
    is_open = message is not None and message["content"] in _UNSETTLED
    if message is not None and is_open:
        message["content"] = words
    return is_open


def result(context: LLMContext, call_id: str) -> str | None:
    """The result of a tool call in the conversation; None while it has none."""
    message = _message(context, call_id)
    return None if message is None or message["content"] in _UNSETTLED else str(message["content"])


def _message(context: LLMContext, call_id: str) -> Any:
    """The message with the result of a tool call; None without one."""
    messages = [message for message in context.get_messages() if not isinstance(message, LLMSpecificMessage)]
    return next((each for each in reversed(messages) if each.get("tool_call_id") == call_id), None)


def _handler(context: Any, name: str) -> Any:
    """The handler of a tool in a conversation; None without such a tool."""
    return next((schema.handler for schema in _schemas(context) if schema.name == name), None)
