"""Alarms and reminders: at a time of day or after a while the user is called. They end with the call, as answers say."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from voice.responder.language.grammar import SlotKind
from voice.responder.language.phrasing import other_side
from voice.responder.language.time.clock_times import CLOCK, ClockTime, say_time
from voice.responder.language.time.durations import DURATION, Duration
from voice.responder.skills.skill import Request, Skill, SkillAnswer, always
from voice.responder.skills.time.timers import cancel_all, running
from voice.responder.state import Kind, Timer

AWAITING_ALARM = "alarm time"
AWAITING_REMINDER = "reminder time"
SOON = timedelta(minutes=10)
"""What is due later than this is promised only while the call lasts."""
_LAST_DAY = re.compile(r" (today|tonight|tomorrow)(?: (morning|afternoon|evening))?$")
TASKS = (
    "call my mother", "take out the trash", "buy milk", "check the oven", "call the doctor", "take my medicine",
    "water the plants", "feed the cat", "pick up the kids", "send the letter", "pay the rent", "walk the dog",
)  # fmt: skip


def say_when(due: datetime, now: datetime) -> str:
    """When something is due: "7 o'clock in the morning", "noon tomorrow"."""
    return f"{say_time(due)}{'' if due.date() == now.date() else ' tomorrow'}"


def set_alarm(request: Request) -> SkillAnswer:
    """Sets an alarm for the next time that it is so late."""
    return _set(request, "alarm")


def wake(request: Request) -> SkillAnswer:
    """Sets an alarm to wake the user, in the morning if nothing else is said."""
    return _set(request, "alarm", early=True)


def remind(joint: str) -> Callable[[Request], SkillAnswer]:
    """An answer function that sets a reminder "to" do something, or "of" a thing."""
    return lambda request: _set(request, "reminder", task=f"{joint} {request.slot('task', str)}")


def remind_then(request: Request) -> SkillAnswer | None:
    """Sets the reminder whose time was asked for."""
    return None if request.state.task is None else _set(request, "reminder", task=request.state.task)


def _set(request: Request, kind: Kind, *, task: str | None = None, early: bool = False) -> SkillAnswer:
    """Sets an alarm or a reminder; a reminder's day may also stand before its time ("tomorrow at five")."""
    clock, duration, day = request.get("clock", ClockTime), request.get("duration", Duration), _LAST_DAY.search(task or "")
    if task and clock and day and clock.day is None:
        clock, task = clock.on(1 if day[1] == "tomorrow" else 0), task[: day.start()]
    due = request.now + timedelta(seconds=duration.seconds) if duration else None
    due = clock.after(request.now, early=early) if clock else due
    state = request.state.but(task=None)
    if due is None:
        return SkillAnswer("That time has already passed.", state)
    told = other_side(task) if task else None
    timer = Timer(state.started + 1, (due - request.now).total_seconds(), say_time(due), due, kind=kind, task=told)
    state = state.but(timers=(*state.timers, timer), started=timer.number)
    late = due - request.now > SOON
    if kind == "alarm":
        text = f"Alarm set for {say_when(due, request.now)}.{' It rings only while this call lasts.' if late else ''}"
    else:
        when = f"in {duration.text}" if duration else f"at {say_when(due, request.now)}"
        text = f"I will remind you {told} {when}.{' I can do so only while this call lasts.' if late else ''}"
    return SkillAnswer(text, state, timer=timer)


def ask_alarm_time(request: Request) -> SkillAnswer:
    """Asks for the time of an alarm when it was not heard."""
    return SkillAnswer("For what time should I set the alarm?", request.state.but(awaiting=AWAITING_ALARM))


def ask_reminder_time(request: Request) -> SkillAnswer:
    """Asks when to remind."""
    state = request.state.but(awaiting=AWAITING_REMINDER, task=f"to {request.slot('task', str)}")
    return SkillAnswer("When should I remind you?", state)


