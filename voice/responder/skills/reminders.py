"""Reminders at a time of day or after a delay. They end with the call, and answers say so."""

import re
from datetime import datetime, timedelta

from voice.language.english.phrasing import said_back
from voice.responder.language.clock_times import CLOCK, ClockTime, say_time
from voice.responder.language.durations import DURATION, Duration
from voice.responder.language.grammar import SlotKind
from voice.responder.skills.skill import Request, SkillAnswer, Skills, always
from voice.responder.skills.timers import running, without
from voice.responder.state import Timer

AWAITING_TIME = "reminder time"
SOON = timedelta(minutes=10)
"""Reminders due later than this are promised only for the duration of the call."""
_LAST_DAY = re.compile(r" (today|tonight|tomorrow)(?: (morning|afternoon|evening))?$")
TASKS = (
    "call my mother", "take out the trash", "buy milk", "check the oven", "call the doctor", "take my medicine",
    "water the plants", "feed the cat", "pick up the kids", "send the letter", "pay the rent", "walk the dog",
)  # fmt: skip
TASK = SlotKind("task", r"(?:\S+ ){1,12}", str, lambda rng: rng.choice(TASKS))
SKILLS = Skills()


def say_when(due: datetime, now: datetime) -> str:
    """When something is due: "7 o'clock in the morning", "noon tomorrow"."""
    return f"{say_time(due)}{'' if due.date() == now.date() else ' tomorrow'}"


@SKILLS.on(
    "reminder",
    "remind me to <task> in <duration>",
    "remind me to <task> (at|by) <clock>",
    "remind me in <duration> to <task>",
    "remind me [tomorrow|tonight] at <clock> to <task>",
    "set a reminder to <task> in <duration>",
    "set a reminder to <task> (at|for) <clock>",
    "set a reminder (for|at) <clock> to <task>",
    kinds=[TASK, CLOCK, DURATION],
    distinct=False,
    share=2,
)
def remind_to(request: Request) -> SkillAnswer:
    """Sets a reminder to do something."""
    return _set(request, f"to {request.slot('task', str)}")


@SKILLS.on(
    "reminder",
    "(remind me|set a reminder) to <task>",
    kinds=[TASK],
    whole=False,
    may_end=always,
    distinct=False,
)
def ask_time(request: Request) -> SkillAnswer:
    """Asks when to remind."""
    state = request.state.but(awaiting=AWAITING_TIME, task=f"to {request.slot('task', str)}")
    return SkillAnswer("When should I remind you?", state)


@SKILLS.on(
    "reminder",
    "[at|by] <clock>",
    "[in] <duration>",
    "[tomorrow] at <clock>",
    kinds=[CLOCK, DURATION],
    awaited=AWAITING_TIME,
)
def remind_then(request: Request) -> SkillAnswer | None:
    """Sets the reminder whose time was asked for."""
    return None if request.state.task is None else _set(request, request.state.task)


def _set(request: Request, task: str) -> SkillAnswer:
    """Sets a reminder; the day may also precede the time ("tomorrow at five")."""
    clock, duration, day = request.get("clock", ClockTime), request.get("duration", Duration), _LAST_DAY.search(task)
    if clock and day and clock.day is None:
        clock, task = clock.on(1 if day[1] == "tomorrow" else 0), task[: day.start()]
    due = request.now + timedelta(seconds=duration.seconds) if duration else None
    due = clock.after(request.now) if clock else due
    state = request.state.but(task=None)
    if due is None:
        return SkillAnswer("That time has already passed.", state)
    said, seconds = said_back(task), (due - request.now).total_seconds()
    reminder = Timer(state.started + 1, seconds, say_time(due), due, task=said)
    when = f"in {duration.text}" if duration else f"at {say_when(due, request.now)}"
    late = " I can do so only while this call lasts." if due - request.now > SOON else ""
    state = state.but(timers=(*state.timers, reminder), started=reminder.number)
    return SkillAnswer(f"I will remind you {said} {when}.{late}", state, timer=reminder)


@SKILLS.on(
    "reminders",
    "(what|which|how many) reminders (do i have|are there|are set)",
    "what are my reminders",
    "do i have any reminders",
    "(list|read|show) [me] my reminders",
    share=0.6,
)
def list_reminders(request: Request) -> SkillAnswer:
    """Lists the reminders."""
    reminders = running(request.state, request.now, reminders=True)
    said = [f"I will remind you {each.task} at {say_when(each.due, request.now)}." for each in reminders]
    return SkillAnswer(" ".join(said) or "You have no reminders.")


@SKILLS.on(
    "reminder cancel",
    "(cancel|delete|remove|clear) (the|my|that) reminder",
    "(cancel|delete|clear) [all] [my|the] reminders",
    share=0.6,
)
def cancel(request: Request) -> SkillAnswer:
    """Cancels every reminder."""
    gone = running(request.state, request.now, reminders=True)
    if not gone:
        return SkillAnswer("You have no reminders.")
    text = "Reminder cancelled." if len(gone) == 1 else f"All {len(gone)} reminders cancelled."
    return SkillAnswer(text, without(request.state, gone), cancelled=gone)
