"""Answers spoken sums and percentages; each answer repeats the sum, so that a mishearing is noticed."""

from fractions import Fraction
from operator import add, mul, sub

from voice.language.english.number_words import is_exact, say_number
from voice.responder.language.expression import BARE, SUM, Operation, SumResult, divide, work_out
from voice.responder.language.numbers import NUMBER, pair_of_numbers
from voice.responder.skills.skill import Request, SkillAnswer, Skills

SKILLS = Skills()


def say_result(worked: SumResult) -> SkillAnswer:
    """One sentence: the sum and its value."""
    if worked.value is None:
        return SkillAnswer(worked.refusal or "")
    text = worked.text[0].upper() + worked.text[1:]
    about, currency = "" if is_exact(worked.value) else "about ", f" {worked.currency}" if worked.currency else ""
    value = say_number(worked.value, places=2 if currency else 4)
    return SkillAnswer(f"{text} is {about}{value}{currency}.")


@SKILLS.on("arithmetic", "<sum:bare> [is what|equals|equals what|is how much]", kinds=[BARE], distinct=False, share=4)
@SKILLS.on(
    "arithmetic",
    "(what is|how much is) <sum>",
    "(calculate|compute|work out|solve) <sum>",
    kinds=[SUM],
    share=20,
)
@SKILLS.on(
    "arithmetic",
    "(what is|how much is) a <sum>",
    "what does <sum> (equal|make)",
    "(what|how much) <sum> (is|makes|equals)",
    "what do (you|i) get if (you|i) (calculate|take) <sum>",
    kinds=[SUM],
    share=4,
)
def evaluate(request: Request) -> SkillAnswer:
    """The value of a spoken sum."""
    return say_result(request.slot("sum", SumResult))


def two_numbers(template: str, joints: tuple[str, ...], said: str, operation: Operation, *, swap: bool = False) -> None:
    """Answer requests with two numbers, joined by one of `joints`, in the slot `pair`: the first, `said`, the other."""

    @SKILLS.on("arithmetic", template, kinds=[pair_of_numbers(*joints)])
    def answer(request: Request) -> SkillAnswer:
        a, b = request.slot("pair", tuple)
        a, b = (b, a) if swap else (a, b)
        return say_result(work_out(f"{say_number(a)} {said} {say_number(b)}", operation, a, b))


two_numbers("(add|what is the sum of) <pair:and_to>", ("and", "to"), "plus", add)
two_numbers("(multiply|what is the product of) <pair:by_and_with>", ("by", "and", "with"), "times", mul)
two_numbers("(subtract|take) <pair:from>", ("from",), "minus", sub, swap=True)
two_numbers("[what is] the difference between <pair:and>", ("and",), "minus", sub)
two_numbers("divide <pair:by>", ("by",), "divided by", divide)


@SKILLS.on(
    "percentage",
    "what (percent|percentage) of <whole:number> is <part:number>",
    "<part:number> is what (percent|percentage) of <whole:number>",
    "what percentage is <part:number> of <whole:number>",
    kinds=[NUMBER],
    share=0.6,
)
def say_share(request: Request) -> SkillAnswer:
    """What percentage one number is of another."""
    part, whole = request.slot("part", Fraction), request.slot("whole", Fraction)
    if not whole:
        return SkillAnswer("Nothing is a percentage of zero.")
    percent = part / whole * 100
    about = "" if is_exact(percent) else "about "
    return SkillAnswer(f"{say_number(part)} is {about}{say_number(percent)} percent of {say_number(whole)}.")
