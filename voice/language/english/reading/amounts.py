"""Money, percentages, units, fractions and plain numbers."""

import re

from voice.language.english.numbers import cardinal, fraction, is_one, number
from voice.language.english.reading import rule
from voice.language.english.units import plural
from voice.language.reading import NUMBER

_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "", ""),
    "₹": ("rupee", "rupees", "paisa", "paise"),
}
_CURRENCIES |= {
    short: (f"{country} {one}", f"{country} {one}s", cent, f"{cent}s")
    for shorts, country, one, cent in (
        ("US$ USD", "U S", "dollar", "cent"), ("C$ CA$ CAD", "Canadian", "dollar", "cent"),
        ("A$ AU$ AUD", "Australian", "dollar", "cent"), ("HK$ HKD", "Hong Kong", "dollar", "cent"),
        ("NZ$ NZD", "New Zealand", "dollar", "cent"), ("CHF", "Swiss", "franc", "centime"),
    )
    for short in shorts.split()
} | {
    "R$": ("real", "reais", "centavo", "centavos"), "EUR": _CURRENCIES["€"],
    "GBP": ("British pound", "British pounds", "penny", "pence"), "JPY": _CURRENCIES["¥"],
    "kr": ("krone", "kroner", "øre", "øre"),
}  # fmt: skip
_CURRENCY = r"(?:US|CA?|AU?|HK|NZ|R)?\$|[€£¥₹]"
_CODE = "USD|EUR|GBP|JPY|CHF|CAD|AUD|HKD|NZD"
_SCALES = {
    "k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion", "thousand": "thousand",
    "million": "million", "billion": "billion", "trillion": "trillion",
}  # fmt: skip
_SCALE = r"(?:\s?(?P<scale>thousand|million|billion|trillion|[kKmMbB]n?)(?!\w))?"
_UNITS = {
    short: (name, plural(name))
    for name, symbols in {
        "kilometer per hour": "km/h, kph", "mile per hour": "mph", "meter per second": "m/s",
        "square kilometer": "km²", "square meter": "m²", "meter per second squared": "m/s²", "inch": "″",
        "month": "mos", "square foot": "sq. ft, sq ft", "year": "yr, yrs", "gallon": "gal", "week": "wk",
        "gigabit": "Gbit", "megabit": "Mbit", "kilobit": "kbit", "frame per second": "fps", "Grad": "Grad",
        "Euro": "Euro", "cubic meter": "m³", "kilometer": "km", "meter": "m", "centimeter": "cm", "millimeter": "mm",
        "mile": "mi", "foot": "ft", "yard": "yd", "kilogram": "kg", "gram": "g", "milligram": "mg", "pound": "lb, lbs",
        "ounce": "oz", "liter": "l, L", "milliliter": "ml, mL", "teaspoon": "tsp", "tablespoon": "tbsp, Tbsp",
        "degree Celsius": "°C", "degree Fahrenheit": "°F", "degree": "°", "kilobyte": "kB, KB", "megabyte": "MB",
        "gigabyte": "GB", "terabyte": "TB", "megabit per second": "Mbps", "gigabit per second": "Gbps",
        "millisecond": "ms", "second": "s, sec, secs", "minute": "min, mins", "hour": "h, hr, hrs", "hertz": "Hz",
        "kilohertz": "kHz", "megahertz": "MHz", "gigahertz": "GHz", "watt": "W", "kilowatt": "kW",
        "kilowatt hour": "kWh", "volt": "V", "kilocalorie": "kcal", "pixel": "px", "percent": "%",
        "microgram": "μg, mcg", "micrometer": "μm", "microliter": "μL, μl", "microsecond": "μs", "nanometer": "nm",
        "deciliter": "dL, dl", "millimeter of mercury": "mmHg", "amp hour": "Ah", "milliamp hour": "mAh",
        "decibel": "dB", "kilojoule": "kJ", "hectopascal": "hPa", "kilopascal": "kPa", "ohm": "Ω", "kilohm": "kΩ",
        "horsepower": "hp", "beat per minute": "bpm", "mile per gallon": "mpg", "point": "pts", "quart": "qt",
        "pint": "pt", "fluid ounce": "fl. oz",
    }.items()
    for short in symbols.split(", ")
}  # fmt: skip
_COMMA = r"(?:\d{1,3}(?:\.\d{3})+|\d+),\d\d?"
_DOTS = r"\d{1,3}(?:\.\d{3})+"
_UNIT = "|".join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))
_SIGN = r"(?:(?<![\w.)\]%°])(?P<minus>-))?"
_TO = r"\s?[-–—]\s?"
_ABBREVIATED = r"(?:\.(?=,|\s+[a-z\d]))?"
_PER = rf"(?:\s?/\s?(?P<per>[a-z]{{2,9}}|kWh|m[²³]|d?L|[hs])(?![\w²³]){_ABBREVIATED})?"
_VULGAR = {"½": "a half", "¼": "a quarter", "¾": "three quarters", "⅓": "a third", "⅔": "two thirds"}
_PAIRS = {
    "24/7": "twenty four seven", "50/50": "fifty fifty", "50-50": "fifty fifty", "10-4": "ten four",
    "9/11": "nine eleven", "401k": "four oh one K", "401(k)": "four oh one K",
}  # fmt: skip
# A noun follows the measure: "a 5 km run", "the $20 bill".
_MEASURED = re.compile(r"\s(?:bill|note|coin|fine|fee|deposit|voucher|coupon|discount|race|run|walk|hike|battery)s?\b")
# Before a year, and after one.
_YEARLY = "in|since|until|till|from|by|during|before|after|year|around|late|early|of|mid|and|to"
_ABOUT = r"(?:(?<=[Cc]irca )|(?<=[Cc]a\. )|(?<=[Cc]\. )|(?<=[Ff]ounded )|(?<=[Pp]rinted )|(?<=[Pp]ublished ))"
_FUNCTION = (
    "and|or|but|was|were|is|are|the|a|an|to|with|when|he|she|it|we|they|i|you|in|by|at|on|for|as|if|has|had|will|would"
)


