"""Starts, reports and cancels timers. Here a timer is a value with a due time; the service waits for it."""

from datetime import datetime, timedelta

from voice.responder.language.durations import DURATION, Duration, attributive, say_seconds
from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import NUMBER
from voice.responder.skills.skill import Request, SkillAnswer, Skills
from voice.responder.state import State, Timer

NAMES = (
    "pasta", "egg", "tea", "pizza", "laundry", "rice", "coffee", "oven", "cake", "bread", "workout", "meeting", "nap",
)  # fmt: skip
NAME = SlotKind("name", f"(?:{'|'.join(NAMES)}) ", str, lambda rng: rng.choice(NAMES))
AWAITING_LENGTH = "timer length"
AWAITING_CHOICE = "timer choice"
NONE_RUNNING = "There is no timer running."
SKILLS = Skills()


def title(timer: Timer) -> str:
    """The timer's distinctive name: "pasta", "10 second"."""
    return timer.name or attributive(timer.length)


def announcement(timer: Timer) -> str:
    """The announcement when the timer runs out."""
    return f"You asked me to remind you {timer.task}." if timer.task else f"Your {title(timer)} timer is done."


def running(state: State, now: datetime, *, reminders: bool = False) -> tuple[Timer, ...]:
    """The timers, or the reminders, that still run at `now`; the next one to end comes first."""
    still = (timer for timer in state.timers if timer.due > now and (timer.task is not None) == reminders)
    return tuple(sorted(still, key=lambda timer: timer.due))


def without(state: State, gone: tuple[Timer, ...]) -> State:
    """The state with these timers removed."""
    return state.but(timers=tuple(timer for timer in state.timers if timer not in gone))


@SKILLS.on("timer", "[set it|make it] [for] <duration>", kinds=[DURATION], awaited=AWAITING_LENGTH)
@SKILLS.on(
    "timer",
    "(set|start) [a] timer for <duration>",
    "(set|start|make|create|put on|give me) [a|another|the] timer (for|of|to) <duration> [from now]",
    "(set|start|make|create|give me) [a] <duration> timer",
    "[a] timer for <duration>",
    "<duration> timer",
    "(set|start) a <name> timer (for|of) <duration>",
    "(wake me up|remind me|alert me) in <duration>",
    kinds=[DURATION, NAME],
    share=9,
)
def set_timer(request: Request) -> SkillAnswer:
    """Starts a timer."""
    duration, name, state = request.slot("duration", Duration), request.get("name", str), request.state
    due = request.now + timedelta(seconds=duration.seconds)
    timer = Timer(state.started + 1, duration.seconds, duration.text, due, name)
    state = state.but(timers=(*state.timers, timer), started=timer.number)
    kind = f"{name.capitalize()} timer" if name else "Timer"
    return SkillAnswer(f"{kind} set for {duration.text}.", state, timer=timer)


@SKILLS.on(
    "timer",
    "(set|start) [a|another|the] timer [for]",
    "(set|start) a timer for <number>",
    "[i need] (a|another) timer",
    kinds=[NUMBER],
    whole=False,
    share=0.5,
)
def ask_length(request: Request) -> SkillAnswer:
    """Asks for the length of a timer when it was not heard."""
    return SkillAnswer("For how long should I set the timer?", request.state.but(awaiting=AWAITING_LENGTH))


@SKILLS.on(
    "timer left",
    "how (long|much time|much) is (left|remaining) [on (the|my) timer]",
    "how (long|much time) (has|does) (the|my) timer (left|have left|have)",
    "how (long|much time) (is there|do i have) left [on the timer]",
    "how (long|much time) (until|before) (the|my) timer (ends|is done|goes off|rings)",
    "when does (the|my) timer (end|go off)",
    "(check|how is|what is left on) (the|my) timer",
    "(time|how many (seconds|minutes) are) left [on the timer]",
    share=3,
)
def say_time_left(request: Request) -> SkillAnswer:
    """Says how much time is left on each timer."""
    timers = running(request.state, request.now)
    left = [(title(timer), say_seconds((timer.due - request.now).total_seconds())) for timer in timers]
    if len(left) == 1:
        text = left[0][1]
        return SkillAnswer(f"There {'is' if text.startswith(('1 ', 'less')) else 'are'} {text} left on the timer.")
    return SkillAnswer(" ".join(f"Your {name} timer has {text} left." for name, text in left) or NONE_RUNNING)


