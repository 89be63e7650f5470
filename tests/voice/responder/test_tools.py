from collections.abc import Callable
from typing import Any

import pytest

from voice.errors import ConfigurationError
from voice.responder.tools import ToolBox


def order_status() -> str:
    return "shipped"


def order() -> str:
    return "ordered"


def weather(place: str = "here") -> str:
    return place


def two_texts(a: str, b: str) -> str:
    return a + b


def number_only(count: int) -> int:
    return count


def several(*, name: str) -> str:
    return name


async def price(company: str) -> str:
    return f"{company} costs 10"


async def late() -> str:
    raise TimeoutError("too late")


def silent() -> None:
    return None


BOX = ToolBox([order, order_status, weather, price, late, silent])


@pytest.mark.parametrize(
    ("text", "function", "arguments"),
    [
        ("what is my order status", order_status, ()),
        ("What's the status of my orders?", order_status, ()),
        ("show me my order", order, ()),
        ("what is the weather in new york", weather, ("new york",)),
        ("weather", weather, ("",)),
    ],
)
def test_the_tool_with_the_longest_name_in_the_text_is_found(
    text: str, function: Callable[..., Any], arguments: tuple[str, ...]
) -> None:
    call = BOX.find(text)
    assert call is not None
    assert (call.function, call.arguments) == (function, arguments)


def test_part_of_a_name_is_not_enough() -> None:
    assert BOX.find("what is your status") is None


@pytest.mark.parametrize("tool", [two_texts, number_only, several, lambda: "x"])
def test_a_tool_that_cannot_be_called_by_name_is_refused(tool: Callable[..., Any]) -> None:
    with pytest.raises(ConfigurationError, match="needs more|named function"):
        ToolBox([tool])


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="Two tools"):
        ToolBox([order, order])


async def test_asynchronous_tools_are_awaited_and_their_errors_reported() -> None:
    call, failing = BOX.find("price of acme"), BOX.find("why so late")
    assert call is not None
    assert failing is not None
    assert await call.run_async() == "acme costs 10"
    assert await failing.run_async() == "The late tool failed."


def test_a_tool_without_a_result_is_answered_with_done() -> None:
    call = BOX.find("silent")
    assert call is not None
    assert call.run() == "Done."