def _many(found: "re.Match[str]", one: str, many: str) -> str:
    """The singular for one, or for a measure before a noun."""
    after = found.string[found.end() :]
    article = re.search(r"\b[Aa]n? $", found.string[: found.start()])
    sized = article and re.match(rf"\s(?!(?:{_FUNCTION}|of|per)\b)[a-z]", after)
    return one if is_one(found["amount"]) or sized or _MEASURED.match(after) else many


def _minus(found: "re.Match[str]") -> str:
    return "minus " if found["minus"] else ""


def _per(unit: str) -> str:
    return f" per {'month' if unit == 'mo' else _UNITS.get(unit, (unit,))[0]}"


class Rule(rule.Rule):
    """A rule about amounts."""

    forms = {
        **rule.Rule.forms,
        "unit": lambda short: _UNITS[short][0] if short in _UNITS else "inch",
        "units": lambda short: _UNITS[short][1],
        "feet": lambda amount: f"{number(amount)} {'foot' if is_one(amount) else 'feet'}",
        "inches": lambda amount: f"{number(amount)} {'inch' if is_one(amount) else 'inches'}",
        "per": _per,
        "scale": lambda scale: _SCALES[scale.lower()],
        "to": lambda _: " to",
        "before": lambda words: words.replace("©", "copyright"),
        "short year": lambda text: f"{'oh ' if text[0] == '0' else ''}{cardinal(int(text))}",
    }


def _duration(found: "re.Match[str]") -> str:
    parts = [
        f"{cardinal(int(found[name]))} {name if int(found[name]) == 1 else name + 's'}"
        for name in ("hour", "minute", "second")
        if int(found[name] or 0)
    ]
    return " ".join(parts)