@SKILLS.on(
    "timer count",
    "(what|which|how many) timers (do i have|are running|are set|are there)",
    "(list|show|read|what are) (the|my) timers",
    "is (there a|the) timer [still] (running|set)",
)
def list_timers(request: Request) -> SkillAnswer:
    """Says which timers are running."""
    timers = running(request.state, request.now)
    if len(timers) > 1:
        return SkillAnswer(f"You have {len(timers)} timers: {', '.join(map(title, timers))}.")
    return SkillAnswer(f"You have 1 timer, for {timers[0].length}." if timers else NONE_RUNNING)


@SKILLS.on(
    "timer cancel",
    "[cancel|stop] [the] (<name>|<duration>) [timer|one]",
    kinds=[DURATION, NAME],
    awaited=AWAITING_CHOICE,
)
@SKILLS.on(
    "timer cancel",
    "(cancel|stop|delete|remove|turn off|end|clear) (the|my|that|this) timer",
    "(cancel|stop|delete|turn off) timer",
    "(cancel|stop|delete) (the|my) (<name>|<duration>) timer",
    "turn (the|my) timer off",
    kinds=[DURATION, NAME],
    share=3,
)
def cancel(request: Request) -> SkillAnswer:
    """Cancels the timer that the user names, or the only one; asks which one if there are several."""
    timers = running(request.state, request.now)
    duration, name = request.get("duration", Duration), request.get("name", str)
    if not timers:
        return SkillAnswer(NONE_RUNNING)
    if duration or name:
        wanted = attributive(duration.text) if duration else name
        fits = (one for one in timers if (one.seconds == duration.seconds if duration else one.name == name))
        timers = tuple(fits)[:1]
        if not timers:
            return SkillAnswer(f"There is no {wanted} timer running.")
    if len(timers) > 1:
        state = request.state.but(awaiting=AWAITING_CHOICE)
        names = ", ".join(map(title, timers))
        return SkillAnswer(f"You have {len(timers)} timers: {names}. Which one should I cancel?", state)
    return SkillAnswer("Timer cancelled.", without(request.state, timers), cancelled=timers)


@SKILLS.on("timer cancel", "cancel [it|that]")
def cancel_newest(request: Request) -> SkillAnswer | None:
    """Cancels the newest timer or reminder; None if none runs: "cancel that" then means something else."""
    waiting = [timer for timer in request.state.timers if timer.due > request.now]
    if not waiting:
        return None
    newest = max(waiting, key=lambda timer: timer.number)
    if newest.task:
        text = "Reminder cancelled."
    else:
        only = len(running(request.state, request.now)) == 1
        text = "Timer cancelled." if only else f"Your {title(newest)} timer is cancelled."
    return SkillAnswer(text, without(request.state, (newest,)), cancelled=(newest,))


@SKILLS.on("timer cancel", "[cancel] (all|both|everything) [of them]", awaited=AWAITING_CHOICE)
@SKILLS.on(
    "timer cancel",
    "(cancel|stop|delete|clear|remove) (all|every) [of] [the|my] (timers|timer)",
    "(cancel|stop|delete|clear) (the|my|both) timers",
)
def cancel_all(request: Request) -> SkillAnswer:
    """Cancels every timer."""
    timers = running(request.state, request.now)
    if not timers:
        return SkillAnswer(NONE_RUNNING)
    text = "Timer cancelled." if len(timers) == 1 else f"All {len(timers)} timers cancelled."
    return SkillAnswer(text, without(request.state, timers), cancelled=timers)
