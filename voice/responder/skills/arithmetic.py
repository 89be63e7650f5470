"""Answers spoken sums and percentages; each answer repeats the sum, so that a mishearing is noticed."""

from collections.abc import Callable
from fractions import Fraction
from operator import add, mul, sub

from voice.responder.language.expression import BARE, SUM, Operation, SumResult, combine, divide
from voice.responder.language.numbers import SPOKEN_NUMBER, is_exact, pair_of_numbers, say_number
from voice.responder.skills.skill import Request, Skill, SkillAnswer


def answer_expression(request: Request) -> SkillAnswer:
    """The value of a spoken sum."""
    return say_result(request.slot("sum", SumResult))


def say_result(worked: SumResult) -> SkillAnswer:
    """One sentence: the sum and its value."""
    if worked.value is None:
        return SkillAnswer(worked.refusal or "")
    text = worked.text[0].upper() + worked.text[1:]
    about, currency = "" if is_exact(worked.value) else "about ", f" {worked.currency}" if worked.currency else ""
    return SkillAnswer(f"{text} is {about}{say_number(worked.value)}{currency}.")


def two_numbers(said: str, operation: Operation, *, swap: bool = False) -> Callable[[Request], SkillAnswer]:
    """An answer function for the slot `pair`; says "a `said` b", or "b `said` a" with `swap`."""

    def answer(request: Request) -> SkillAnswer:
        a, b = (SumResult(say_number(number), number) for number in request.slot("pair", tuple))
        a, b = (b, a) if swap else (a, b)
        return say_result(combine(f"{a.text} {said} {b.text}", operation, a, b))

    return answer


def answer_share(request: Request) -> SkillAnswer:
    """What percentage one number is of another."""
    part, whole = request.slot("part", Fraction), request.slot("whole", Fraction)
    if not whole:
        return SkillAnswer("Nothing is a percentage of zero.")
    percent = part / whole * 100
    about = "" if is_exact(percent) else "about "
    return SkillAnswer(f"{say_number(part)} is {about}{say_number(percent)} percent of {say_number(whole)}.")


SKILLS = [
    Skill(
        "arithmetic",
        [
            "(what is|how much is) [a] <sum>",
            "(calculate|compute|work out|solve) <sum>",
            "what does <sum> (equal|make)",
            "(what|how much) <sum> (is|makes|equals)",
            "what do (you|i) get if (you|i) (calculate|take) <sum>",
        ],
        answer_expression,
        [SUM],
        share=24,
    ),
    Skill(
        "arithmetic",
        ["<sum:bare> [is what|equals|equals what|is how much]"],
        answer_expression,
        [BARE],
        distinct=False,
        share=4,
    ),
    Skill(
        "arithmetic",
        ["(add|what is the sum of) <pair:and_to>"],
        two_numbers("plus", add),
        [pair_of_numbers("and", "to")],
        share=1.5,
    ),
    Skill(
        "arithmetic",
        ["(multiply|what is the product of) <pair:by_and_with>"],
        two_numbers("times", mul),
        [pair_of_numbers("by", "and", "with")],
        share=1.5,
    ),
    Skill(
        "arithmetic",
        ["(subtract|take) <pair:from>"],
        two_numbers("minus", sub, swap=True),
        [pair_of_numbers("from")],
    ),
    Skill(
        "arithmetic",
        ["[what is] the difference between <pair:and>"],
        two_numbers("minus", sub),
        [pair_of_numbers("and")],
    ),
    Skill("arithmetic", ["divide <pair:by>"], two_numbers("divided by", divide), [pair_of_numbers("by")]),
    Skill(
        "percentage",
        [
            "what (percent|percentage) of <whole:number> is <part:number>",
            "<part:number> is what (percent|percentage) of <whole:number>",
            "what percentage is <part:number> of <whole:number>",
        ],
        answer_share,
        [SPOKEN_NUMBER],
        share=0.6,
    ),
]
