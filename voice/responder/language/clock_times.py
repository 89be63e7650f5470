"""Reads and says times of day: "seven", "half past six", "quarter to nine tomorrow morning", "5 30 p m"."""

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from voice.language.english.number_words import numbers_and
from voice.language.english.numbers import cardinal
from voice.responder.language.grammar import SlotKind

Half = Literal["am", "pm"]
_HALVES: dict[str, Half | Literal["night"]] = {
    "in the morning": "am",
    "this morning": "am",
    "morning": "am",
    "a m": "am",
    "am": "am",
    "in the afternoon": "pm",
    "this afternoon": "pm",
    "afternoon": "pm",
    "in the evening": "pm",
    "this evening": "pm",
    "evening": "pm",
    "p m": "pm",
    "pm": "pm",
    "at night": "night",
    "night": "night",
    "tonight": "night",
}
_DAYS = {"today": 0, "tonight": 0, "this": 0, "tomorrow": 1}
_HALF = re.compile(rf"(?<!\S)(?:{'|'.join(sorted(_HALVES, key=len, reverse=True))})(?!\S)")
_DAY = re.compile(r"(?<!\S)(today|tonight|tomorrow|this)(?!\S)")
_NUMBERS = {said: number for number in range(60) for said in (cardinal(number), str(number), f"{number:02}")}
_MINUTES = {said: minute for said, minute in _NUMBERS.items() if minute > 9 or said[0] == "0"} | {
    f"{zero} {cardinal(minute)}": minute for minute in range(10) for zero in ("oh", "zero")
}
"""The minutes after an hour: "thirty", "oh five", "05"; not "five" alone."""
_SHARES = {"half": 30, "quarter": 15}


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(words, key=len, reverse=True))})"


_RELATIVE = re.compile(
    rf"(?:a )?(?P<minutes>{_any([*_SHARES, *_NUMBERS])})(?: minutes)? (?:past|after|(?P<to>to|till|before)) "
    rf"(?P<hour>{_any(_NUMBERS)})"
)
_PLAIN = re.compile(rf"(?P<hour>{_any(_NUMBERS)})(?: (?P<minute>{_any(_MINUTES)})|(?P<exactly> o'clock))?")
PATTERN = numbers_and(
    ["past", "after", "to", "till", "before", *_DAYS, *" ".join(_HALVES).split(), *_SHARES]
    + ["o'clock", "a", "noon", "midnight", "minutes"]
)


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day as spoken.

    Parameters:
        hour: 0 to 23; 1 to 12 where `half` is None.
        minute: 0 to 59.
        half: None if it was not said which half of the day is meant.
        day: 0 for today, 1 for tomorrow, None if it was not said.
    """

    hour: int
    minute: int
    half: Half | None
    day: int | None = None

    def on(self, day: int) -> "ClockTime":
        """The same time today (0) or tomorrow (1)."""
        return replace(self, day=day)

    def after(self, now: datetime) -> datetime | None:
        """The next occurrence after `now` (local time); None if it was meant for today and has passed.

        Without a half of the day, the next occurrence is meant; for tomorrow, the one during waking hours.
        """
        hours = [self.hour]
        if self.half is None:
            hours = [self.hour % 12, self.hour % 12 + 12]
            if self.day == 1:
                hours = hours[:1] if self.hour in range(6, 12) else hours[1:]
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        days = (0, 1) if self.day is None else (self.day,)
        times = (midnight + timedelta(days=day, hours=hour, minutes=self.minute) for day in days for hour in hours)
        return next((time for time in times if time > now), None)


def parse_clock(words: str) -> ClockTime | None:
    """The time of day that `words` name; None for anything else."""
    days = _DAY.findall(words)
    halves = [_HALVES[found] for found in _HALF.findall(words)]
    if len(days) > 1 or len(halves) > 1:
        return None
    bare = " ".join(word for word in _DAY.sub("", _HALF.sub("", words)).split() if word != "at")
    time = _hour_and_minute(bare)
    if time is None:
        return None
    hour, minute = time
    day = _DAYS[days[0]] if days else None
    if bare in ("noon", "midnight"):
        # Midnight tonight is the end of the day.
        return None if halves[:1] == ["am"] else ClockTime(hour, minute, "pm" if hour else "am", 1 if not hour else day)
    if not 1 <= hour <= 12:
        return ClockTime(hour, minute, "pm" if hour >= 12 else "am", day)
    half = halves[0] if halves else None
    if half == "night":
        half = "am" if hour == 12 or hour < 5 else "pm"
        day = 1 if half == "am" and day == 0 else day
    return ClockTime(hour if half is None else hour % 12 + (12 if half == "pm" else 0), minute, half, day)


def _hour_and_minute(words: str) -> tuple[int, int] | None:
    """Hour and minute as spoken, without the half of the day."""
    if words in ("noon", "midnight"):
        return (12 if words == "noon" else 0), 0
    if found := _RELATIVE.fullmatch(words):
        hour, minute = _NUMBERS[found["hour"]], _SHARES.get(found["minutes"]) or _NUMBERS[found["minutes"]]
        if not 1 <= hour <= 12 or not minute or (found["to"] and found["minutes"] == "half"):
            return None
        return ((hour - 2) % 12 + 1, 60 - minute) if found["to"] else (hour, minute)
    if found := _PLAIN.fullmatch(words):
        hour, minute = _NUMBERS[found["hour"]], _MINUTES[found["minute"]] if found["minute"] else 0
        if hour <= (23 if found["minute"] or found["exactly"] else 12) and (hour or found["minute"]):
            return hour, minute
    return None


def say_time(now: datetime) -> str:
    """The time in words: "4:10 in the afternoon", "9 o'clock in the morning", "noon"."""
    if now.minute == 0 and now.hour % 12 == 0:
        return "midnight" if now.hour == 0 else "noon"
    minutes = f"{now.hour % 12 or 12}:{now.minute:02}" if now.minute else f"{now.hour % 12 or 12} o'clock"
    parts = ((12, "in the morning"), (18, "in the afternoon"), (21, "in the evening"), (24, "at night"))
    return f"{minutes} {next(part for end, part in parts if now.hour < end)}"


def sample_clock(rng: random.Random) -> str:
    """A typical time for a reminder."""
    hour, minute = cardinal(rng.randint(5, 12)), rng.choice(["fifteen", "thirty", "thirty", "forty five"])
    core = rng.choice([hour, hour, f"{hour} {minute}", f"half past {hour}", f"quarter to {hour}", f"{hour} o'clock"])
    return core + rng.choice(["", "", "", " in the morning", " tomorrow", " a.m.", " p.m.", " tonight"])


CLOCK = SlotKind("clock", PATTERN, parse_clock, sample_clock)
