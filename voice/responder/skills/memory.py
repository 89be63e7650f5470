"""What the user asks to remember during a call, and finding it again by the words of a question."""

import random
import re

from voice.responder.language.grammar import Kind
from voice.responder.language.speech import other_side, sentence
from voice.responder.language.vocabulary import words
from voice.responder.skill import Answer, Request, Skill

_VERBS = re.compile(r" (?:is|are|was|were|am|has|have|starts|ends|likes|like|lives|live|works) ")
_EMPTY = frozenset(
    words(
        "a an the is are was were am be do does did i me my mine you your to of in on at for with it its that this "
        "what where when who which how and about have has had we our tell know put place said say called there"
    )
)
_STEM = re.compile(r"(?:ing|ed|es|s|e)$")
# For generated sentences: things with their places, events with their times, and facts as they are.
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
    """The words that carry meaning, without endings: "where did i park" and "i parked" share "park"."""
    return {_STEM.sub("", word.removesuffix("'s")) or word for word in text.lower().split() if word not in _EMPTY}


def subject(fact: str) -> str:
    """What a fact is about: the words before its verb, or all of it."""
    return _VERBS.split(fact, maxsplit=1)[0]


def recall(facts: tuple[str, ...], question: str) -> list[str]:
    """The facts in which every meaningful word of the question occurs, the newest first."""
    wanted = stems(question)
    return [fact for fact in reversed(facts) if wanted and wanted <= stems(fact)]


def say_fact(fact: str) -> str:
    """The fact as the user is told it."""
    return sentence(f"you asked me to remember {other_side(fact)}" if fact.startswith("to ") else other_side(fact))


def answer_remember(request: Request) -> Answer:
    """Keeps the fact; one with the same subject replaces the older."""
    fact = request.slot("fact", str)
    facts = tuple(known for known in request.state.facts if subject(known) != subject(fact) or subject(fact) == fact)
    state = request.state.but(facts=(*(known for known in facts if known != fact), fact))
    joint = "" if fact.startswith("to ") else "that "
    return Answer(sentence(f"I will remember {joint}{other_side(fact)}"), state)


def answer_name(request: Request) -> Answer:
    """Keeps the user's name."""
    name = request.slot("name", str)
    facts = (*(known for known in request.state.facts if subject(known) != "my name"), f"my name is {name.title()}")
    return Answer(f"Nice to meet you, {name.title()}.", request.state.but(facts=facts))


def answer_question(request: Request) -> Answer | None:
    """A question that a remembered fact answers; None if none does."""
    found = recall(request.state.facts, request.slot("thing", str))
    return Answer(say_fact(found[0])) if found else None


def answer_unknown(request: Request) -> Answer:
    """A question about something of the user's that they have not told."""
    return Answer(f"You have not told me about your {request.slot('thing', str)}.")


def answer_all(request: Request) -> Answer:
    """Everything remembered."""
    if not request.state.facts:
        return Answer("You have not asked me to remember anything yet.")
    return Answer(" ".join(say_fact(fact) for fact in request.state.facts))


def answer_forget(request: Request) -> Answer:
    """Forgets the facts the words name, or the newest."""
    thing = request.get("thing", str)
    facts = request.state.facts
    gone = recall(facts, thing) if thing else list(facts[-1:])
    if not gone:
        return Answer("I do not remember anything of the kind.")
    return Answer("Okay, I have forgotten that.", request.state.but(facts=tuple(f for f in facts if f not in gone)))


def answer_forget_all(request: Request) -> Answer:
    """Forgets everything."""
    return Answer("Okay, I have forgotten everything.", request.state.but(facts=()))


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
    """Something of the user's, without "my"."""
    events = [event.removeprefix("my ") for event in _EVENTS]
    return rng.choice([*_SUBJECTS, *events, "dog", "cat", "favorite color", "room number", "birthday", "hotel", "name"])


_NO_NAME = "not|the|a|in|on|is|going|very|so|fine|good|back|later|when|if|at|tomorrow|again"
FACT = Kind("fact", r"(?!when |what |how |where |that )(?:\S+ ){2,40}", str, sample_fact)
THING = Kind("thing", r"(?:\S+ ){1,6}", str, sample_thing)
NAME = Kind("name", rf"(?!(?:{_NO_NAME}) )[a-z][a-z'-]+ ", str, lambda rng: rng.choice(_NAMES))
SKILLS = [
    Skill(
        "remember",
        [
            "(remember|note|keep in mind|don't forget|make a note) that <fact>",
            "do not forget [that] <fact>",
            "(remember|don't forget) <fact>",
        ],
        answer_remember,
        [FACT],
        whole=False,
        may_end=lambda slots: bool(_VERBS.search(str(slots["fact"]))),
        distinct=False,
        share=5,
    ),
    Skill(
        "remember",
        ["my name is <name>", "[you can] call me <name>"],
        answer_name,
        [NAME],
        distinct=False,
        share=2,
    ),
    Skill(
        "recall",
        [
            "what did i (ask|tell) you to remember [before|earlier]",
            "what (do|can|should) you remember",
            "what did i (tell|ask) you",
            "what have you remembered",
            "do you remember anything",
            "what (i asked|was it i asked) you to remember",
        ],
        answer_all,
        share=3,
    ),
    Skill(
        "forget",
        ["forget (everything|all) [you know|i said|of it]", "(clear|erase|delete) your memory"],
        answer_forget_all,
        share=1.5,
    ),
    Skill(
        "forget",
        ["forget (that|the last one|what i said)", "forget [about] my <thing>", "forget where my <thing> (is|are)"],
        answer_forget,
        [THING],
        distinct=False,
    ),
    Skill(
        "recall",
        [
            "(where|what|when|who) (is|are|was|were) <thing>",
            "(where|what|when|who|how) (did|am|was|do|have) i <thing>",
            "(what|which) <thing> do i have",
            "[do you (know|remember)] (where|what|when|who) <thing> (is|are)",
            "do you remember <thing>",
            "what do you (know|remember) about <thing>",
            "what did i (say|tell you|ask you to remember) about <thing>",
        ],
        answer_question,
        [THING],
        whole=False,
        distinct=False,
        share=0,
    ),
]
UNKNOWN_SKILLS = [
    Skill(
        "recall",
        [
            "(where|what|when|who) (is|are|was) my <thing>",
            "[do you (know|remember)] (where|what|when|who) my <thing> (is|are)",
            "what do you (know|remember) about my <thing>",
            "what did i (say|tell you) about my <thing>",
        ],
        answer_unknown,
        [THING],
        distinct=False,
        share=4,
    ),
]
"""Tried last: questions about facts that were never told."""
