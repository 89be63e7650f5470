"""Alarms at a time of day. Like timers they end with the call, which their answers say."""

from datetime import datetime, timedelta

from voice.responder.language.time.clock_times import CLOCK, ClockTime, say_time
from voice.responder.language.time.durations import DURATION, Duration
from voice.responder.skills.skill import Request, Skill, SkillAnswer
from voice.responder.skills.time.timers import running, without
from voice.responder.state import Timer

AWAITING_TIME = "alarm time"
SOON = timedelta(minutes=10)
"""What is due later than this is promised only while the call lasts."""
PASSED = "That time has already passed."


def say_when(due: datetime, now: datetime) -> str:
    """When something is due: "7 o'clock in the morning", "noon tomorrow"."""
    return f"{say_time(due)}{'' if due.date() == now.date() else ' tomorrow'}"


def condition(due: datetime, now: datetime, what: str) -> str:
    """The sentence that a call must last until then; empty for what is due soon."""
    return "" if due - now <= SOON else f" {what} only while this call lasts."


def answer_set(request: Request) -> SkillAnswer:
    """Sets an alarm for the next time that it is so late."""
    return _set(request, early=False)


def answer_wake(request: Request) -> SkillAnswer:
    """Sets an alarm to wake the user, in the morning if nothing else is said."""
    return _set(request, early=True)


def _set(request: Request, *, early: bool) -> SkillAnswer:
    clock, duration = request.get("clock", ClockTime), request.get("duration", Duration)
    due = request.now + timedelta(seconds=duration.seconds) if duration else None
    due = clock.after(request.now, early=early) if clock else due
    if due is None:
        return SkillAnswer(PASSED)
    state, seconds = request.state, (due - request.now).total_seconds()
    alarm = Timer(state.started + 1, seconds, say_time(due), due, kind="alarm")
    state = state.but(timers=(*state.timers, alarm), started=alarm.number)
    text = f"Alarm set for {say_when(due, request.now)}.{condition(due, request.now, 'It rings')}"
    return SkillAnswer(text, state, timer=alarm)


def ask_time(request: Request) -> SkillAnswer:
    """Asks for the time of an alarm when it was not heard."""
    return SkillAnswer("For what time should I set the alarm?", request.state.but(awaiting=AWAITING_TIME))


def answer_alarms(request: Request) -> SkillAnswer:
    """Says which alarms are set."""
    alarms = running(request.state, request.now, "alarm")
    if not alarms:
        return SkillAnswer("No alarm is set.")
    times = " and ".join(say_when(alarm.due, request.now) for alarm in alarms)
    return SkillAnswer(f"You have {len(alarms)} alarm{'' if len(alarms) == 1 else 's'}, for {times}.")


def answer_cancel(request: Request) -> SkillAnswer:
    """Cancels every alarm."""
    alarms = running(request.state, request.now, "alarm")
    if not alarms:
        return SkillAnswer("No alarm is set.")
    text = "Alarm cancelled." if len(alarms) == 1 else f"{len(alarms)} alarms cancelled."
    return SkillAnswer(text, without(request.state, alarms), cancelled=alarms)


SKILLS = [
    Skill(
        "alarm",
        [
            "(set|make|create|give me) (an|another) alarm (for|at) <clock>",
            "set the alarm (for|to) <clock>",
            "[an] alarm (for|at) <clock>",
            "set an alarm (for|in) <duration> [from now]",
        ],
        answer_set,
        [CLOCK, DURATION],
        share=1.5,
    ),
    Skill("alarm", ["wake me [up] at <clock>", "wake me [up] tomorrow at <clock>"], answer_wake, [CLOCK]),
    Skill("alarm", ["(set|start|make) (an|the|my) alarm [for]", "wake me up"], ask_time, whole=False, share=0.5),
    Skill("alarm", ["[for|at|set it for] <clock>"], answer_set, [CLOCK], awaited=AWAITING_TIME),
    Skill(
        "alarms",
        [
            "(what|which|how many) alarms (do i have|are set|are there)",
            "do i have (an alarm|any alarms) [set]",
            "is (my|the|an) alarm [still] set",
            "when (does|will) (my|the) alarm (ring|go off)",
            "what time is my alarm [set for]",
        ],
        answer_alarms,
        share=0.6,
    ),
    Skill(
        "alarm cancel",
        [
            "(cancel|stop|delete|turn off|remove|clear) (the|my|that|all) alarm",
            "(cancel|delete|turn off|clear) [all] [my|the] alarms",
            "turn (the|my) alarm off",
        ],
        answer_cancel,
        share=0.6,
    ),
]
