"""Facts that users ask the responder to remember: their subjects, and which facts answer a question."""

import random
import re

from voice.responder.language.grammar import SlotKind
from voice.responder.language.vocabulary import words

_VERBS = re.compile(r" (?:is|are|was|were|am|has|have|starts|ends|likes|like|lives|live|works) ")
_EMPTY = frozenset(
    words(
        "a an the is are was were am be do does did i me my mine you your to of in on at for with it its that this "
        "what where when who which how and about have has had we our tell know put place said say called there"
    )
)
_STEM = re.compile(r"(?:ing|ed|es|s|e)$")
# For generated sentences: things and places, events and times, and whole facts.
_SUBJECTS = words("car keys wallet phone passport bike umbrella bag glasses suitcase ticket coat")
_PLACES = (
    "on level three",
    "in the kitchen",
    "on the table",
    "in the garage",
    "in my bag",
    "under the desk",
    "on level two",
    "in the office",
    "on the second floor",
    "in the drawer",
    "at home",
    "by the door",
    "in my room",
    "behind the house",
    "in the hall",
    "on level five",
)
_EVENTS = (
    "my appointment",
    "my meeting",
    "my flight",
    "the meeting",
    "my train",
    "my lesson",
    "dinner",
    "my interview",
    "the party",
    "my exam",
)
_TIMES = (
    "at three",
    "on monday",
    "at nine tomorrow",
    "on friday",
    "at noon",
    "at half past four",
    "on saturday evening",
    "at ten o'clock",
    "tomorrow morning",
    "on tuesday",
    "at seven thirty",
    "on wednesday afternoon",
    "next thursday",
    "on sunday",
)
_FACTS = (
    "my favorite color is blue",
    "my favorite color is green",
    "my dog is called max",
    "my cat is called luna",
    "my sister is called anna",
    "my birthday is in june",
    "my room number is twelve",
    "my doctor is called brown",
    "my brother lives in london",
    "my size is ten",
    "i parked on level four",
    "i need to buy milk",
    "i have to call my mother",
    "my locker number is forty two",
    "the code is one two three four",
    "my password is banana",
    "i like coffee",
    "my friend is called peter",
    "my hotel is called the plaza",
)
_NAMES = words(
    "anna peter mary john david sarah tom emma michael linda james susan paul laura mark julia daniel alice robert kate"
)


def stems(text: str) -> set[str]:
    """The meaningful words without their endings: "where did i park" and "i parked" share "park"."""
    return {_STEM.sub("", word.removesuffix("'s")) or word for word in text.lower().split() if word not in _EMPTY}


def subject(fact: str) -> str:
    """What a fact is about: the words before its verb, or all words."""
    return _VERBS.split(fact, maxsplit=1)[0]


def has_verb(fact: str) -> bool:
    """Whether the fact contains a verb, so that it may be complete."""
    return _VERBS.search(fact) is not None


def recall(facts: tuple[str, ...], question: str) -> list[str]:
    """The facts that contain every meaningful word of the question, newest first."""
    wanted = stems(question)
    return [fact for fact in reversed(facts) if wanted and wanted <= stems(fact)]


def sample_fact(rng: random.Random) -> str:
    """Something people ask to remember."""
    draw = rng.random()
    if draw < 0.4:
        thing = rng.choice(_SUBJECTS)
        return f"my {thing} {'are' if thing in ('keys', 'glasses') else 'is'} {rng.choice(_PLACES)}"
    if draw < 0.65:
        return f"{rng.choice(_EVENTS)} is {rng.choice(_TIMES)}"
    return rng.choice(_FACTS)


def sample_thing(rng: random.Random) -> str:
    """Something that belongs to the user, without "my"."""
    events = [event.removeprefix("my ") for event in _EVENTS]
    return rng.choice([*_SUBJECTS, *events, "dog", "cat", "favorite color", "room number", "birthday", "hotel", "name"])


_NO_NAME = "not|the|a|in|on|is|going|very|so|fine|good|back|later|when|if|at|tomorrow|again"
FACT = SlotKind("fact", r"(?!when |what |how |where |that )(?:\S+ ){2,40}", str, sample_fact)
THING = SlotKind("thing", r"(?:\S+ ){1,6}", str, sample_thing)
FACT_NAME = SlotKind("name", rf"(?!(?:{_NO_NAME}) )[a-z][a-z'-]+ ", str, lambda rng: rng.choice(_NAMES))
