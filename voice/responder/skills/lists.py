"""Lists, such as a shopping list; they last as long as the call."""

import random
import re

from voice.responder.language.grammar import SlotKind
from voice.responder.skills.memory import stems
from voice.responder.skills.skill import Request, SkillAnswer, Skills
from voice.responder.state import State

NAMES = {
    "shopping": "shopping", "grocery": "shopping", "groceries": "shopping", "to do": "to do", "todo": "to do",
    "packing": "packing", "wish": "wish", "guest": "guest",
}  # fmt: skip
MOST_ITEMS = 100
"""The most items of a list; further ones are refused."""
_GROCERIES = (
    "milk", "bread", "eggs", "butter", "cheese", "coffee", "tea", "sugar", "rice", "pasta", "apples", "bananas",
    "tomatoes", "potatoes", "onions", "chicken", "fish", "juice", "water", "soap", "toothpaste", "batteries", "flour",
)  # fmt: skip
_ARTICLE = re.compile(r"^(?:some|a|an|the|my|more) ")


def parse_items(spoken: str) -> tuple[str, ...] | None:
    """The items in "milk and some eggs", without articles; None without any."""
    parts = (_ARTICLE.sub("", part) for part in re.split(r"(?:^| )and(?: |$)", spoken))
    return tuple(part for part in parts if part) or None


def say_items(items: tuple[str, ...]) -> str:
    """The items as a phrase: "milk, eggs and bread"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def sample_items(rng: random.Random) -> str:
    """One or two things to buy."""
    return " and ".join(rng.sample(_GROCERIES, rng.choice([1, 1, 1, 2])))


ITEMS = SlotKind("items", r"(?:\S+ ){1,10}", parse_items, sample_items)
LIST = SlotKind(
    "list",
    f"(?:{'|'.join(sorted(NAMES, key=len, reverse=True))}) ",
    NAMES.get,
    lambda rng: rng.choice(["shopping", "shopping", "shopping", "grocery", "to do", "packing"]),
)
SKILLS = Skills()


def named(request: Request) -> tuple[str, tuple[str, ...]]:
    """The intended list and its items: the named one, else the newest, else the shopping list."""
    newest = request.state.lists[-1][0] if request.state.lists else "shopping"
    name = request.get("list", str) or newest
    return name, dict(request.state.lists).get(name, ())


def with_list(state: State, name: str, items: tuple[str, ...]) -> State:
    """The state with this list as the newest."""
    return state.but(lists=(*(entry for entry in state.lists if entry[0] != name), (name, items)))


@SKILLS.on(
    "list",
    "(add|put) <items> (to|on|onto) (my|the|our|that) [<list>] list",
    kinds=[ITEMS, LIST],
    distinct=False,
    share=2,
)
def add(request: Request) -> SkillAnswer:
    """Puts new items on a list."""
    (name, items), wanted = named(request), request.slot("items", tuple)
    new = tuple(item for item in dict.fromkeys(wanted) if item not in items)
    if not new:
        return SkillAnswer(f"Your {name} list has {say_items(wanted)} already.")
    if len(items) + len(new) > MOST_ITEMS:
        return SkillAnswer(f"A list holds {MOST_ITEMS} things at most.")
    first = "" if request.state.lists else " I keep it until this call ends."
    text = f"I added {say_items(new)} to your {name} list.{first}"
    return SkillAnswer(text, with_list(request.state, name, (*items, *new)))


@SKILLS.on(
    "list",
    "what is on (my|the) [<list>] list",
    "(read|show|tell me) [me] (my|the) [<list>] list",
    "what do i (need|have) to buy",
    "what (do i have|have i got) on (my|the) [<list>] list",
    kinds=[LIST],
    share=1.5,
)
def read(request: Request) -> SkillAnswer:
    """Says what is on a list."""
    name, items = named(request)
    return SkillAnswer(f"Your {name} list has {say_items(items)}." if items else f"Your {name} list is empty.")


@SKILLS.on(
    "list",
    "(remove|delete|take|cross) <items> (from|off) (my|the) [<list>] list",
    kinds=[ITEMS, LIST],
    distinct=False,
)
def remove(request: Request) -> SkillAnswer:
    """Takes items off a list: "an egg" takes off "eggs"."""
    (name, items), wanted = named(request), request.slot("items", tuple)
    gone = tuple(item for item in items if any(stems(one) and stems(one) <= stems(item) for one in wanted))
    if not gone:
        return SkillAnswer(f"Your {name} list has no {' and '.join(wanted)}.")
    left = tuple(item for item in items if item not in gone)
    return SkillAnswer(f"I removed {say_items(gone)} from your {name} list.", with_list(request.state, name, left))


@SKILLS.on("list", "(clear|empty|delete) (my|the) [<list>] list", kinds=[LIST], share=0.6)
def clear(request: Request) -> SkillAnswer:
    """Empties a list."""
    name, _ = named(request)
    return SkillAnswer(f"Your {name} list is empty now.", with_list(request.state, name, ()))
