"""Plain functions become tools; what a model could not call is refused when the agent is made, not in a call."""

from typing import Any

import pytest

from voice.errors import ConfigurationError
from voice.llm.tools import describe


def weather(city: str, days: int = 1) -> str:
    """Forecast for a city."""
    return f"{city}: {days} sunny days"


class Params:
    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.results: list[Any] = []

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
