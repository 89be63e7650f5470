"""Remembers facts for the user during a call, and finds them by the words of a question."""

from voice.responder.language.facts import FACT, FACT_NAME, THING, has_verb, recall, subject
from voice.responder.language.phrasing import other_side, sentence
from voice.responder.skills.skill import Request, Skill, SkillAnswer


def say_fact(fact: str) -> str:
    """The fact as it is said to the user."""
    return sentence(f"you asked me to remember {other_side(fact)}" if fact.startswith("to ") else other_side(fact))


def answer_remember(request: Request) -> SkillAnswer:
    """Remembers the fact; it replaces an older one with the same subject."""
    fact = request.slot("fact", str)
    facts = tuple(known for known in request.state.facts if subject(known) != subject(fact) or subject(fact) == fact)
    state = request.state.but(facts=(*(known for known in facts if known != fact), fact))
    joint = "" if fact.startswith("to ") else "that "
    return SkillAnswer(sentence(f"I will remember {joint}{other_side(fact)}"), state)


def answer_name(request: Request) -> SkillAnswer:
    """Remembers the user's name."""
    name = request.slot("name", str)
    facts = (*(known for known in request.state.facts if subject(known) != "my name"), f"my name is {name.title()}")
    return SkillAnswer(f"Nice to meet you, {name.title()}.", request.state.but(facts=facts))


def answer_question(request: Request) -> SkillAnswer | None:
    """Answers a question with a remembered fact; None if no fact fits."""
    found = recall(request.state.facts, request.slot("thing", str))
    return SkillAnswer(say_fact(found[0])) if found else None


def answer_unknown(request: Request) -> SkillAnswer:
    """Says that the user has not mentioned the thing."""
    return SkillAnswer(f"You have not told me about your {request.slot('thing', str)}.")


def answer_all(request: Request) -> SkillAnswer:
    """Says everything that is remembered."""
    if not request.state.facts:
        return SkillAnswer("You have not asked me to remember anything yet.")
    return SkillAnswer(" ".join(say_fact(fact) for fact in request.state.facts))


def answer_forget(request: Request) -> SkillAnswer:
    """Forgets the facts that the words name, or the newest one."""
    thing = request.get("thing", str)
    facts = request.state.facts
    gone = recall(facts, thing) if thing else list(facts[-1:])
    if not gone:
        return SkillAnswer("I do not remember anything of the kind.")
    return SkillAnswer(
        "Okay, I have forgotten that.", request.state.but(facts=tuple(f for f in facts if f not in gone))
    )


def answer_forget_all(request: Request) -> SkillAnswer:
    """Forgets everything."""
    return SkillAnswer("Okay, I have forgotten everything.", request.state.but(facts=()))


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
        may_end=lambda slots: has_verb(str(slots["fact"])),
        distinct=False,
        share=5,
    ),
    Skill(
        "remember",
        ["my name is <name>", "[you can] call me <name>"],
        answer_name,
        [FACT_NAME],
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
"""Tried last: questions about facts that the user has not mentioned."""
