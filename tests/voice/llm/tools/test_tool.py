"""Plain functions become tools; what a model could not call is refused when the agent is made, not in a call."""

import asyncio
import threading
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext

from voice.errors import ConfigurationError
from voice.llm.tools import describe, slow
from voice.llm.tools.tool import misfit


def weather(city: str, days: int = 1) -> str:
    """Forecast for a city."""
    return f"{city}: {days} sunny days"


class Params:
    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.results: list[Any] = []
        self.llm: Any = None
        self.context: Any = None
        self.tool_call_id = "a"

    async def result_callback(self, result: Any) -> None:
        self.results.append(result)


def test_name_docstring_and_annotations_are_what_the_model_sees() -> None:
    schema = describe(weather)
    assert schema.name == "weather"
    assert schema.description == "Forecast for a city."
    assert schema.properties == {"city": {"type": "string"}, "days": {"type": "integer"}}
    assert schema.required == ["city"]


async def test_a_synchronous_function_is_called_and_answers() -> None:
    params = Params(city="Oslo", days=2)
    await describe(weather).handler(params)  # type: ignore[misc, arg-type]
    assert params.results == ["Oslo: 2 sunny days"]


async def test_an_async_function_is_awaited() -> None:
    async def stock(item: str) -> int:
        """How many are left."""
        return len(item)

    params = Params(item="bolts")
    await describe(stock).handler(params)  # type: ignore[misc, arg-type]
    assert params.results == [5]


@dataclass
class Stock:
    bolts: int
    since: date


@pytest.mark.parametrize(
    ("returned", "kept"),
    [
        (Stock(5, date(2026, 1, 2)), {"bolts": 5, "since": "2026-01-02"}),
        ({3: float("nan")}, {"3": None}),
        (object(), {"error": "The tool returned something that is no JSON (object)."}),
        (b"\xff", {"error": "The tool returned something that is no JSON (bytes)."}),
        ("a\ud800b\0", "ab"),
        (["\ud83d\ude00", {"\udc00": "\x1b[31mred"}], ["\U0001f600", {"": "red"}]),
    ],
)
async def test_what_a_tool_returns_can_be_kept_in_the_conversation(returned: Any, kept: Any) -> None:
    def stock() -> Any:
        """What is left."""
        return returned

    params = Params()
    await describe(stock).handler(params)  # type: ignore[misc, arg-type]
    assert params.results == [kept]


def undocumented(city: str) -> str:
    return city


def untyped(city) -> str:  # type: ignore[no-untyped-def]
    """Has no type."""
    return str(city)


def starred(*cities: str) -> str:
    """Takes any number."""
    return ", ".join(cities)


@pytest.mark.parametrize(
    ("tool", "sentence"),
    [
        (undocumented, "undocumented needs a docstring"),
        (untyped, "untyped needs a type on its parameter city"),
        (starred, r"takes \*cities"),
        (lambda: "x", "must be a named function"),
    ],
)
def test_what_a_model_cannot_call_is_refused(tool: Any, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        describe(tool)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({}, "The argument city is missing."),
        ({"city": "Oslo", "nights": 2}, "There is no argument nights; known: city, days."),
        ({"city": "Oslo", "days": "many"}, "The argument days does not fit: "),
    ],
)
async def test_a_call_whose_arguments_do_not_fit_is_not_run(arguments: dict[str, Any], wrong: str) -> None:
    params = Params(**arguments)
    await describe(weather).handler(params)  # type: ignore[misc, arg-type]
    (result,) = params.results
    assert result["error"].startswith(wrong)


async def test_arguments_are_given_as_annotated() -> None:
    params = Params(city="Oslo", days="2")
    await describe(weather).handler(params)  # type: ignore[misc, arg-type]
    assert params.results == ["Oslo: 2 sunny days"]


async def test_a_plain_function_does_not_hold_up_the_event_loop() -> None:
    release = threading.Event()

    @slow(limit=30)
    def look_up() -> str:
        """Look something up."""
        release.wait()
        return "found"

    params = Params()
    call = asyncio.ensure_future(describe(look_up).handler(params))  # type: ignore[misc, arg-type]
    await asyncio.sleep(0)
    release.set()
    await call
    assert params.results == ["found"]


async def test_what_a_tool_raises_is_raised() -> None:
    def fail() -> str:
        """Fails."""
        raise KeyError("order")

    with pytest.raises(KeyError, match="order"):
        await describe(fail).handler(Params())  # type: ignore[misc, arg-type]


async def test_a_tool_ends_after_its_limit() -> None:
    stopped = asyncio.Event()

    @slow(limit=0.05)
    async def look_up() -> str:
        """Never answers."""
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    params = Params()
    await describe(look_up).handler(params)  # type: ignore[misc, arg-type]
    assert params.results == [{"error": "The tool took longer than 0.05 seconds; its result is unknown."}]
    await stopped.wait()


@pytest.mark.parametrize("cancellable", [True, False])
async def test_an_interruption_stops_only_a_tool_that_says_so_and_the_result_of_another_is_kept(
    cancellable: bool,
) -> None:
    go_on, ran = asyncio.Event(), []

    @slow(cancellable=cancellable)
    async def book() -> str:
        """Book a table."""
        await go_on.wait()
        ran.append("ran")
        return "booked"

    params = Params()
    params.context = LLMContext()
    call = asyncio.ensure_future(describe(book).handler(params))  # type: ignore[misc, arg-type]
    await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.wait([call])
    go_on.set()
    await asyncio.sleep(0.01)
    assert ran == ([] if cancellable else ["ran"])
    said = [message["content"] for message in params.context.get_messages()]
    assert said == ([] if cancellable else ['The tool book, which had gone on: "booked"'])


def test_a_limit_is_a_positive_number_of_seconds() -> None:
    with pytest.raises(ConfigurationError, match="positive number of seconds, not 0"):
        slow(limit=0)


@pytest.mark.parametrize(
    ("name", "arguments", "wrong"),
    [
        ("weather", {"city": "Oslo"}, None),
        ("weather", {}, "The argument city is missing."),
        ("unknown", {}, None),
    ],
)
def test_what_is_wrong_with_a_call_is_known_before_it_runs(
    name: str, arguments: dict[str, Any], wrong: str | None
) -> None:
    context = LLMContext(tools=ToolsSchema(standard_tools=[describe(weather)]))
    call = FunctionCallFromLLM(function_name=name, tool_call_id="1", arguments=arguments, context=context)
    assert misfit(call) == wrong
