"""Tells time and date, from the time of the request."""

from datetime import date, timedelta

from voice.responder.language.clock_times import say_time
from voice.responder.language.durations import DURATION, Duration
from voice.responder.skills.skill import Request, SkillAnswer, Skills

SKILLS = Skills()


@SKILLS.on(
    "time",
    "what time is it [now|right now|at the moment|here]",
    "what is the [current] time [now|right now]",
    "what (time it|the time) is [now]",
    "[give me|tell me|check] the [current] time",
    "what time (do you have|have you got)",
    "[do|have] you (have|got) the time",
    "time",
    share=5,
)
def tell_time(request: Request) -> SkillAnswer:
    """Says, for example, "It is 4:10 in the afternoon"."""
    return SkillAnswer(f"It is {say_time(request.now)}.")


@SKILLS.on("time", "what time (will it be|is it) in <duration>", kinds=[DURATION])
def tell_later_time(request: Request) -> SkillAnswer:
    """Says what time it will be after a duration."""
    duration = request.slot("duration", Duration)
    return SkillAnswer(f"In {duration.text} it will be {say_time(request.now + timedelta(seconds=duration.seconds))}.")


def say_date(day: date) -> str:
    """The date in words: "Friday, November 20"."""
    return f"{day:%A}, {day:%B} {day.day}"


@SKILLS.on(
    "date",
    "(what|which) (day|date) is it [today|now]",
    "what is the (date|day) [today]",
    "what is (today|today's date)",
    "what day of the (week|month) is it [today]",
    "what (day it|the date|day) is [today]",
    "[give me|tell me] (the|today's) date",
    share=3,
)
def tell_date(request: Request) -> SkillAnswer:
    """Says, for example, "Today is Friday, November 20"."""
    return SkillAnswer(f"Today is {say_date(request.now.date())}.")


@SKILLS.on("date", "what (day (is it|is|will it be)|is the date) tomorrow", "what is (tomorrow|tomorrow's date)")
def tell_tomorrow(request: Request) -> SkillAnswer:
    """Says, for example, "Tomorrow is Saturday, November 21"."""
    return SkillAnswer(f"Tomorrow is {say_date(request.now.date() + timedelta(days=1))}.")


@SKILLS.on("date", "what (day (was it|was|is)|was the date) yesterday", "what was yesterday's date", share=0.7)
def tell_yesterday(request: Request) -> SkillAnswer:
    """Says, for example, "Yesterday was Thursday, November 19"."""
    return SkillAnswer(f"Yesterday was {say_date(request.now.date() - timedelta(days=1))}.")