def answer_alarms(request: Request) -> SkillAnswer:
    """Says which alarms are set."""
    alarms = running(request.state, request.now, "alarm")
    if not alarms:
        return SkillAnswer("No alarm is set.")
    times = " and ".join(say_when(alarm.due, request.now) for alarm in alarms)
    return SkillAnswer(f"You have {len(alarms)} alarm{'' if len(alarms) == 1 else 's'}, for {times}.")


def answer_reminders(request: Request) -> SkillAnswer:
    """Says what the user will be reminded of."""
    reminders = running(request.state, request.now, "reminder")
    if not reminders:
        return SkillAnswer("You have no reminders.")
    return SkillAnswer(
        " ".join(f"I will remind you {each.task} at {say_when(each.due, request.now)}." for each in reminders)
    )


def cancelling(kind: Kind) -> Skill:
    """The skill that cancels every alarm, or every reminder."""
    templates = [
        f"(cancel|stop|delete|turn off|remove|clear) (the|my|that|all) {kind}",
        f"(cancel|delete|turn off|clear) [all] [my|the] {kind}s",
    ]
    return Skill(f"{kind} cancel", templates, cancel_all(kind), share=0.6)


TASK = SlotKind("task", r"(?:\S+ ){1,12}", str, lambda rng: rng.choice(TASKS))
THING = SlotKind("task_thing", r"(?:\S+ ){1,6}", str, lambda rng: rng.choice(["the meeting", "my flight", "the cake"]))
SKILLS = [
    Skill(
        "alarm",
        [
            "(set|make|create|give me) (an|another) alarm (for|at) <clock>",
            "set the alarm (for|to) <clock>",
            "[an] alarm (for|at) <clock>",
            "set an alarm (for|in) <duration> [from now]",
        ],
        set_alarm,
        [CLOCK, DURATION],
        share=1.5,
    ),
    Skill("alarm", ["wake me [up] [tomorrow] at <clock>"], wake, [CLOCK]),
    Skill("alarm", ["(set|start|make) (an|the|my) alarm [for]", "wake me up"], ask_alarm_time, whole=False, share=0.5),
    Skill("alarm", ["[for|at|set it for] <clock>"], set_alarm, [CLOCK], awaited=AWAITING_ALARM),
    Skill(
        "alarms",
        [
            "(what|which|how many) alarms (do i have|are set|are there)",
            "do i have (an alarm|any alarms) [set]",
            "is (my|the|an) alarm [still] set",
            "when (does|will) (my|the) alarm (ring|go off)",
        ],
        answer_alarms,
        share=0.6,
    ),
    Skill(
        "reminder",
        [
            "(remind me|set a reminder) to <task> in <duration>",
            "(remind me|set a reminder) to <task> (at|by|for) <clock>",
            "remind me in <duration> to <task>",
            "remind me [tomorrow|tonight] at <clock> to <task>",
            "set a reminder (for|at) <clock> to <task>",
        ],
        remind("to"),
        [TASK, CLOCK, DURATION],
        distinct=False,
        share=2,
    ),
    Skill(
        "reminder",
        ["remind me (of|about) <task:task_thing> (at|by) <clock>", "remind me (of|about) <task:task_thing> in <duration>"],
        remind("of"),
        [THING, CLOCK, DURATION],
        distinct=False,
        share=0.6,
    ),
    Skill(
        "reminder",
        ["(remind me|set a reminder) to <task>"],
        ask_reminder_time,
        [TASK],
        whole=False,
        may_end=always,
        distinct=False,
    ),
    Skill(
        "reminder",
        ["[at|by] <clock>", "[in] <duration>", "[tomorrow] at <clock>"],
        remind_then,
        [CLOCK, DURATION],
        awaited=AWAITING_REMINDER,
    ),
    Skill(
        "reminders",
        [
            "(what|which|how many) reminders (do i have|are there|are set)",
            "what are my reminders",
            "do i have any reminders",
            "(list|read|show) [me] my reminders",
        ],
        answer_reminders,
        share=0.6,
    ),
    cancelling("alarm"),
    cancelling("reminder"),
]