def _money(found: "re.Match[str]") -> str:
    one, many, cent, cents = _CURRENCIES[found["sign"]]
    amount, scale = found["amount"], found["scale"]
    if not (scale and is_one(amount)):
        many = _many(found, one, many)
    per = _per(found["per"]) if found["per"] else ""
    if scale:
        return f"{_minus(found)}{number(amount)} {_SCALES[scale.lower()]} {many}{per}"
    whole, _, small = amount.replace(",", "").partition(".")
    if len(small) != 2 or not cent:
        return f"{_minus(found)}{number(amount)} {many}{per}"
    parts = []
    if int(whole or 0) or not int(small):
        parts.append(f"{number(whole)} {one if int(whole) == 1 else many}")
    if int(small):
        parts.append(f"{cardinal(int(small))} {cent if int(small) == 1 else cents}")
    return _minus(found) + " and ".join(parts) + per


def _money_range(found: "re.Match[str]") -> str:
    scale = f" {_SCALES[found['scale'].lower()]}" if found["scale"] else ""
    return f"{number(found['low'])} to {number(found['high'])}{scale} {_CURRENCIES[found['sign']][1]}"


def _unit(found: "re.Match[str]") -> str:
    per = _per(found["per"]) if found["per"] else ""
    return f"{_minus(found)}{number(found['amount'])} {_many(found, *_UNITS[found['unit']])}{per}"


def _times(found: "re.Match[str]") -> str:
    return f"{number(found['amount'] or found['times'])} times"


def _mixed(found: "re.Match[str]") -> str:
    above, below = int(found["above"]), int(found["below"])
    part = fraction(above, below).replace("one ", "a ", 1) if above == 1 else fraction(above, below)
    return f"{number(found['whole'])} and {part}"


def _vulgar(found: "re.Match[str]") -> str:
    part = _VULGAR[found["part"]]
    return f"{number(found['whole'])} and {part}" if found["whole"] else part.replace("a ", "one ", 1)


_EUROPEAN = re.compile(
    rf"(?<![\d.,])(?:(?:(?<=€)|(?<=€ ))(?:{_COMMA})(?!\d|[.,]\d)"
    rf"|(?:{_COMMA})(?=\s?(?:€|EUR\b|(?:{_UNIT})(?!\w)))|(?:{_DOTS})(?=\s?(?:€|EUR\b|Euro\b)))"
)


def anglicised(text: str) -> str:
    """The text with decimal points for decimal commas, where a unit or the euro says that a comma is one."""
    return _EUROPEAN.sub(lambda found: found[0].translate(_SWAPPED), text)


_SWAPPED = str.maketrans(",.", ".,")

