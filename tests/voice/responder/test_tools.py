from collections.abc import Callable
from typing import Any, Literal

import pytest

from voice.errors import ConfigurationError
from voice.responder.tools import ToolBox, names_of


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
    assert await call.run() == "acme costs 10"
    assert await failing.run() == "The late tool failed."


async def test_a_tool_without_a_result_is_answered_with_done() -> None:
    call = BOX.find("silent")
    assert call is not None
    assert await call.run() == "Done."


Size = Literal["small", "medium", "twelve ounce"]
Roast = Literal["medium roast", "dark roast"]


def brew(drink: Literal["latte", "iced coffee", "coffee"], size: Size | None = None, roast: Roast | None = None) -> str:
    return f"{size} {roast} {drink}"


def pizza(toppings: list[Literal["cheese", "ham", "lots of"]]) -> str:
    return " ".join(toppings)


def paint(colour: Literal["red", "blue"] = "red") -> str:
    return colour


def note(text: str, urgency: Literal["urgent", "idle"]) -> str:
    return f"{urgency}: {text}"


MENU = ToolBox([brew, pizza, paint, note, order_status])


@pytest.mark.parametrize(
    ("text", "function", "named"),
    [
        ("can I get a latte", brew, {"drink": "latte"}),
        ("an iced coffee please", brew, {"drink": "iced coffee"}),
        ("a medium roast coffee", brew, {"drink": "coffee", "roast": "medium roast"}),
        ("a medium dark roast latte", brew, {"drink": "latte", "size": "medium", "roast": "dark roast"}),
        ("12-ounce lattes", brew, {"drink": "latte", "size": "twelve ounce"}),
        ("a latte, I said a latte", brew, {"drink": "latte"}),
        ("lots of cheese and ham", pizza, {"toppings": ["lots of", "cheese", "ham"]}),
        ("paint it blue", paint, {"colour": "blue"}),
        ("paint it", paint, {}),
        ("brew some coffee", brew, {"drink": "coffee"}),
    ],
)
def test_a_tool_that_needs_one_of_a_few_values_is_called_when_one_is_named(
    text: str, function: Callable[..., Any], named: dict[str, Any]
) -> None:
    call = MENU.find(text)
    assert call is not None
    assert (call.function, call.named) == (function, named)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a medium dark roast", "the drink that it needs is not named"),
        ("a latte or an iced coffee", "two drinks are"),
        ("brew", "its name alone does not say which drink"),
        ("the blue one", "it does not need a colour, so a colour does not call it"),
    ],
)
def test_a_tool_is_not_called_by_guesses(text: str, why: str) -> None:
    assert MENU.find(text) is None, why


def test_the_most_values_win() -> None:
    call = MENU.find("a small latte with ham")
    assert call is not None
    assert call.function is brew


async def test_values_are_passed_beside_the_text() -> None:
    call = MENU.find("call me back it is urgent")
    assert call is not None
    assert await call.run() == "urgent: call me back it is urgent"


def test_names_and_values_are_what_callers_may_ask_for() -> None:
    assert names_of([paint, order_status]) == ["paint", "order status", "red", "blue"]
