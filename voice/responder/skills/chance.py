"""Coins, dice and random numbers; the request supplies the randomness."""

from dataclasses import replace
from fractions import Fraction

from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import SPOKEN_NUMBER, pair_of_numbers, spell_number
from voice.responder.language.vocabulary import words
from voice.responder.skills.skill import Request, Skill, SkillAnswer

MOST_DICE = 10


def answer_coin(request: Request) -> SkillAnswer:
    """Heads or tails."""
    return SkillAnswer(f"It is {request.rng.choice(('heads', 'tails'))}.")


def answer_dice(request: Request) -> SkillAnswer | None:
    """One or several dice, with 6 sides unless the user asks for others."""
    count, sides = request.get("count", Fraction) or Fraction(1), request.get("sides", Fraction) or Fraction(6)
    if count.denominator > 1 or sides.denominator > 1 or count < 1 or sides < 2:
        return None
    if count > MOST_DICE:
        return SkillAnswer(f"I roll {MOST_DICE} dice at most.")
    rolled = [request.rng.randint(1, int(sides)) for _ in range(int(count))]
    if len(rolled) == 1:
        return SkillAnswer(
            f"You rolled {'an' if str(rolled[0])[0] == '8' or rolled[0] in (11, 18) else 'a'} {rolled[0]}."
        )
    return SkillAnswer(f"You rolled {', '.join(map(str, rolled[:-1]))} and {rolled[-1]}, which makes {sum(rolled)}.")


def answer_draw(request: Request) -> SkillAnswer | None:
    """A random whole number between two others, both included."""
    low, high = request.get("pair", tuple) or (Fraction(1), Fraction(100))
    if low.denominator > 1 or high.denominator > 1 or low > high:
        return None
    return SkillAnswer(f"I picked {request.rng.randint(int(low), int(high))}.")


DICE_COUNT = SlotKind("count", SPOKEN_NUMBER.pattern, SPOKEN_NUMBER.parse, lambda rng: spell_number(rng.randint(2, 5)))
SIDES = SlotKind(
    "sides", SPOKEN_NUMBER.pattern, SPOKEN_NUMBER.parse, lambda rng: rng.choice(words("four eight ten twelve twenty"))
)
BOUNDS = replace(pair_of_numbers("and", "to"), sample=lambda rng: f"one and {rng.choice(words('ten twenty fifty'))}")
SKILLS = [
    Skill(
        "coin",
        ["(flip|toss|throw) (a|the) coin", "heads or tails", "(flip|toss) (a|the) coin again", "coin (toss|flip)"],
        answer_coin,
        share=1.5,
    ),
    Skill(
        "dice",
        [
            "(roll|throw|cast) (a|the|one) (die|dice)",
            "roll [a|the] dice",
            "(roll|throw) <count> dice",
            "roll a <sides> sided die",
            "roll the die again",
        ],
        answer_dice,
        [DICE_COUNT, SIDES],
        share=1.5,
    ),
    Skill(
        "random number",
        [
            "(pick|choose|give me|tell me|think of) a [random] number",
            "(pick|choose|give me|tell me|think of) a [random] number (between|from) <pair:and_to>",
            "a random number",
        ],
        answer_draw,
        [BOUNDS],
        share=1.2,
    ),
]
