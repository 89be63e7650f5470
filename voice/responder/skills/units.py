"""Converts units: "how many feet are in a mile", "convert ten miles to kilometers"."""

from voice.language.english.phrasing import sentence
from voice.responder.language.amounts import AMOUNT, BY_NAME, UNIT, Amount, Unit, sample_pair, say_amount, to_unit
from voice.responder.skills.skill import Request, SkillAnswer, Skills

SKILLS = Skills()


def resolve(start: Unit, end: Unit) -> tuple[Unit, Unit]:
    """The same units, except that an ounce becomes a fluid ounce in a conversion to or from a volume."""
    fluid = BY_NAME["fluid ounce"]
    if start.singular == "ounce" and end.quantity == "volume":
        return fluid, end
    if end.singular == "ounce" and start.quantity == "volume":
        return start, fluid
    return start, end


def mismatch(start: Unit, end: Unit) -> SkillAnswer:
    """Says why one unit cannot be converted to the other."""
    reason = f"one measures {start.quantity}, the other {end.quantity}"
    return SkillAnswer(f"I can't convert {start.plural} to {end.plural}: {reason}.")


@SKILLS.on(
    "units",
    "(convert|change|turn) <amount> (to|into|in) <end:unit>",
    "(what is|how much is|how many is) <amount> (in|to|into|as) <end:unit>",
    "<amount> (to|in|into) <end:unit>",
    "how (long|far|heavy|hot|fast|big|tall|high|cold|warm) is <amount> in <end:unit>",
    "how much is <amount> converted to <end:unit>",
    "(what|how much|how many) <amount> (is|are) (in|to) <end:unit>",
    kinds=[UNIT, AMOUNT],
    share=8,
    fill=sample_pair,
)
def convert(request: Request) -> SkillAnswer:
    """Says, for example, "10 miles is 16.09 kilometers"."""
    amount, end = request.slot("amount", Amount), request.slot("end", Unit)
    start, end = resolve(amount.unit, end)
    if start.quantity != end.quantity:
        return mismatch(start, end)
    result = say_amount(to_unit(amount.value, start, end), end)
    return SkillAnswer(sentence(f"{say_amount(amount.value, start)} is {result}"))


@SKILLS.on(
    "units",
    "how many <end:unit> (is|are|are there|is there|there are|there is) in <amount>",
    "how many <end:unit> in <amount>",
    "how many <end:unit> (does|do) <amount> have",
    "how many <end:unit> (is|are|make|makes|make up) <amount>",
    "what is the number of <end:unit> in <amount>",
    kinds=[UNIT, AMOUNT],
    share=8,
    fill=sample_pair,
)
def count_units(request: Request) -> SkillAnswer:
    """Says, for example, "There are 5280 feet in a mile"."""
    amount, end = request.slot("amount", Amount), request.slot("end", Unit)
    start, end = resolve(amount.unit, end)
    if start.quantity != end.quantity or start.quantity == "temperature":
        return convert(request)
    result = say_amount(to_unit(amount.value, start, end), end)
    whole = amount.said or say_amount(amount.value, start)
    return SkillAnswer(f"There {'is' if result.startswith('1 ') else 'are'} {result} in {whole}.")
