"""Places whose time zone is known: the cities of the time zone database, and the countries with one zone."""

import re
from importlib.resources import files
from zoneinfo import ZoneInfo

from voice.responder.language.grammar import SlotKind

_WELL_KNOWN = ("tokyo", "london", "paris", "sydney", "berlin", "chicago", "new york", "los angeles", "japan", "india")
"""For generated sentences."""


def _rows(table: str) -> list[list[str]]:
    text = (files("tzdata") / "zoneinfo" / table).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def _read_zones() -> dict[str, str]:
    by_country: dict[str, list[str]] = {}
    for country, _, zone, *_ in _rows("zone.tab"):
        by_country.setdefault(country, []).append(zone)
    cities = {zone.split("/")[-1].replace("_", " "): zone for zones in by_country.values() for zone in zones}
    countries = {
        re.sub(r" \(.*", "", name): by_country[code][0]
        for code, name in _rows("iso3166.tab")
        if len(by_country.get(code, ())) == 1
    }
    return {name.lower().replace("-", " "): zone for name, zone in (countries | cities).items()}


ZONES = _read_zones()
"""Names as they are heard, with the zone."""


def say_place(name: str) -> str:
    """The place as answers write it: "New York", "the Philippines"."""
    return " ".join(word if word in ("of", "the", "de", "and") else word.capitalize() for word in name.split())


def zone_of(name: str) -> ZoneInfo:
    """The time zone of a place in `ZONES`, with or without "the"."""
    return ZoneInfo(ZONES[name.removeprefix("the ")])


PLACE = SlotKind(
    "place",
    f"(?:(?:the )?(?:{'|'.join(sorted(map(re.escape, ZONES), key=len, reverse=True))})) ",
    str,
    lambda rng: rng.choice(_WELL_KNOWN),
)
