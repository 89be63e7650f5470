"""Does the last request once more: "another one" after a joke, "again" after a coin."""

from voice.responder.skills import chance, recital
from voice.responder.skills.skill import Request, Skill, SkillAnswer

AGAIN = {
    "joke": recital.answer_joke,
    "story": recital.answer_story,
    "coin": chance.answer_coin,
    "dice": chance.answer_dice,
    "random number": chance.answer_draw,
}
"""What can be done once more, by intent."""


def answer_another(request: Request) -> SkillAnswer | None:
    """Another joke, story, throw or number; says what there could be another of, if there has been none."""
    if request.state.again is None:
        return SkillAnswer("Another what? I can tell a joke or a story, flip a coin or roll a die.")
    intent, slots = request.state.again
    return AGAIN[intent](Request(slots, request.state, request.now, request.rng))


SKILLS = [
    Skill(
        "another",
        [
            "[tell me|give me] another [one]",
            "one more [please]",
            "(do|try|roll|flip|toss|throw) (it|that) again",
            "(flip|toss|roll|throw|pick) again",
            "do you (have|know) (another|any more|more) [one]",
            "(and|now) another one",
            "a different one",
            "(tell|give) me (a different|a new) one",
        ],
        answer_another,
    ),
]
