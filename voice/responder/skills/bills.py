"""Tips, shares of a bill, and percentages."""

import random
from fractions import Fraction

from voice.responder.language.grammar import SlotKind
from voice.responder.language.money import MONEY, NAMED_MONEY, Money, rounded, say_money
from voice.responder.language.numbers import (
    SIGNED,
    SPOKEN_NUMBER,
    is_exact,
    pair_of_numbers,
    parse_number,
    say_number,
    spell_number,
)
from voice.responder.skills.skill import Request, Skill, SkillAnswer

USUAL_TIP = 15
"""Percent, where the user names none; the answer says so."""
MOST_PEOPLE = 1000


def answer_tip(request: Request) -> SkillAnswer | None:
    """Says, for example, "A 20 percent tip on 45 dollars is 9 dollars, which makes 54 dollars"."""
    percent, bill = request.get("percent", Fraction), request.slot("money", Money)
    percent = Fraction(USUAL_TIP) if percent is None else percent
    if not 0 <= percent <= 1000:
        return None
    tip = bill.but(rounded(bill.value * percent / 100))
    total = say_money(bill.but(rounded(bill.value) + tip.value))
    return SkillAnswer(
        f"A {say_number(percent)} percent tip on {say_money(bill)} is {say_money(tip)}, which makes {total}."
    )


def answer_percent(request: Request) -> SkillAnswer:
    """A percentage of a sum of money."""
    percent, money = request.slot("percent", Fraction), request.slot("money", Money)
    part = money.but(money.value * percent / 100)
    return SkillAnswer(f"{say_number(percent)} percent of {say_money(money)} is {say_money(part)}.")


def answer_discount(request: Request) -> SkillAnswer:
    """A sum of money less a percentage."""
    percent, money = request.slot("percent", Fraction), request.slot("money", Money)
    left = money.but(money.value * (100 - percent) / 100)
    return SkillAnswer(f"{say_money(money)} with {say_number(percent)} percent off is {say_money(left)}.")


def answer_split(request: Request) -> SkillAnswer | None:
    """What each of some people pays."""
    bill, people = request.slot("money", Money), request.slot("people", Fraction)
    if people.denominator > 1 or not 1 <= people <= MOST_PEOPLE:
        return None
    each = bill.value / people
    about = "" if rounded(each) == each else "about "
    return SkillAnswer(
        f"{say_money(bill)} split between {say_number(people)} people is {about}{say_money(bill.but(each))} each."
    )


def answer_share(request: Request) -> SkillAnswer | None:
    """What percentage one number is of another."""
    whole, part = request.slot("pair", tuple)
    return _share(part, whole)


def answer_share_of(request: Request) -> SkillAnswer | None:
    """As `answer_share`, for "ten is what percent of fifty"."""
    return _share(request.slot("part", Fraction), request.slot("whole", Fraction))


def _share(part: Fraction, whole: Fraction) -> SkillAnswer | None:
    if not whole:
        return SkillAnswer("Nothing is a percentage of zero.")
    percent = part / whole * 100
    about = "" if is_exact(percent) else "about "
    return SkillAnswer(f"{say_number(part)} is {about}{say_number(percent)} percent of {say_number(whole)}.")


def sample_percent(rng: random.Random) -> str:
    """A usual percentage."""
    return spell_number(rng.choice([5, 10, 10, 15, 15, 18, 20, 20, 25, 30, 50]))


def sample_people(rng: random.Random) -> str:
    """A small party."""
    return spell_number(rng.choice([2, 2, 3, 3, 4, 4, 5, 6, 8]))


PERCENT = SlotKind("percent", SIGNED, parse_number, sample_percent)
PEOPLE = SlotKind("people", SPOKEN_NUMBER.pattern, parse_number, sample_people)
PART = SlotKind("part", SIGNED, parse_number, sample_percent)
WHOLE = SlotKind("whole", SIGNED, parse_number, lambda rng: spell_number(rng.choice([40, 50, 80, 100, 200])))
SKILLS = [
    Skill(
        "tip",
        [
            "(what is|how much is|calculate|work out|give me) [a] <percent> percent tip (on|for|of) <money>",
            "(what is|how much is|calculate|work out) [the|a] tip (on|for|of) [a bill of] <money>",
            "how much [should i|do i] tip (on|for) <money>",
            "[a] <percent> percent tip (on|for) <money>",
            "tip <percent> percent on <money>",
        ],
        answer_tip,
        [PERCENT, MONEY],
        share=1.5,
    ),
    Skill(
        "percentage",
        ["(what is|how much is|calculate) <percent> percent of <money:named_money>"],
        answer_percent,
        [PERCENT, NAMED_MONEY],
        share=0.6,
    ),
    Skill(
        "discount",
        [
            "(what is|how much is) <money:named_money> (with|at|less|minus) <percent> percent [off|discount]",
            "(what is|how much is) <percent> percent off [of] <money:named_money>",
        ],
        answer_discount,
        [PERCENT, NAMED_MONEY],
        share=0.6,
    ),
    Skill(
        "split",
        [
            "(split|divide) [a bill of] <money> (between|among|by) <people> [people|of us|friends]",
            "(split|divide) [a bill of] <money> <people> ways",
            "(split|divide) <money> in <people> [parts]",
        ],
        answer_split,
        [MONEY, PEOPLE],
    ),
    Skill(
        "percentage",
        ["what (percent|percentage) of <pair:is>"],
        answer_share,
        [pair_of_numbers("is")],
        share=0.6,
    ),
    Skill(
        "percentage",
        ["<part> is what (percent|percentage) of <whole>", "what percentage is <part> of <whole>"],
        answer_share_of,
        [PART, WHOLE],
        share=0.6,
    ),
]
