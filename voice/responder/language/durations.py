"""Reads and says lengths of time: "ten seconds", "an hour and a half", "two minutes thirty"."""

import random
import re
from dataclasses import dataclass
from fractions import Fraction

from voice.language.english.number_words import numbers_and, say_number
from voice.language.english.numbers import cardinal
from voice.responder.language.amounts import parse_count
from voice.responder.language.grammar import SlotKind

UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
_UNITS = [unit + plural for unit in ("second", "sec", "minute", "min", "hour", "day") for plural in ("s", "")]
_UNIT = f"(?:{'|'.join(_UNITS)})"
PATTERN = numbers_and(["and", "a", "an", "half", "quarter", "quarters", "of", *_UNITS])
_PART = re.compile(rf"(?:and )?(?P<count>.+?) (?P<unit>{_UNIT})(?P<half> and a half)?(?: |$)")
_SHORT = {"sec": "second", "min": "minute"}
LONGEST_DURATION = 100 * 86400
"""Longest duration understood, seconds: 100 days."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time.

    Parameters:
        seconds: the length.
        text: the length in words, as answers give it, in the user's units ("90 seconds").
    """

    seconds: float
    text: str


def parse_duration(words: str) -> Duration | None:
    """The duration that `words` name; None if they are anything else, or not above zero and at most 100 days."""
    at, total, parts = 0, Fraction(0), []
    finest = None
    while at < len(words):
        found = _PART.match(words, at)
        if found is None:
            break
        unit = found["unit"].removesuffix("s")
        unit = _SHORT.get(unit, unit)
        count = parse_count(found["count"])
        if count is None or count < 0 or (finest is not None and UNIT_SECONDS[unit] >= UNIT_SECONDS[finest]):
            return None
        count += Fraction(1, 2) if found["half"] else 0
        total, finest = total + count * UNIT_SECONDS[unit], unit
        parts.append(f"{say_number(count)} {unit}{'' if count == 1 else 's'}")
        at = found.end()
    if at < len(words):
        # "two minutes thirty": a number after the last unit counts in the next smaller unit.
        rest = parse_count(words[at:])
        if finest not in ("minute", "hour") or rest is None or not 0 < rest < 60:
            return None
        finer = "second" if finest == "minute" else "minute"
        total += rest * UNIT_SECONDS[finer]
        parts.append(f"{say_number(rest)} {finer}{'' if rest == 1 else 's'}")
    if not 0 < total <= LONGEST_DURATION:
        return None
    text = " and ".join(parts) if len(parts) < 3 else ", ".join(parts)
    return Duration(float(total), say_seconds(float(total)) if "." in text and finest != "second" else text)


def say_seconds(seconds: float) -> str:
    """A measured duration, rounded to whole seconds: "1 minute and 5 seconds", "less than a second"."""
    left, parts = round(seconds), []
    for unit in ("day", "hour", "minute", "second"):
        count, left = divmod(left, UNIT_SECONDS[unit])
        if count:
            parts.append(f"{count} {unit}{'' if count == 1 else 's'}")
    if not parts:
        return "less than a second"
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def attributive(text: str) -> str:
    """The duration as it stands before a noun: "10 second" for "10 seconds"."""
    return re.sub(r"(second|minute|hour|day)s\b", r"\1", text)


def sample_duration(rng: random.Random) -> str:
    """A typical length of a timer."""
    count = cardinal(rng.choice((2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 12, 15, 20, 25, 30, 40, 45, 50, 60, 90)))
    rest, joint = cardinal(rng.choice((10, 15, 20, 30, 45))), rng.choice((" and", ""))
    other = rng.choice(("half an hour", "an hour and a half", "two and a half minutes", "a minute", "an hour"))
    both = rng.choice((f"{count} minutes{joint} {rest} seconds", f"one hour{joint} {rest} minutes"))
    return rng.choices([f"{count} minutes", f"{count} seconds", f"{count} hours", both, other], [45, 30, 6, 10, 9])[0]


DURATION = SlotKind("duration", PATTERN, parse_duration, sample_duration)
