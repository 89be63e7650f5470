"""Dates and times of day."""

import re

from voice.language.english.abbreviations import ENGLISH
from voice.language.english.numbers import cardinal, ordinal, year
from voice.language.english.phrases import ENGLISH as PHRASES
from voice.language.english.reading.rule import Rule
from voice.language.reading import full_stop

MONTHS = PHRASES.months
_SHORT = {name[:3]: name for name in MONTHS} | {"Sept": "September"}
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:{'|'.join(sorted(_SHORT, key=len, reverse=True))})(?:\.|(?= \d)))"
_YEAR = r"(?:,?\s(?P<year>(?:1[1-9]|20)\d\d)(?![\w%]))?"
_HALF = r"(?:\s?(?P<half>[ap])(?:m(?!\w)|\.\s?m\.?(?!\w)|M(?!\w)))"
_WEEKDAYS = {short[:-1]: said for short, said in ENGLISH.said().items() if said.endswith("day")}
_WEEKDAY = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_LAST = r"(?:\s?[-–]\s?(?P<last>[0-3]?\d)(?:st|nd|rd|th)?)?"
_ZONE = r"(?:\s?(?P<zone>Z|UTC|GMT)(?!\w)|(?P<offset>(?:\+|(?<=\d:\d\d:\d\d)-)\d\d)(?::?(?P<part>\d\d))?(?![\d:]))?"


def _month(name: str) -> str:
    return _SHORT.get(name.rstrip("."), name)


def _date(month: str, day: int, in_year: str | None, last: str | None = None) -> str:
    until = f" to {ordinal(int(last))}" if last else ""
    return f"{month} {ordinal(day)}{until}" + (f", {year(int(in_year))}" if in_year else "")


def _day(found: "re.Match[str]") -> str:
    return _date(_month(found["month"]), int(found["day"]), found["year"], found["last"])


def _day_first(found: "re.Match[str]") -> str:
    in_year = f", {year(int(found['year']))}" if found["year"] else ""
    article = "" if found.string[: found.start()].rstrip().lower().endswith("the") else "the "
    return f"{article}{ordinal(int(found['day']))} of {_month(found['month'])}{in_year}"


def _iso(found: "re.Match[str]") -> str:
    month, day = int(found["month"]), int(found["day"])
    return _date(MONTHS[month - 1], day, found["year"]) if 1 <= month <= 12 and 1 <= day <= 31 else found[0]


def _slashed(found: "re.Match[str]") -> str:
    """Month first, as in the United States, unless there is no such month."""
    month, day = int(found["first"]), int(found["second"])
    if month > 12:
        month, day = day, month
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return found[0]
    in_year = found["year"] if len(found["year"]) == 4 else f"20{found['year']}"
    return _date(MONTHS[month - 1], day, in_year)


def _time(found: "re.Match[str]") -> str:
    hour, minute, half = int(found["hour"]), int(found["minute"]), found["half"]
    letters = f" {half.upper()} M" if half else ""
    if minute:
        said = f"{cardinal(hour)} {'oh ' if minute < 10 else ''}{cardinal(minute)}{letters}"
    elif half:
        said = f"{cardinal(hour)}{letters}"
    else:
        said = (
            f"{cardinal(hour)} o'clock"
            if 1 <= hour <= 12
            else f"{cardinal(hour)} hundred{' hours' if found['hours'] else ''}"
        )
    if int(found["second"] or 0):
        said += f" and {cardinal(int(found['second']))} seconds"
    return said + _zone(found) + full_stop(found)


def _zone(found: "re.Match[str]") -> str:
    if found["offset"]:
        sign, hours = found["offset"][0], int(found["offset"][1:])
        part = f" {cardinal(int(found['part']))}" if int(found["part"] or 0) else ""
        return f" U T C {'plus' if sign == '+' else 'minus'} {cardinal(hours)}{part}" if hours or part else " U T C"
    return f" {' '.join(found['zone'].upper().replace('Z', 'UTC'))}" if found["zone"] else ""


def _hour(found: "re.Match[str]") -> str:
    return f"{cardinal(int(found['hour']))} {found['half'].upper()} M{full_stop(found)}"


_CLOCK = r"(?:[01]?\d|2[0-4])"
RULES = (
    Rule(
        r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?:T|\s(?=\d\d:))(?P<hour>[0-2]\d):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:\.\d+)?)?"
        rf"(?P<half>(?!))?(?P<hours>(?!))?{_ZONE}",
        lambda found: f"{_iso(found)} at {_time(found)}",
    ),
    Rule(r"(?P<year>\d{4})(?P<mark>[-/])(?P<month>\d\d)(?P=mark)(?P<day>\d\d)(?![\d/-])", _iso),
    Rule(r"(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4}|\d\d)(?![\d/])", _slashed),
    Rule(
        r"(?P<first>1[0-2]|0?[1-9])/(?P<second>2[1-9]|3[01])(?![\d/])",
        lambda found: f"{MONTHS[int(found['first']) - 1]} {ordinal(int(found['second']))}",
    ),
    Rule(rf"{_MONTH}\s(?P<day>[0-3]?\d)(?:st|nd|rd|th)?{_LAST}(?!\w|[.,:/-]\d){_YEAR}", _day),
    Rule(r"(?P<day>[0-3]?\d)\.(?P<month>[01]?\d)\.(?P<year>(?:1\d|20)\d\d)(?!\w|\.\d)", _iso),
    Rule(rf"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\s{_MONTH}{_YEAR}", _day_first),
    Rule(
        rf"{_MONTH}(?P<comma>,?)\s(?P<year>(?:1[1-9]|20)\d\d)(?![\w%]|[.,:/-]\d)",
        lambda found: f"{_month(found['month'])}{found['comma']} {year(int(found['year']))}",
    ),
    Rule(
        rf"(?P<one>{_WEEKDAY})\.?\s?[-–]\s?(?P<other>{_WEEKDAY})(?:\.|(?!\w))",
        lambda found: f"{_WEEKDAYS[found['one']]} to {_WEEKDAYS[found['other']]}{full_stop(found)}",
    ),
    Rule(rf"(?P<day>{_WEEKDAY})(?=\s\d)", lambda found: _WEEKDAYS[found["day"]]),
    Rule(rf"(?P<day>{_WEEKDAY})(?:\.(?=\s\d)|,(?=\s(?:[A-Z]|\d)))", lambda found: _WEEKDAYS[found["day"]] + ","),
    Rule(
        r"(?:(?<=\bat )|(?!\d:\d\d:\d\d(?![\d+-]|\s?[ap]\.?\s?m\b|\s?(?:Z|UTC|GMT)\b)))"
        rf"(?P<hour>{_CLOCK}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:])(?:{_HALF}|{_ZONE})(?P<hours>\sh(?:rs)?\b)?",
        _time,
        ignore_case=True,
    ),
    Rule(
        rf"(?P<hour>{_CLOCK})[.](?P<minute>[0-5]\d)(?P<second>(?!))?{_HALF}(?P<hours>(?!))?(?P<zone>(?!))?(?P<offset>(?!))?",
        _time,
        ignore_case=True,
    ),
    Rule(rf"(?P<hour>1[0-2]|0?[1-9]){_HALF}", _hour, ignore_case=True),
)
