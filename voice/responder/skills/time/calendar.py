"""Says on which weekday a day falls, and how many days are left until then."""

from voice.responder.language.time.dates import DAY, Day, say_date, say_full_date
from voice.responder.skills.skill import Request, Skill, SkillAnswer


def answer_days_left(request: Request) -> SkillAnswer | None:
    """Says how many days are left until a day; None for a day that does not exist."""
    named, today = request.slot("day", Day), request.now.date()
    day = named.after(today)
    if day is None:
        return None
    said = named.name or (say_date(day) if day.year == today.year else f"{say_date(day)}, {day.year}")
    days = (day - today).days
    if days == 0:
        return SkillAnswer(f"Today is {said}.")
    if days < 0:
        return SkillAnswer(f"{said} was {-days} day{'' if days == -1 else 's'} ago.")
    return SkillAnswer(f"There {'is 1 day' if days == 1 else f'are {days} days'} until {said}.")


def answer_weekday(request: Request) -> SkillAnswer | None:
    """Says on which weekday a day falls; None for a day that does not exist."""
    today = request.now.date()
    day = request.slot("day", Day).after(today)
    if day is None:
        return None
    return SkillAnswer(f"{say_full_date(day)} {'was' if day < today else 'is'} a {day:%A}.")


def answer_date(request: Request) -> SkillAnswer | None:
    """Says the date of a day; None for one that does not exist."""
    named = request.slot("day", Day)
    day = named.after(request.now.date())
    if day is None:
        return None
    return SkillAnswer(
        f"{named.name} is on {say_date(day)}, {day.year}." if named.name else f"That is {say_date(day)}."
    )


_UNTIL = "(until|till|to|before|are there until|are left until|is it until|are left before|do we have until)"
SKILLS = [
    Skill(
        "countdown",
        [f"how many days {_UNTIL} <day>", "how (long|far) (until|till|is it until|is it to) <day>"],
        answer_days_left,
        [DAY],
        share=2,
    ),
    Skill(
        "calendar",
        [
            "(what|which) day of the week (is|was|will be) <day>",
            "(what|which) day (was|will be) <day>",
            "(what|which) (day|weekday) (does|will) <day> fall on",
            "on (what|which) day is <day>",
        ],
        answer_weekday,
        [DAY],
    ),
    Skill(
        "calendar",
        [
            "(what is the date|what date is it|what date is) [on] <day>",
            "(when|what day|which day) is <day>",
        ],
        answer_date,
        [DAY],
    ),
]