RULES = (
    Rule(r"(?P<value>(?:1[1-9]|20)\d0)'?s(?!\w)", "{value:decade}"),
    Rule(r"(?:['’]|(?<=the )|(?<=The ))(?P<value>[2-9]0)'?s(?!\w)", "{value:decade}"),
    Rule(
        r"(?P<hour>\d+)\s?h(?:rs?)?\s?(?P<minute>[0-5]?\d)\s?(?:m(?:ins?)?|(?<=h\d\d))(?:\s?(?P<second>[0-5]?\d)\s?s(?:ec)?)?(?!\w)",
        _duration,
    ),
    Rule(r"(?P<hour>\d):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)(?![\d:])", _duration),
    Rule(r"(?P<hour>(?!))?(?P<minute>\d+)\s?m(?:ins?)?\s?(?P<second>[0-5]?\d)\s?s(?:ec)?(?!\w)", _duration),
    Rule(rf"(?P<low>{NUMBER}){_TO}(?P<high>{NUMBER})\s?(?P<sign>[€£$])(?P<scale>(?!))?(?!\w)", _money_range),
    Rule(
        rf"(?P<sign>{_CURRENCY})(?P<low>{NUMBER}){_TO}(?:(?P=sign))?(?P<high>{NUMBER}){_SCALE}(?![\w.,]\d)",
        _money_range,
    ),
    Rule(rf"{_SIGN}(?P<sign>{_CURRENCY}|(?:{_CODE})(?=\s))\s?(?P<amount>{NUMBER}|(?<!\.)\.\d+){_SCALE}{_PER}", _money),
    Rule(
        rf"(?P<amount>{NUMBER})\s?(?P<sign>[€£¥₹]|(?<=\s)(?:{_CODE}|kr))(?P<minus>(?!))?(?P<scale>(?!))?{_PER}(?!\w)",
        _money,
    ),
    Rule(rf"(?P<amount>{NUMBER})\s?¢", "{amount} cents"),
    Rule(
        r"(?P<feet>\d+)\s?(?:ft\.?|feet)\s?(?P<inches>\d+)\s?(?:in\.(?=,|\s+[a-z]|$)|(?:in|inches)(?!\w))",
        "{feet:feet} {inches:inches}{stop}",
    ),
    Rule(r"(?P<feet>\d)[′'](?:\s(?=\d\d?[″\"]))?(?P<inches>\d\d?)(?:[″\"])?(?!\w)", "{feet} foot {inches}"),
    Rule(
        rf"(?P<low>{NUMBER}){_TO}(?P<high>{NUMBER})\s?(?P<unit>{_UNIT}){_PER}(?!\w|/[^\W\d]){_ABBREVIATED}",
        "{low} to {high} {unit:units}{per:per}",
    ),
    Rule(rf"{_SIGN}(?P<amount>{NUMBER})\s?(?P<unit>{_UNIT}){_PER}(?!\w|/[^\W\d]){_ABBREVIATED}", _unit),
    Rule(
        rf"(?P<amount>{NUMBER})-(?P<unit>{_UNIT}|in(?=\.))(?<=\w\w)(?:\.(?=,|\s+[a-z\d])|(?![\w.]))",
        "{amount} {unit:unit}",
    ),
    Rule(rf"(?P<amount>{NUMBER})\s?in\.(?=,|\s+[a-z]|$)", "{amount:inches}{stop}"),
    Rule(r"(?:(?<=\d )|(?<=[½¼¾⅓⅔] ))(?P<unit>tsp|tbsp|oz|lb|mi)(?:\.(?=\s[a-z])|(?=[\s,]))", "{unit:unit}"),
    Rule(
        r"(?<=[\d½¼¾⅓⅔] )c\.(?=\s[a-z])",
        lambda found: "cup" if re.search(r"(?<!\S)(?:1|\d/\d|\D) $", found.string[: found.start()]) else "cups",
        inside=True,
    ),
    Rule(
        rf"(?P<amount>{NUMBER})[eE](?:(?P<minus>-)|\+)?(?P<power>\d{{1,3}})(?!\w)",
        "{amount} times ten to the power of {minus:sign}{power}",
    ),
    Rule(r"(?P<lines>1080|1440|2160)p(?!\w)", "{lines:year} P"),
    Rule(rf"(?P<amount>{NUMBER})\s?[xX×](?![\w\s]|\s\d)|(?P<times>{NUMBER})[xX](?=\s[a-z])", _times),
    Rule(r"x(?P<amount>\d{1,2})(?!\w)", "times {amount}"),
    Rule(rf"(?P<whole>\d+)?(?P<part>[{''.join(_VULGAR)}])", _vulgar),
    Rule(r"(?:24/7|50[/-]50|10-4|9/11|401k|401\(k\))(?![\d/-])", _PAIRS),
    Rule(r"(?P<amount>[248])K(?!\w)", "{amount} K"),
    Rule(r"(?P<above>\d+\.\d+|\d+(?=/\d+ stars\b))/(?P<below>\d{1,3}(?:\.\d+)?)(?![\w/])", "{above} out of {below}"),
    Rule(r"(?P<whole>\d{1,3}) (?P<above>\d)/(?P<below>\d{1,2})(?![\d/])", _mixed),
    Rule(
        r"(?P<above>\d{1,3})/(?P<below>\d{1,3})(?![\d/])",
        lambda found: fraction(int(found["above"]), int(found["below"])),
    ),
    Rule(r"(?P<value>\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th)(?!\w)", "{value:ordinal}"),
    Rule(r"(?P<wide>\d+)(?:x|(?<=\d\d\d)×)(?P<high>\d+)(?!\w)", "{wide} by {high}"),
    Rule(r"(?P<above>\d{1,2}(?:\.\d)?):(?P<below>\d)(?!\d)", "{above} to {below}"),
    Rule(
        rf"(?P<before>(?:[Ff]rom|[Bb]etween)\s)?(?P<low>{NUMBER})\s[-–—]\s(?P<high>{NUMBER})(?![\w-])"
        r"(?(before)|(?=\s(?!(?:is|equals|was|gives|makes|has|leaves|plus|minus|times|as)\b)(?:[a-z]+s|percent|people)\b))",
        "{before:text}{low} to {high}",
    ),
    Rule(r"(?P<low>(?:1[1-9]|20)\d\d)[-–/](?P<high>(?:1[1-9]|20)\d\d)(?!\w)", "{low:year} to {high:year}"),
    Rule(
        r"(?P<low>(?:1[789]|20)\d\d)(?:/|(?P<to>[-–]))(?P<high>\d\d)(?![\w/-]|\.\d)",
        "{low:year}{to:to} {high:cardinal}",
    ),
    Rule(r"['’](?P<value>[0-9]\d)(?![\w'’])", "{value:short year}"),
    Rule(rf"(?P<low>{NUMBER})[-–—](?P<high>{NUMBER})(?![\w-])", "{low} to {high}"),
    Rule(
        rf"(?P<before>(?:{_YEARLY}|©)\s)(?P<year>(?:1\d|20)\d\d)(?![\w%]|[.,:/–—-]\d|\s(?!(?:is|was|has)\b)[a-z]+s\b)",
        "{before:before}{year:year}",
        ignore_case=True,
    ),
    Rule(rf"(?P<year>(?:19|20)\d\d)(?=\W*$|\s(?:{_FUNCTION})\s|[,;:.!?)]+\s)(?<!\d,\d\d\d)", "{year:year}"),
    Rule(rf"{_ABOUT}(?P<year>(?:1\d|20)\d\d)(?![\w%]|[.,:/–—-]\d)", "{year:year}"),
    Rule(r"(?P<year>(?:1\d|20)\d\d)(?=(?:,| and| or) (?:1\d|20)\d\d(?!\w))", "{year:year}"),
    Rule(rf"{_SIGN}(?P<amount>\d{{7,}})(?![\w.,]\d)", "{minus:sign}{amount:grouped}"),
    Rule(
        rf"{_SIGN}(?<![A-Za-z]\d-)(?<![A-Z]-)(?P<amount>{NUMBER}|(?<!\.)\.\d+)(?P<scale>[kKM]|(?<=\.\d)B)(?!\w)",
        "{minus:sign}{amount} {scale:scale}",
    ),
    Rule(rf"{_SIGN}(?P<amount>{NUMBER}|(?<!\.)\.\d+)(?!\w|\.\d)", "{minus:sign}{amount}"),
)
INSIDE = (
    Rule(r"(?P<amount>\d+\.\d+)(?=[^\W\d_])", "{amount} "),
    Rule(r"(?P<amount>\d+)(?=[^\W\d_])", "{amount:digits} ", inside=True),
    Rule(r"(?P<amount>\d+)", " {amount}", inside=True),
)
"""Digits next to letters."""
