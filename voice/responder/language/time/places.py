"""Cities and countries with their time zones, as people ask for the time there."""

import random
from zoneinfo import ZoneInfo

from voice.responder.language.grammar import SlotKind
from voice.responder.language.vocabulary import words

# A zone's name ends in a city. "city" alone stands for the zone's own city, "city=zone" for another in it.
_ZONES = """
Africa/Cairo cairo egypt
Africa/Johannesburg johannesburg cape_town south_africa
Africa/Lagos lagos nigeria
Africa/Nairobi nairobi kenya
Africa/Casablanca casablanca morocco
America/New_York new_york new_york_city boston washington miami philadelphia atlanta detroit orlando
America/Toronto toronto montreal ottawa
America/Chicago chicago dallas houston austin new_orleans memphis minneapolis
America/Denver denver salt_lake_city
America/Phoenix phoenix arizona
America/Los_Angeles los_angeles san_francisco seattle las_vegas san_diego portland california l_a hollywood
America/Vancouver vancouver
America/Anchorage alaska anchorage
Pacific/Honolulu honolulu hawaii
America/Mexico_City mexico_city
America/Bogota bogota colombia
America/Lima lima peru
America/Santiago santiago
America/Caracas caracas venezuela
America/Argentina/Buenos_Aires buenos_aires argentina
America/Sao_Paulo sao_paulo rio rio_de_janeiro
America/Havana havana cuba
Asia/Tokyo tokyo japan osaka
Asia/Seoul seoul korea south_korea
Asia/Shanghai shanghai beijing china
Asia/Hong_Kong hong_kong
Asia/Taipei taipei taiwan
Asia/Singapore singapore
Asia/Manila manila the_philippines
Asia/Bangkok bangkok thailand
Asia/Ho_Chi_Minh vietnam
Asia/Jakarta jakarta
Asia/Kolkata india delhi new_delhi mumbai bangalore calcutta
Asia/Karachi karachi pakistan
Asia/Kathmandu nepal
Asia/Dubai dubai
Asia/Riyadh saudi_arabia
Asia/Tehran tehran iran
Asia/Jerusalem israel jerusalem tel_aviv
Asia/Baghdad baghdad iraq
Europe/Istanbul istanbul turkey ankara
Europe/Moscow moscow
Europe/Kyiv kiev ukraine
Europe/London london england britain the_united_kingdom the_u_k scotland edinburgh manchester
Europe/Dublin dublin ireland
Europe/Lisbon lisbon
Europe/Madrid madrid barcelona
Europe/Paris paris france
Europe/Brussels brussels belgium
Europe/Amsterdam amsterdam holland the_netherlands
Europe/Berlin berlin germany munich hamburg frankfurt cologne
Europe/Zurich zurich switzerland geneva
Europe/Vienna vienna austria
Europe/Rome rome italy milan venice naples
Europe/Athens athens greece
Europe/Prague prague
Europe/Warsaw warsaw poland
Europe/Budapest budapest hungary
Europe/Bucharest bucharest romania
Europe/Copenhagen copenhagen denmark
Europe/Stockholm stockholm sweden
Europe/Oslo oslo norway
Europe/Helsinki helsinki finland
Atlantic/Reykjavik iceland reykjavik
Australia/Sydney sydney melbourne
Australia/Brisbane brisbane
Australia/Perth perth
Australia/Adelaide adelaide
Pacific/Auckland auckland wellington new_zealand
"""
ZONES = {
    name.replace("_", " "): zone
    for zone, *names in (line.split() for line in _ZONES.strip().splitlines())
    for name in names
}
"""Names as they are heard, with the zone."""
WIDE = (
    "america", "the united states", "the usa", "the u s", "the us", "the states", "australia", "russia", "canada",
    "brazil", "mexico", "indonesia", "spain", "portugal",
)  # fmt: skip
"""Countries with more than one time zone."""
_ASKED = words("tokyo london paris sydney berlin chicago boston singapore california india china japan germany moscow")
_ASKED_OFTEN = ("new york", "new york", "los angeles", "san francisco", "hong kong")
_SAID = {"l a": "L.A.", "the u k": "the U.K.", "kiev": "Kyiv"}
_SMALL = frozenset(words("the of de"))


def say_place(name: str) -> str:
    """The place as answers write it: "New York", "the Philippines"."""
    if name in _SAID:
        return _SAID[name]
    return " ".join(word if word in _SMALL else word.capitalize() for word in name.split())


def zone_of(name: str) -> ZoneInfo:
    """The time zone of a place in `ZONES`."""
    return ZoneInfo(ZONES[name])


def sample_place(rng: random.Random) -> str:
    """A place, the well-known ones more often."""
    return rng.choice([*_ASKED, *_ASKED_OFTEN]) if rng.random() < 0.5 else rng.choice(list(ZONES))


PLACE = SlotKind(
    "place",
    f"(?:{'|'.join(sorted(ZONES, key=len, reverse=True))}) ",
    lambda spoken: spoken if spoken in ZONES else None,
    sample_place,
)
WIDE_PLACE = SlotKind(
    "wide", f"(?:{'|'.join(WIDE)}) ", lambda spoken: spoken, lambda rng: rng.choice(["australia", "canada", "america"])
)
