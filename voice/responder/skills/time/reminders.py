"""Reminders: at a time of day or after a while, the user is told what to do. They end with the call."""

import random
import re
from datetime import timedelta

from voice.responder.language.grammar import SlotKind
from voice.responder.language.phrasing import other_side
from voice.responder.language.time.clock_times import CLOCK, ClockTime, say_time
from voice.responder.language.time.durations import DURATION, Duration
from voice.responder.skills.skill import Request, Skill, SkillAnswer, always
from voice.responder.skills.time.alarms import PASSED, condition, say_when
from voice.responder.skills.time.timers import running, without
from voice.responder.state import Timer

AWAITING_TIME = "reminder time"
_LAST_DAY = re.compile(r" (today|tonight|tomorrow)(?: (morning|afternoon|evening))?$")
TASKS = (
    "call my mother", "take out the trash", "buy milk", "check the oven", "call the doctor", "take my medicine",
    "water the plants", "feed the cat", "pick up the kids", "drink some water", "send the letter", "pay the rent",
    "go to bed", "walk the dog", "turn off the stove", "book a flight", "call anna", "leave for the airport",
)  # fmt: skip


def answer_set(request: Request) -> SkillAnswer:
    """Sets a reminder; the day may also stand before the time ("tomorrow at five")."""
    task = request.slot("task", str)
    return _set(request, f"to {task}")


def answer_about(request: Request) -> SkillAnswer:
    """Sets a reminder of a thing."""
    return _set(request, f"of {request.slot('task', str)}")


def answer_time(request: Request) -> SkillAnswer | None:
    """Sets the reminder whose time was asked for."""
    return None if request.state.task is None else _set(request, request.state.task)


def _set(request: Request, task: str) -> SkillAnswer:
    clock, duration, day = request.get("clock", ClockTime), request.get("duration", Duration), _LAST_DAY.search(task)
    if clock and day and clock.day is None:
        clock, task = clock.on(1 if day[1] == "tomorrow" else 0), task[: day.start()]
    due = request.now + timedelta(seconds=duration.seconds) if duration else None
    due = clock.after(request.now) if clock else due
    if due is None:
        return SkillAnswer(PASSED, request.state.but(task=None))
    said, seconds = other_side(task), (due - request.now).total_seconds()
    state = request.state
    reminder = Timer(state.started + 1, seconds, say_time(due), due, kind="reminder", task=said)
    when = f"in {duration.text}" if duration else f"at {say_when(due, request.now)}"
    text = f"I will remind you {said} {when}.{condition(due, request.now, 'I can do so')}"
    state = state.but(timers=(*state.timers, reminder), started=reminder.number, task=None)
    return SkillAnswer(text, state, timer=reminder)


def ask_time(request: Request) -> SkillAnswer:
    """Asks when to remind."""
    state = request.state.but(awaiting=AWAITING_TIME, task=f"to {request.slot('task', str)}")
    return SkillAnswer("When should I remind you?", state)


def answer_reminders(request: Request) -> SkillAnswer:
    """Says what the user will be reminded of."""
    reminders = running(request.state, request.now, "reminder")
    if not reminders:
        return SkillAnswer("You have no reminders.")
    return SkillAnswer(
        " ".join(f"I will remind you {each.task} at {say_when(each.due, request.now)}." for each in reminders)
    )


def answer_cancel(request: Request) -> SkillAnswer:
    """Cancels every reminder."""
    reminders = running(request.state, request.now, "reminder")
    if not reminders:
        return SkillAnswer("You have no reminders.")
    text = "Reminder cancelled." if len(reminders) == 1 else f"{len(reminders)} reminders cancelled."
    return SkillAnswer(text, without(request.state, reminders), cancelled=reminders)


def sample_task(rng: random.Random) -> str:
    """Something people want to be reminded of."""
    return rng.choice(TASKS)


TASK = SlotKind("task", r"(?:\S+ ){1,12}", str, sample_task)
THING = SlotKind("task_thing", r"(?:\S+ ){1,6}", str, lambda rng: rng.choice(["the meeting", "my flight", "the cake"]))
SKILLS = [
    Skill(
        "reminder",
        [
            "remind me to <task> in <duration>",
            "remind me to <task> (at|by) <clock>",
            "remind me in <duration> to <task>",
            "remind me at <clock> to <task>",
            "remind me (tomorrow|tonight) at <clock> to <task>",
            "set a reminder to <task> (at|for) <clock>",
            "set a reminder (for|at) <clock> to <task>",
            "set a reminder to <task> in <duration>",
        ],
        answer_set,
        [TASK, CLOCK, DURATION],
        distinct=False,
        share=2,
    ),
    Skill(
        "reminder",
        [
            "remind me (of|about) <task:task_thing> (at|by) <clock>",
            "remind me (of|about) <task:task_thing> in <duration>",
        ],
        answer_about,
        [THING, CLOCK, DURATION],
        distinct=False,
        share=0.6,
    ),
    Skill(
        "reminder",
        ["remind me to <task>", "set a reminder to <task>"],
        ask_time,
        [TASK],
        whole=False,
        may_end=always,
        distinct=False,
    ),
    Skill(
        "reminder",
        ["[at|by] <clock>", "[in] <duration>", "[tomorrow] at <clock>"],
        answer_time,
        [CLOCK, DURATION],
        awaited=AWAITING_TIME,
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
    Skill(
        "reminder cancel",
        ["(cancel|delete|remove|clear) (the|my|that) reminder", "(cancel|delete|clear) [all] [my|the] reminders"],
        answer_cancel,
        share=0.6,
    ),
]
