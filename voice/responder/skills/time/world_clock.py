"""Tells what time it is in another place, and how far its clock is ahead."""

from datetime import datetime, timedelta

from voice.responder.language.facts import THING
from voice.responder.language.grammar import SlotKind
from voice.responder.language.time.clock_times import say_time
from voice.responder.language.time.dates import say_date
from voice.responder.language.time.durations import say_seconds
from voice.responder.language.time.places import PLACE, WIDE_PLACE, sample_place, say_place, zone_of
from voice.responder.skills.skill import Request, Skill, SkillAnswer


def answer_time(request: Request) -> SkillAnswer:
    """Says, for example, "In Tokyo it is 1:10 in the morning, on Saturday"."""
    place = request.slot("place", str)
    there = request.now.astimezone(zone_of(place))
    other_day = "" if there.date() == request.now.date() else f", on {there:%A}"
    return SkillAnswer(f"In {say_place(place)} it is {say_time(there)}{other_day}.")


def answer_date(request: Request) -> SkillAnswer:
    """Says the date in another place."""
    place = request.slot("place", str)
    return SkillAnswer(f"In {say_place(place)} it is {say_date(request.now.astimezone(zone_of(place)).date())}.")


def answer_difference(request: Request) -> SkillAnswer:
    """Says how far one place's clock is ahead of another's, or of this machine's."""
    place, other = request.slot("place", str), request.get("other", str)
    there = _offset(request.now.astimezone(zone_of(place)))
    here = _offset(request.now.astimezone(zone_of(other)) if other else request.now.astimezone())
    name, than = say_place(place), say_place(other) if other else "the time here"
    ahead = (there - here).total_seconds()
    if not ahead:
        return SkillAnswer(f"There is no time difference: {name} has the same time as {say_place(other or 'here')}.")
    return SkillAnswer(
        f"{name[0].upper()}{name[1:]} is {say_seconds(abs(ahead))} {'ahead of' if ahead > 0 else 'behind'} {than}."
    )


def _offset(now: datetime) -> timedelta:
    return now.utcoffset() or timedelta()


def answer_wide(request: Request) -> SkillAnswer:
    """Asks for a city of a country that has several time zones."""
    name = say_place(request.slot("wide", str))
    return SkillAnswer(f"{name[0].upper()}{name[1:]} has more than one time zone. Please name a city.")


def answer_unknown(request: Request) -> SkillAnswer:
    """Says that a place's time zone is not known."""
    return SkillAnswer(f"I don't know the time zone of {say_place(request.slot('thing', str))}.")


OTHER = SlotKind("other", PLACE.pattern, PLACE.parse, sample_place)
ANYWHERE = SlotKind("thing", THING.pattern, THING.parse, sample_place)
SKILLS = [
    Skill(
        "world clock",
        [
            "what time is it [now|right now] in <place>",
            "what is the [current] time [now] in <place>",
            "what time it is in <place>",
            "[the] [current] time in <place>",
            "(tell|give) me the time in <place>",
            "how late is it in <place>",
        ],
        answer_time,
        [PLACE],
        share=3,
    ),
    Skill("world clock", ["what (day|date) is it in <place>", "what is the date in <place>"], answer_date, [PLACE]),
    Skill(
        "world clock",
        ["what time is it [now] in <wide>", "what is the [current] time in <wide>"],
        answer_wide,
        [WIDE_PLACE],
        share=0.3,
    ),
    Skill(
        "time difference",
        [
            "what is the time difference between <other> and <place>",
            "[what is] the time difference (to|with) <place>",
            "how (many hours|far) ahead is <place>",
            "how many hours is <place> (ahead|behind)",
            "how many hours (ahead of|behind) <other> is <place>",
            "how many hours is <place> (ahead of|behind) <other>",
        ],
        answer_difference,
        [PLACE, OTHER],
    ),
]
UNKNOWN_SKILLS = [
    Skill(
        "world clock",
        ["what time is it [now|right now] in <thing>", "what is the [current] time in <thing>"],
        answer_unknown,
        [ANYWHERE],
        distinct=False,
        share=0,
    ),
]
"""Tried last: places whose time zone is not known."""
