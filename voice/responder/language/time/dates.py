"""Reads and says days of the calendar: "march third", "the fourth of july", "next friday", "tomorrow"."""

import calendar
import random
import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from num2words import num2words

from voice.responder.language.grammar import SlotKind
from voice.responder.language.numbers import numbers_and, parse_number

MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
_RELATIVE = {"today": 0, "tomorrow": 1, "the day after tomorrow": 2, "yesterday": -1, "the day before yesterday": -2}


@cache
def ordinal(number: int) -> str:
    """The number of a day in words, as a recogniser writes it: "twenty first"."""
    text: str = num2words(number, to="ordinal")
    return text.replace("-", " ")


_ORDINALS = {ordinal(number): number for number in range(1, 32)}
_ENDINGS = ("st", "nd", "rd", "th")
_FILLING = ("the", "of", "on", "this", "next", "coming", "day", "after", "before")
PATTERN = numbers_and(
    [*MONTHS, *WEEKDAYS, *" ".join(_ORDINALS).split(), *_ENDINGS, *_FILLING, "today", "tomorrow", "yesterday"]
)
_DAY = re.compile(PATTERN)


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
    """

    month: int | None = None
    day: int | None = None
    year: int | None = None
    weekday: int | None = None
    later: bool = False
    offset: int | None = None

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


def parse_day(words: str) -> Day | None:
    """The day that `words` name; None for anything else, such as 31 April."""
    text = words.removeprefix("on ")
    if text in _RELATIVE:
        return Day(offset=_RELATIVE[text])
    later = text.startswith("next ")
    bare = re.sub(r"^(?:the )?(?:next|this|coming) ", "", text)
    if bare in WEEKDAYS:
        return Day(weekday=WEEKDAYS[bare], later=later)
    parts = [word for word in text.split() if word not in ("the", "of", "on", *_ENDINGS)]
    months = [index for index, word in enumerate(parts) if word in MONTHS]
    if len(months) != 1 or len(parts) < 2:
        return None
    at = months[0]
    before, behind = parts[:at], parts[at + 1 :]
    return _with_year(MONTHS[parts[at]], before, behind) if before else _month_first(MONTHS[parts[at]], behind)


def _month_first(month: int, words: list[str]) -> Day | None:
    """A month and what follows it: the day of one or two words, and perhaps the year."""
    for length in (2, 1):
        found = _with_year(month, words[:length], words[length:]) if len(words) >= length else None
        if found is not None:
            return found
    return None


def _with_year(month: int, said: list[str], rest: list[str]) -> Day | None:
    number = _ORDINALS.get(" ".join(said)) or parse_number(" ".join(said))
    year = parse_number(" ".join(rest)) if rest else None
    if number is None or rest and (year is None or year.denominator > 1 or not 1583 <= year <= 9999):
        return None
    longest = calendar.monthrange(2024, month)[1]
    day = int(number)
    return (
        Day(month=month, day=day, year=int(year) if year else None) if number == day and 1 <= day <= longest else None
    )


def day_in(words: str) -> Day | None:
    """The first day that is named somewhere in `words`."""
    text = words + " "
    starts = (match.start() for match in re.finditer(r"\S+ ", text))
    for start in starts:
        found = _DAY.match(text, start)
        day = parse_day(found.group().strip()) if found else None
        if day is not None:
            return day
    return None


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
    return rng.choice(
        [f"{month} {number}", f"{month} {number}", f"the {number} of {month}", weekday, f"next {weekday}"]
    )


DAY = SlotKind("day", PATTERN, parse_day, sample_day)
