"""Lists of things, such as a shopping list; they last as long as the call."""

import random
import re

from voice.responder.language.facts import stems
from voice.responder.language.grammar import SlotKind
from voice.responder.language.vocabulary import words
from voice.responder.skills.skill import Request, Skill, SkillAnswer
from voice.responder.state import State

NAMES = {
    "shopping": "shopping", "grocery": "shopping", "groceries": "shopping", "to do": "to do", "todo": "to do",
    "packing": "packing", "wish": "wish", "guest": "guest",
}  # fmt: skip
MOST_THINGS = 100
"""The longest list; what is added beyond it is refused."""
_GROCERIES = words(
    "milk bread eggs butter cheese coffee tea sugar rice pasta apples bananas tomatoes potatoes onions carrots chicken "
    "fish juice water soap toothpaste batteries flour salt yogurt"
)
_ARTICLE = re.compile(r"^(?:some|a|an|the|my|more) ")


def things(spoken: str) -> tuple[str, ...]:
    """The things in "milk and some eggs", without articles."""
    parts = (_ARTICLE.sub("", part) for part in re.split(r"(?:^| )and(?: |$)", spoken))
    return tuple(part for part in parts if part)


def say_things(listed: tuple[str, ...]) -> str:
    """The things as a phrase: "milk, eggs and bread"."""
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"


def named(request: Request) -> str:
    """The list that is meant: the named one, else the newest, else the shopping list."""
    newest = request.state.lists[-1][0] if request.state.lists else "shopping"
    return request.get("list", str) or newest


def on_list(state: State, name: str) -> tuple[str, ...]:
    """What is on a list; nothing if there is none."""
    return dict(state.lists).get(name, ())


def with_list(state: State, name: str, listed: tuple[str, ...]) -> State:
    """The state with this list, which is the newest now."""
    return state.but(lists=(*(entry for entry in state.lists if entry[0] != name), (name, listed)))


def answer_add(request: Request) -> SkillAnswer | None:
    """Puts things on a list that are not there yet."""
    name, wanted = named(request), things(request.slot("things", str))
    listed = on_list(request.state, name)
    new = tuple(thing for thing in dict.fromkeys(wanted) if thing not in listed)
    if not wanted:
        return None
    if not new:
        return SkillAnswer(f"Your {name} list has {say_things(wanted)} already.")
    if len(listed) + len(new) > MOST_THINGS:
        return SkillAnswer(f"A list holds {MOST_THINGS} things at most.")
    first = "" if request.state.lists else " I keep it until this call ends."
    return SkillAnswer(
        f"I added {say_things(new)} to your {name} list.{first}", with_list(request.state, name, (*listed, *new))
    )


def answer_read(request: Request) -> SkillAnswer:
    """Says what is on a list."""
    name = named(request)
    listed = on_list(request.state, name)
    return SkillAnswer(f"Your {name} list has {say_things(listed)}." if listed else f"Your {name} list is empty.")


def answer_count(request: Request) -> SkillAnswer:
    """Says how many things are on a list."""
    name = named(request)
    count = len(on_list(request.state, name))
    return SkillAnswer(f"There {'is 1 thing' if count == 1 else f'are {count} things'} on your {name} list.")


def answer_whether(request: Request) -> SkillAnswer:
    """Says whether a thing is on a list."""
    name, thing = named(request), _ARTICLE.sub("", request.slot("things", str))
    found = _matching(on_list(request.state, name), thing)
    return SkillAnswer(f"Yes, your {name} list has {found}." if found else f"No, {thing} is not on your {name} list.")


def answer_remove(request: Request) -> SkillAnswer:
    """Takes things off a list."""
    name, wanted = named(request), things(request.slot("things", str))
    listed = on_list(request.state, name)
    gone = tuple(found for thing in wanted if (found := _matching(listed, thing)))
    if not gone:
        return SkillAnswer(f"Your {name} list has no {' and '.join(wanted)}.")
    left = tuple(thing for thing in listed if thing not in gone)
    return SkillAnswer(f"I removed {say_things(gone)} from your {name} list.", with_list(request.state, name, left))


def answer_clear(request: Request) -> SkillAnswer:
    """Empties a list."""
    name = named(request)
    return SkillAnswer(f"Your {name} list is empty now.", with_list(request.state, name, ()))


def _matching(listed: tuple[str, ...], thing: str) -> str | None:
    """The thing on the list that has all meaningful words of `thing`: "eggs" for "an egg"."""
    wanted = stems(thing)
    return next((each for each in listed if wanted and wanted <= stems(each)), None)


def sample_things(rng: random.Random) -> str:
    """One or two things to buy."""
    return " and ".join(rng.sample(_GROCERIES, rng.choice([1, 1, 1, 2])))


THINGS = SlotKind("things", r"(?:\S+ ){1,10}", str, sample_things)
LIST = SlotKind(
    "list",
    f"(?:{'|'.join(sorted(NAMES, key=len, reverse=True))}) ",
    NAMES.get,
    lambda rng: rng.choice(["shopping", "shopping", "shopping", "grocery", "to do", "packing"]),
)
SKILLS = [
    Skill(
        "list",
        [
            "(add|put) <things> (to|on) (my|the) <list> list",
            "(add|put) <things> (to|on|onto) (my|the|our|that) list",
        ],
        answer_add,
        [THINGS, LIST],
        distinct=False,
        share=2,
    ),
    Skill(
        "list",
        [
            "what is on (my|the) [<list>] list",
            "(read|show|tell me) [me] (my|the) [<list>] list",
            "what do i (need|have) to buy",
            "what (do i have|have i got) on (my|the) [<list>] list",
        ],
        answer_read,
        [LIST],
        share=1.5,
    ),
    Skill("list", ["how many (things|items) are on (my|the) [<list>] list"], answer_count, [LIST], share=0.5),
    Skill(
        "list",
        ["(is|are) <things> [already|still] on (my|the) [<list>] list"],
        answer_whether,
        [THINGS, LIST],
        distinct=False,
        share=0.5,
    ),
    Skill(
        "list",
        [
            "(remove|delete|take) <things> (from|off) (my|the) [<list>] list",
            "(cross|take) <things> off (my|the) [<list>] list",
        ],
        answer_remove,
        [THINGS, LIST],
        distinct=False,
    ),
    Skill("list", ["(clear|empty|delete) (my|the) [<list>] list"], answer_clear, [LIST], share=0.6),
]
