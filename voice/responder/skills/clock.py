"""Tells time and date, here and elsewhere, from the time of the request."""

from collections.abc import Callable
from datetime import date, timedelta

from voice.responder.language.time.clock_times import say_time
from voice.responder.language.time.durations import DURATION, Duration
from voice.responder.language.time.places import PLACE, say_place, zone_of
from voice.responder.skills.memory import THING
from voice.responder.skills.skill import Request, Skill, SkillAnswer


def answer_time(request: Request) -> SkillAnswer:
    """Says, for example, "It is 4:10 in the afternoon"."""
    return SkillAnswer(f"It is {say_time(request.now)}.")


def answer_later(request: Request) -> SkillAnswer:
    """Says what time it will be after a duration."""
    duration = request.slot("duration", Duration)
    return SkillAnswer(f"In {duration.text} it will be {say_time(request.now + timedelta(seconds=duration.seconds))}.")


def answer_elsewhere(request: Request) -> SkillAnswer:
    """Says, for example, "In Tokyo it is 1:10 in the morning, on Saturday"."""
    place = request.slot("place", str)
    there = request.now.astimezone(zone_of(place))
    other_day = "" if there.date() == request.now.date() else f", on {there:%A}"
    return SkillAnswer(f"In {say_place(place)} it is {say_time(there)}{other_day}.")


def answer_unknown_place(request: Request) -> SkillAnswer:
    """Says that a place's time zone is not known."""
    return SkillAnswer(f"I don't know the time zone of {say_place(request.slot('thing', str))}.")


def say_date(day: date) -> str:
    """The date in words: "Friday, November 20"."""
    return f"{day:%A}, {day:%B} {day.day}"


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


_ELSEWHERE = "(what time is it [now|right now]|what is the [current] time|what time it is|[the] [current] time) in"
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
    Skill("world clock", [f"{_ELSEWHERE} <place>"], answer_elsewhere, [PLACE], share=3),
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
        ["what day (is it|is|will it be) tomorrow", "what is the date tomorrow", "what is (tomorrow|tomorrow's date)"],
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
]
UNKNOWN_SKILLS = [
    Skill("world clock", [f"{_ELSEWHERE} <thing>"], answer_unknown_place, [THING], distinct=False, share=0),
]
"""Tried last: places whose time zone is not known."""
