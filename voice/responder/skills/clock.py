"""Tells time and date, from the time of the request."""

from collections.abc import Callable
from datetime import date, datetime, timedelta

from voice.responder.language.durations import DURATION, Duration
from voice.responder.language.grammar import SlotKind
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


def say_time(now: datetime) -> str:
    """The time in words: "4:10 in the afternoon", "9 o'clock in the morning", "noon"."""
    if now.minute == 0 and now.hour % 12 == 0:
        return "midnight" if now.hour == 0 else "noon"
    minutes = f"{now.hour % 12 or 12}:{now.minute:02}" if now.minute else f"{now.hour % 12 or 12} o'clock"
    parts = ((12, "in the morning"), (18, "in the afternoon"), (21, "in the evening"), (24, "at night"))
    return f"{minutes} {next(part for end, part in parts if now.hour < end)}"


def say_date(day: date) -> str:
    """The date in words: "Friday, November 20"."""
    return f"{day:%A}, {day:%B} {day.day}"


def answer_time(request: Request) -> SkillAnswer:
    """Says, for example, "It is 4:10 in the afternoon"."""
    return SkillAnswer(f"It is {say_time(request.now)}.")


def answer_later(request: Request) -> SkillAnswer:
    """Says what time it will be after a duration."""
    duration = request.slot("duration", Duration)
    return SkillAnswer(f"In {duration.text} it will be {say_time(request.now + timedelta(seconds=duration.seconds))}.")


def answer_day(name: str, offset: int) -> Callable[[Request], SkillAnswer]:
    """An answer function for the date `offset` days from today, which answers call `name`."""
    verb = "was" if offset < 0 else "is"
    return lambda request: SkillAnswer(f"{name} {verb} {say_date(request.now.date() + timedelta(days=offset))}.")


def answer_year(request: Request) -> SkillAnswer:
    """Says, for example, "It is 2026"."""
    return SkillAnswer(f"It is {request.now.year}.")


def answer_month(request: Request) -> SkillAnswer:
    """Says, for example, "It is November"."""
    return SkillAnswer(f"It is {request.now:%B}.")


def answer_countdown(request: Request) -> SkillAnswer:
    """Says how many days are left until a feast."""
    said, month, day = FEASTS[request.slot("feast", str)]
    today = request.now.date()
    feast = date(today.year, month, day)
    if feast < today:
        feast = date(today.year + 1, month, day)
    days = (feast - today).days
    if days == 0:
        return SkillAnswer(f"Today is {said}.")
    return SkillAnswer(f"There {'is 1 day' if days == 1 else f'are {days} days'} until {said}.")


FEAST = SlotKind(
    "feast",
    "(?:" + "|".join(sorted(FEASTS, key=len, reverse=True)) + ") ",
    lambda words: words,
    lambda rng: rng.choice(["christmas", "christmas", "halloween", "new year's eve", "valentine's day"]),
)
SKILLS = [
    Skill(
        "time",
        [
            "what time is it [now|right now|at the moment|here]",
            "what is the [current] time [now|right now]",
            "what time it is [now]",
            "what the time is [now]",
            "(give|tell) me the time",
            "the [current] time",
            "what time (do you have|have you got)",
            "[do|have] you (have|got) the time",
            "check the time",
            "time",
        ],
        answer_time,
        share=5,
    ),
    Skill("time", ["what time (will it be|is it) in <duration>"], answer_later, [DURATION]),
    Skill(
        "date",
        [
            "(what|which) day is it [today|now]",
            "what is the date [today]",
            "what is today's date",
            "what is today",
            "what day is today",
            "what date is it [today]",
            "what is the day [today]",
            "what day of the (week|month) is it [today]",
            "what day it is [today]",
            "what the date is [today]",
            "(give|tell) me the date",
            "(today's|the) date",
        ],
        answer_day("Today", 0),
        share=3,
    ),
    Skill(
        "date",
        [
            "what day (is it|is|will it be) tomorrow",
            "what is the date tomorrow",
            "what is tomorrow's date",
            "what is tomorrow",
        ],
        answer_day("Tomorrow", 1),
    ),
    Skill(
        "date",
        ["what day (was it|was|is) yesterday", "what was the date yesterday", "what was yesterday's date"],
        answer_day("Yesterday", -1),
        share=0.7,
    ),
    Skill(
        "year",
        ["(what|which) year is it [now]", "what is the [current] year", "what year are we in", "what year it is"],
        answer_year,
    ),
    Skill(
        "month",
        ["(what|which) month is it [now]", "what is the [current] month", "what month are we in", "what month it is"],
        answer_month,
    ),
    Skill(
        "countdown",
        [
            "how many days (until|till|to|before|are there until|are left until|is it until) <feast>",
            "how long (until|till|is it until) <feast>",
            "when is <feast>",
        ],
        answer_countdown,
        [FEAST],
    ),
]
