"""Reads and says times of day: "seven", "half past six", "quarter to nine tomorrow morning", "5 30 p m"."""

import random
import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import PLAIN, numbers_and, spell_number

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
_PAST = ("past", "after")
_TO = ("to", "till", "before")
PATTERN = numbers_and(
    [*_PAST, *_TO, *_DAYS, *" ".join(_HALVES).split(), "o'clock", "half", "quarter", "a", "noon", "midnight", "minutes"]
)


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day as it was said.

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

    def after(self, now: datetime, *, early: bool = False) -> datetime | None:
        """When it is next that time; None if it was today.

        Args:
            now: local time.
            early: of both halves of the day, the morning is meant ("wake me up at seven"). Otherwise the next one,
                and tomorrow that of the waking day.
        """
        hours = [self.hour]
        if self.half is None:
            hours = [self.hour % 12, self.hour % 12 + 12]
            if self.day == 1:
                hours = hours[:1] if self.hour in range(6, 12) else hours[1:]
            if early and self.hour < 12:
                hours = [self.hour]
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
    bare = _DAY.sub("", _HALF.sub("", words)).split()
    if bare[:1] == ["at"] or bare[-1:] == ["at"]:
        bare = [word for word in bare if word != "at"]
    time = _hour_and_minute(bare)
    if time is None:
        return None
    hour, minute = time
    day = _DAYS[days[0]] if days else None
    if bare in (["noon"], ["midnight"]):
        # Midnight tonight is the end of the day.
        return None if halves[:1] == ["am"] else ClockTime(hour, minute, "pm" if hour else "am", 1 if not hour else day)
    if not 1 <= hour <= 12:
        return ClockTime(hour, minute, "pm" if hour >= 12 else "am", day)
    half = halves[0] if halves else None
    if half == "night":
        half = "am" if hour == 12 or hour < 5 else "pm"
        day = 1 if half == "am" and day == 0 else day
    return ClockTime(hour if half is None else hour % 12 + (12 if half == "pm" else 0), minute, half, day)


def _hour_and_minute(words: list[str]) -> tuple[int, int] | None:
    """Hour and minute as they were said, without the half of the day."""
    if words in (["noon"], ["midnight"]):
        return (12 if words == ["noon"] else 0), 0
    if words[-1:] == ["o'clock"]:
        words = words[:-1]
        return _valid(_number(words), 0)
    for joints, sign in ((_PAST, 1), (_TO, -1)):
        at = next((index for index, word in enumerate(words) if word in joints and index), None)
        if at is not None and at + 1 < len(words):
            return _relative(words[:at], sign, _number(words[at + 1 :]))
    if len(words) == 1:
        return _valid(_number(words), 0, most=12)
    return _valid(_number(words[:1]), _minute(words[1:]))


def _relative(words: list[str], sign: int, hour: int | None) -> tuple[int, int] | None:
    words = [word for word in words if word not in ("a", "minutes")]
    minutes = {"half": 30, "quarter": 15}.get(" ".join(words), _number(words))
    if hour is None or minutes is None or not 1 <= hour <= 12 or not 0 < minutes < 60 or words == ["half"] and sign < 0:
        return None
    return (hour, minutes) if sign > 0 else ((hour - 2) % 12 + 1, 60 - minutes)


def _minute(words: list[str]) -> int | None:
    """Two digits: "thirty", "oh five", "05"; not "five" alone."""
    if len(words) == 2 and words[0] in ("oh", "zero"):
        return _number(words[1:])
    value = _number(words)
    return value if value is not None and (value >= 10 or words[0].startswith("0")) else None


def _number(words: list[str]) -> int | None:
    """A number below 100, correctly spelled."""
    if len(words) == 1:
        return int(words[0]) if words[0].isdigit() and len(words[0]) < 3 else PLAIN.get(words[0])
    tens, ones = (PLAIN.get(word, 0) for word in words) if len(words) == 2 else (0, 0)
    return tens + ones if tens >= 20 and 0 < ones < 10 else None


def _valid(hour: int | None, minute: int | None, *, most: int = 23) -> tuple[int, int] | None:
    if hour is None or minute is None or not 0 <= hour <= most or not 0 <= minute < 60:
        return None
    return (hour, minute) if hour or most > 12 else None


def say_time(now: datetime) -> str:
    """The time in words: "4:10 in the afternoon", "9 o'clock in the morning", "noon"."""
    if now.minute == 0 and now.hour % 12 == 0:
        return "midnight" if now.hour == 0 else "noon"
    minutes = f"{now.hour % 12 or 12}:{now.minute:02}" if now.minute else f"{now.hour % 12 or 12} o'clock"
    parts = ((12, "in the morning"), (18, "in the afternoon"), (21, "in the evening"), (24, "at night"))
    return f"{minutes} {next(part for end, part in parts if now.hour < end)}"


def sample_clock(rng: random.Random) -> str:
    """A time that people set alarms for."""
    hour, minute = spell_number(rng.randint(5, 12)), rng.choice(["fifteen", "thirty", "thirty", "forty five"])
    core = rng.choices(
        [hour, f"{hour} {minute}", f"half past {hour}", f"quarter to {hour}", f"{hour} o'clock", "noon"],
        [8, 6, 2, 2, 2, 1],
    )[0]
    ends = ["", "", "", " in the morning", " tomorrow", " a.m.", " p.m.", " tomorrow morning", " tonight"]
    return core + ("" if core == "noon" else rng.choice(ends))


CLOCK = SlotKind("clock", PATTERN, parse_clock, sample_clock)
