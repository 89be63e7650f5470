"""Says on which weekday a day falls, and how long it is until then."""

from datetime import date, timedelta
from fractions import Fraction

from voice.responder.language.facts import recall
from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import UNSIGNED, parse_number, spell_number
from voice.responder.language.time.dates import DAY, Day, day_in, say_date, say_full_date
from voice.responder.skills.skill import Request, Skill, SkillAnswer

# Days that people count down to: as heard, as answered, month, day.
FEASTS = {
    heard: (said, month, day)
    for heard, said, month, day in [
        ("christmas", "Christmas", 12, 25),
        ("christmas eve", "Christmas Eve", 12, 24),
        ("christmas day", "Christmas Day", 12, 25),
        ("halloween", "Halloween", 10, 31),
        ("new year", "New Year's Day", 1, 1),
        ("new year's", "New Year's Day", 1, 1),
        ("new year's day", "New Year's Day", 1, 1),
        ("new year's eve", "New Year's Eve", 12, 31),
        ("new years eve", "New Year's Eve", 12, 31),
        ("valentine's day", "Valentine's Day", 2, 14),
        ("valentines day", "Valentine's Day", 2, 14),
        ("saint patrick's day", "Saint Patrick's Day", 3, 17),
        ("the fourth of july", "the Fourth of July", 7, 4),
    ]
}


FARTHEST = 36_500
"""The most days ahead that are counted: a hundred years."""


def answer_countdown(request: Request) -> SkillAnswer:
    """Says how many days are left until a feast."""
    said, feast = _feast(request)
    return SkillAnswer(_until(said, feast, request))


def answer_until_day(request: Request) -> SkillAnswer | None:
    """Says how many days are left until a day; None for a day that does not exist."""
    day = request.slot("day", Day).after(request.now.date())
    return None if day is None else SkillAnswer(_until(_name(day, request), day, request))


def answer_until_fact(request: Request) -> SkillAnswer:
    """Says how many days are left until something of the user's whose day is remembered ("my birthday")."""
    thing = request.slot("thing", str)
    today = request.now.date()
    for fact in recall(request.state.facts, thing):
        named = day_in(fact)
        day = named.after(today) if named else None
        if day is not None:
            return SkillAnswer(_until(f"your {thing}", day, request))
    return SkillAnswer(f"You have not told me the date of your {thing}.")


def answer_weekday(request: Request) -> SkillAnswer | None:
    """Says on which weekday a day falls."""
    today = request.now.date()
    day = request.slot("day", Day).after(today)
    if day is None:
        return None
    return SkillAnswer(f"{say_full_date(day)} {'was' if day < today else 'is'} a {day:%A}.")


def answer_feast_day(request: Request) -> SkillAnswer:
    """Says when a feast is."""
    said, feast = _feast(request)
    return SkillAnswer(f"{said[0].upper()}{said[1:]} is on {say_date(feast)}, {feast.year}.")


def answer_date(request: Request) -> SkillAnswer | None:
    """Says the date of a day that was named by its weekday, and others with their weekday."""
    day = request.slot("day", Day).after(request.now.date())
    return None if day is None else SkillAnswer(f"That is {say_date(day)}.")


def answer_in_days(request: Request) -> SkillAnswer | None:
    """Says the date some days or weeks ahead."""
    number, unit = request.slot("count", Fraction), request.slot("span", int)
    days = number * unit
    if days.denominator > 1 or not 0 < days <= FARTHEST:
        return None
    return SkillAnswer(f"That will be {say_date(request.now.date() + timedelta(days=int(days)))}.")


def _feast(request: Request) -> tuple[str, date]:
    said, month, day = FEASTS[request.slot("feast", str)]
    feast = date(request.now.year, month, day)
    return said, feast if feast >= request.now.date() else date(feast.year + 1, month, day)


def _name(day: date, request: Request) -> str:
    """The day in words, with its year unless it is this one."""
    return say_date(day) if day.year == request.now.year else f"{say_date(day)}, {day.year}"


def _until(said: str, day: date, request: Request) -> str:
    days, span = (day - request.now.date()).days, request.get("span", int) or 1
    if days == 0:
        return f"Today is {said}."
    if days < 0:
        return f"{said[0].upper()}{said[1:]} was {-days} day{'' if days == -1 else 's'} ago."
    parts = [(days // 7, "week"), (days % 7, "day")] if span == 7 else [(days, "day")]
    text = " and ".join(f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count)
    return f"There {'is' if text.startswith('1 ') else 'are'} {text} until {said}."


FEAST = SlotKind(
    "feast",
    "(?:" + "|".join(sorted(FEASTS, key=len, reverse=True)) + ") ",
    lambda words: words,
    lambda rng: rng.choice(["christmas", "christmas", "halloween", "new year's eve", "valentine's day"]),
)
SPAN = SlotKind(
    "span",
    "(?:days?|weeks?) ",
    lambda words: 7 if words.startswith("week") else 1,
    lambda rng: rng.choice(["days", "days", "weeks"]),
)
COUNT = SlotKind("count", UNSIGNED, parse_number, lambda rng: spell_number(rng.randint(2, 100)))
OWN = SlotKind("thing", r"(?:\S+ ){1,4}", str, lambda rng: rng.choice(["birthday", "birthday", "flight", "exam"]))
_UNTIL = "(until|till|to|before|are there until|are left until|is it until|are left before|do we have until)"
SKILLS = [
    Skill(
        "countdown",
        [f"how many <span> {_UNTIL} <feast>", "how (long|far) (until|till|is it until|is it to) <feast>"],
        answer_countdown,
        [FEAST, SPAN],
    ),
    Skill("calendar", ["(when|what day|which day) is <feast> [this year]"], answer_feast_day, [FEAST], share=0.6),
    Skill(
        "countdown",
        [f"how many <span> {_UNTIL} <day>", "how long (until|till|is it until|is it to) <day>"],
        answer_until_day,
        [DAY, SPAN],
    ),
    Skill(
        "countdown",
        [f"how many <span> {_UNTIL} my <thing>", "how long (until|till|is it until|is it to) my <thing>"],
        answer_until_fact,
        [OWN, SPAN],
        distinct=False,
        share=0.6,
    ),
    Skill(
        "calendar",
        [
            "(what|which) day [of the week] (is|was|will be) <day>",
            "(what|which) (day|weekday) (does|will) <day> fall on",
            "on (what|which) day is <day>",
        ],
        answer_weekday,
        [DAY],
    ),
    Skill(
        "calendar",
        ["(what is the date|what date is it|what date is) [on] <day>", "when is <day>"],
        answer_date,
        [DAY],
        share=0.6,
    ),
    Skill(
        "calendar",
        [
            "what (date|day) (is it|will it be|is) in <count> <span>",
            "what is the date in <count> <span>",
            "what (date|day) is <count> <span> from (now|today)",
        ],
        answer_in_days,
        [COUNT, SPAN],
        share=0.6,
    ),
]
