"""Remembers facts for the user during a call, and finds them by the words of a question."""

import random
import re

from voice.language.english.phrasing import said_back, sentence
from voice.responder.language.grammar import SlotKind
from voice.responder.skills.skill import Request, SkillAnswer, Skills

_VERBS = re.compile(r" (?:is|are|was|were|am|has|have|starts|ends|likes|like|lives|live|works) ")
_EMPTY = frozenset((
    "a", "an", "the", "is", "are", "was", "were", "am", "be", "do", "does", "did", "i", "me", "my", "mine", "you",
    "your", "to", "of", "in", "on", "at", "for", "with", "it", "its", "that", "this", "what", "where", "when", "who",
    "which", "how", "and", "about", "have", "has", "had", "we", "our", "tell", "know", "put", "place", "said", "say",
    "called", "there",
))  # fmt: skip
_STEM = re.compile(r"(?:ing|ed|es|s|e)$")


def stems(text: str) -> set[str]:
    """The meaningful words without their endings: "where did i park" and "i parked" share "park"."""
    return {_STEM.sub("", word.removesuffix("'s")) or word for word in text.lower().split() if word not in _EMPTY}


def subject(fact: str) -> str:
    """The subject of a fact: the words before its verb, or all words."""
    return _VERBS.split(fact, maxsplit=1)[0]


def recall(facts: tuple[str, ...], question: str) -> list[str]:
    """The facts that contain every meaningful word of the question, newest first."""
    wanted = stems(question)
    return [fact for fact in reversed(facts) if wanted and wanted <= stems(fact)]


def say_fact(fact: str) -> str:
    """The fact as spoken to the user."""
    return sentence(f"you asked me to remember {said_back(fact)}" if fact.startswith("to ") else said_back(fact))


_SUBJECTS = ("car", "keys", "wallet", "phone", "passport", "bike", "umbrella", "bag", "glasses", "suitcase", "ticket")
_PLACES = (
    "on level three", "in the kitchen", "on the table", "in the garage", "in my bag", "under the desk", "on level two",
    "in the office", "on the second floor", "in the drawer", "at home", "by the door", "in my room", "on level five",
)  # fmt: skip
_EVENTS = ("appointment", "meeting", "meeting with the doctor", "flight", "train", "interview", "birthday", "exam")
_TIMES = (
    "at three", "on monday", "at nine tomorrow", "on friday", "at noon", "at half past four", "on saturday evening",
    "tomorrow morning", "on tuesday", "on wednesday afternoon", "next thursday", "on sunday", "on monday morning",
)  # fmt: skip
_FACTS = (
    "my favorite color is blue", "my dog is called max", "my sister is called anna", "my room number is twelve",
    "i parked on level four", "i need to buy milk", "i have to call my mother", "the code is one two three four",
)  # fmt: skip


def sample_fact(rng: random.Random) -> str:
    """Something people ask to remember."""
    thing = rng.choice(_SUBJECTS)
    place = f"my {thing} {'are' if thing in ('keys', 'glasses') else 'is'} {rng.choice(_PLACES)}"
    event = f"{rng.choice(('my', 'the'))} {rng.choice(_EVENTS)} is {rng.choice(_TIMES)}"
    return rng.choices([place, event, rng.choice(_FACTS)], [40, 30, 30])[0]


FACT = SlotKind("fact", r"(?!when |what |how |where |that )(?:\S+ ){2,40}", str, sample_fact)
THING = SlotKind("thing", r"(?:\S+ ){1,6}", str, lambda rng: rng.choice([*_SUBJECTS, *_EVENTS]))
SKILLS = Skills()


@SKILLS.on(
    "remember",
    "remember that <fact>",
    "(note|keep in mind|don't forget|do not forget|make a note) that <fact>",
    "(remember|don't forget|do not forget) <fact>",
    kinds=[FACT],
    whole=False,
    may_end=lambda slots: _VERBS.search(str(slots["fact"])) is not None,
    distinct=False,
    share=5,
)
def remember(request: Request) -> SkillAnswer:
    """Remembers the fact; it replaces an older one with the same subject."""
    fact = request.slot("fact", str)
    facts = tuple(known for known in request.state.facts if subject(known) != subject(fact) or subject(fact) == fact)
    state = request.state.but(facts=(*(known for known in facts if known != fact), fact))
    joint = "" if fact.startswith("to ") else "that "
    return SkillAnswer(sentence(f"I will remember {joint}{said_back(fact)}"), state)


@SKILLS.on(
    "recall",
    "what did i (ask|tell) you [to remember] [before|earlier]",
    "what (do|can|should) you remember",
    "what have you remembered",
    "do you remember anything",
    "what (i asked|was it i asked) you to remember",
    share=3,
)
def say_all(request: Request) -> SkillAnswer:
    """Says all remembered facts."""
    if not request.state.facts:
        return SkillAnswer("You have not asked me to remember anything yet.")
    return SkillAnswer(" ".join(say_fact(fact) for fact in request.state.facts))


@SKILLS.on("forget", "forget (everything|all) [you know|i said|of it]")
def forget_all(request: Request) -> SkillAnswer:
    """Forgets everything."""
    return SkillAnswer("Okay, I have forgotten everything.", request.state.but(facts=()))


@SKILLS.on(
    "recall",
    "(where|what|when|who) (is|are|was|were) <thing>",
    "(where|what|when|who|how) (did|am|was|do|have) i <thing>",
    "[do you (know|remember)] (where|what|when|who) <thing> (is|are)",
    "do you remember <thing>",
    "what do you (know|remember) about <thing>",
    "what did i (say|tell you|ask you to remember) about <thing>",
    kinds=[THING],
    whole=False,
    distinct=False,
    share=0,
)
def say_fitting(request: Request) -> SkillAnswer | None:
    """Answers a question with a remembered fact; None if no fact fits."""
    found = recall(request.state.facts, request.slot("thing", str))
    return SkillAnswer(say_fact(found[0])) if found else None


@SKILLS.on(
    "recall",
    "(where|what|when|who) (is|are|was) my <thing>",
    "[do you (know|remember)] (where|what|when|who) my <thing> (is|are)",
    "what do you (know|remember) about my <thing>",
    "what did i (say|tell you) about my <thing>",
    kinds=[THING],
    distinct=False,
    last=True,
    share=4,
)
def say_unknown(request: Request) -> SkillAnswer:
    """Says that the user has not mentioned the thing."""
    return SkillAnswer(f"You have not told me about your {request.slot('thing', str)}.")
