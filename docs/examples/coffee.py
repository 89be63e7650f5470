"""A coffee counter that takes orders by the words of its menu, without a language model.

    python docs/examples/coffee.py [SETTING=VALUE ...]

The settings are those of `--set`, such as `asr.engine=whisper asr.model=tiny.en`. Customers to try it with are in
samples/people/coffee and samples/people/orders. Whoever names a drink has ordered it.
"""

import sys
from typing import Literal

from pipelines import Agent, serve

Drink = Literal[
    "americano", "cappuccino", "coffee", "drip coffee", "espresso", "house coffee", "iced coffee", "iced mocha",
    "latte", "mocha",
]  # fmt: skip
Size = Literal["small", "medium", "large", "eight ounce", "twelve ounce", "sixteen ounce", "twenty ounce"]
Roast = Literal["light roast", "medium roast", "dark roast"]
Shots = Literal["single shot", "double shot", "triple shot"]
Extra = Literal[
    "some", "a bit of", "a little bit of", "a lot of", "lots of",
    "milk", "almond milk", "skim milk", "soy milk", "whole milk", "cream", "sugar", "brown sugar", "sweetener",
]  # fmt: skip
AMOUNTS = ("some", "a bit of", "a little bit of", "a lot of", "lots of")

orders: list[str] = []
"""Of all customers: one list for the counter, not one for each call."""


def add_to_order(
    drink: Drink,
    size: Size | None = None,
    roast: Roast | None = None,
    shots: Shots | None = None,
    extras: list[Extra] | None = None,
) -> str:
    """Order one drink. Extras are in the order in which they were said, each after its amount."""
    order = " ".join(part for part in (size, roast, shots, drink) if part)
    if extras:
        order += f" with {joined(extras)}"
    orders.append(order)
    return f"One {order}. Anything else?"


def open_orders() -> str:
    """Read out what was ordered."""
    return "; ".join(f"one {order}" for order in orders) + "." if orders else "There are no orders."


def joined(extras: list[Extra]) -> str:
    """The extras as text, with "and" between one and the next: "a lot of milk and sugar"."""
    text = ""
    for before, word in zip([None, *extras], extras, strict=False):
        text += word if before is None else f" {word}" if before in AMOUNTS else f" and {word}"
    return text


if __name__ == "__main__":
    prompt = "You take orders in a coffee shop. Be brief."
    serve(Agent(prompt, tools=[add_to_order, open_orders], pipeline="embedded", overrides=sys.argv[1:]))
