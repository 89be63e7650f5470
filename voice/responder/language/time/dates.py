"""Reads and says days of the calendar: "march third", "the fourth of july", "next friday", "tomorrow", "christmas"."""

import calendar
import random
import re
from dataclasses import dataclass
from datetime import date, timedelta

from num2words import num2words

from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import numbers_and, parse_number, spell_number

MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the calendar as it was said; one of month, weekday and offset is set.

    Parameters:
        month: 1 to 12.
        day: of the month; 29 February is a day, whatever the year.
        year: None if it was not said.
        weekday: from Monday, 0.
        later: the weekday of next week is meant ("next friday").
        offset: days from today.
        name: what answers call it ("Christmas"); None for a day without a name of its own.
    """

    month: int | None = None
    day: int | None = None
    year: int | None = None
    weekday: int | None = None
    later: bool = False
    offset: int | None = None
    name: str | None = None

    def after(self, today: date) -> date | None:
        """The date: the next one from `today` on where the words leave it open; None if there is none."""
        if self.offset is not None:
            return today + timedelta(days=self.offset)
        if self.weekday is not None:
            ahead = (self.weekday - today.weekday()) % 7
            if self.later:
                ahead = self.weekday - today.weekday() + 7
            return today + timedelta(days=ahead)
        years = (self.year,) if self.year is not None else range(today.year, today.year + 9)
        found = (date(year, self.month or 1, self.day or 1) for year in years if self._is_in(year))
        return next((each for each in found if self.year is not None or each >= today), None)

    def _is_in(self, year: int) -> bool:
        return (self.day or 1) <= calendar.monthrange(year, self.month or 1)[1]


def ordinal(number: int) -> str:
    """The number of a day in words, as a recogniser writes it: "twenty first"."""
    text: str = num2words(number, to="ordinal")
    return text.replace("-", " ")


_DAYS_OF_MONTH = {
    said: number
    for number in range(1, 32)
    for said in (ordinal(number), spell_number(number), *(f"{number}{end}" for end in ("", " st", " nd", " rd", " th")))
}
_NAMED = {
    "today": Day(offset=0),
    "tomorrow": Day(offset=1),
    "the day after tomorrow": Day(offset=2),
    "yesterday": Day(offset=-1),
    "the day before yesterday": Day(offset=-2),
    "christmas": Day(12, 25, name="Christmas"),
    "christmas eve": Day(12, 24, name="Christmas Eve"),
    "halloween": Day(10, 31, name="Halloween"),
    "new year": Day(1, 1, name="New Year's Day"),
    "new year's eve": Day(12, 31, name="New Year's Eve"),
    "valentine's day": Day(2, 14, name="Valentine's Day"),
    **{f"{this}{name}": Day(weekday=number) for name, number in WEEKDAYS.items() for this in ("", "this ", "coming ")},
    **{f"next {name}": Day(weekday=number, later=True) for name, number in WEEKDAYS.items()},
}
_DAY_OF_MONTH = "|".join(sorted(_DAYS_OF_MONTH, key=len, reverse=True))
_DATE = re.compile(
    rf"(?:(?:the )?(?P<before>{_DAY_OF_MONTH}) (?:of )?)?(?P<month>{'|'.join(MONTHS)})"
    rf"(?(before)|(?: the)? (?P<after>{_DAY_OF_MONTH}))(?: (?P<year>.+))?"
)
PATTERN = numbers_and([*MONTHS, *" ".join([*_NAMED, *_DAYS_OF_MONTH]).split(), "of", "on", "the"])


def parse_day(words: str) -> Day | None:
    """The day that `words` name; None for anything else, such as 31 April."""
    words = words.removeprefix("on ").removesuffix(" this year")
    found = _DATE.fullmatch(words)
    if found is None:
        return _NAMED.get(words)
    month, day = MONTHS[found["month"]], _DAYS_OF_MONTH[found["before"] or found["after"]]
    year = parse_number(found["year"]) if found["year"] else None
    if found["year"] and (year is None or year.denominator > 1 or not 1583 <= year <= 9999):
        return None
    return Day(month, day, int(year) if year else None) if day <= calendar.monthrange(2024, month)[1] else None


def say_date(day: date) -> str:
    """The date in words: "Friday, November 20"."""
    return f"{day:%A}, {day:%B} {day.day}"


def say_full_date(day: date) -> str:
    """The date with its year, without the weekday: "November 20, 2026"."""
    return f"{day:%B} {day.day}, {day.year}"


def sample_day(rng: random.Random) -> str:
    """A day that people count down to or ask about."""
    month, number = rng.choice(list(MONTHS)), ordinal(rng.randint(1, 28))
    weekday = rng.choice(list(WEEKDAYS))
    dates = [f"{month} {number}", f"the {number} of {month}", weekday, f"next {weekday}"]
    return rng.choice([*dates, "christmas", "christmas", "halloween", "new year's eve", "valentine's day"])


DAY = SlotKind("day", PATTERN, parse_day, sample_day)
