"""The German spoken forms of numbers, times, dates, amounts, abbreviations, addresses and symbols."""

import re

from num2words import num2words

from voice.language import reading
from voice.language.german.abbreviations import GERMAN
from voice.language.german.phrases import GERMAN as PHRASES
from voice.language.reading import ABROAD, CARD, MAIL, WEB, full_stop, roman

_MONTHS = PHRASES.months
_SAID = GERMAN.said()
_SHORT_MONTHS = {short: said for short, said in _SAID.items() if said in _MONTHS}
_MONTH = "|".join(map(re.escape, (*_MONTHS, *_SHORT_MONTHS)))
_DAYS = {short[:-1]: said for short, said in _SAID.items() if said.endswith(("tag", "woch"))} | {
    "Mi": "Mittwoch",
    "Fr": "Freitag",
}
_NUMBER = r"(?:\d{1,3}(?:\.\d{3})+(?![\d])|\d+)(?:,\d+)?"
_SIGN = r"(?:(?<![\w.)\]%°])(?P<minus>-))?"
_TO = r"\s?[-–—]\s?"
_UNITS = {
    short: (f"ein {name}", name)
    for name, symbols in {
        "Euro": "€ EUR Euro", "Dollar": "$ Dollar", "Pfund": "£", "Franken": "CHF", "Prozent": "%",
        "Grad Celsius": "°C", "Grad": "°", "Kilometer pro Stunde": "km/h", "Kilometer": "km", "Meter": "m",
        "Zentimeter": "cm", "Millimeter": "mm", "Quadratmeter": "m²", "Kilogramm": "kg", "Gramm": "g", "Liter": "l",
        "Milliliter": "ml", "Megabyte": "MB", "Gigabyte": "GB", "Watt": "W", "Volt": "V", "Kilowatt": "kW",
        "Teelöffel": "TL", "Esslöffel": "EL", "Milligramm": "mg", "Mikrogramm": "μg", "Mikrometer": "μm",
        "Kubikmeter": "m³", "Quadratkilometer": "km²",
    }.items()
    for short in symbols.split()
} | {
    short: (f"eine {name}", f"{name}n")
    for name, symbols in {
        "Stunde": "h Std.", "Minute": "min Min.", "Sekunde": "s", "Kilowattstunde": "kWh", "Milliarde": "Mrd.",
    }.items()
    for short in symbols.split()
} | {"Mio.": ("eine Million", "Millionen")}  # fmt: skip
_UNIT = "|".join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))
_MARKS = {".": "Punkt", "-": "Minus", "_": "Unterstrich", "/": "Schrägstrich", "@": "at", "+": "Plus"}
_SYMBOLS = {
    "&": "und", "=": "gleich", "+": "plus", "×": "mal", "÷": "geteilt durch", "≈": "ungefähr", "≤": "höchstens",
    "≥": "mindestens", "≠": "ungleich", "±": "plus minus", "<": "kleiner als", ">": "größer als", "→": "nach",
    "√": "Wurzel aus", "²": "Quadrat", "³": "hoch drei", "^": "hoch", "½": "ein halb", "¼": "ein Viertel",
    "¾": "drei Viertel", "§": "Paragraf", "~": "etwa", "€": "Euro", "$": "Dollar", "%": "Prozent",
}  # fmt: skip
_HALVES = {
    noun: f"{half} {noun.replace('TL', 'Teelöffel').replace('EL', 'Esslöffel')}"
    for half, nouns in (
        ("ein halber", "Liter Meter Kilometer TL EL Teelöffel Esslöffel Tag Becher Apfel"),
        ("eine halbe", "Tasse Stunde Minute Packung Flasche Dose Zwiebel Zitrone Seite"),
        ("ein halbes", "Kilo Kilogramm Pfund Jahr Glas"),
    )
    for noun in nouns.split()
}
_ABBREVIATION = "|".join(map(re.escape, sorted(_SAID, key=len, reverse=True)))


def _cardinal(value: int) -> str:
    return str(num2words(value, lang="de"))


def _ordinal(value: int, ending: str = "") -> str:
    return f"{num2words(value, lang='de', to='ordinal')}{ending}"


def _digits(text: str) -> str:
    return " ".join(_cardinal(int(char)) if char.isdigit() else char.upper() for char in text)


def _year(value: int) -> str:
    return str(num2words(value, lang="de", to="year")) if 1100 <= value < 2000 else _cardinal(value)


def _number(text: str) -> str:
    whole, _, decimals = text.replace(".", "").partition(",")
    if len(text) == 4 and text.isdigit() and text.startswith("1"):
        return _year(int(text))
    if (len(whole) > 1 and whole[0] == "0" and not decimals) or len(whole) > 12:
        return _digits(whole)
    return _cardinal(int(whole)) + (f" Komma {_digits(decimals)}" if decimals else "")


def _amount(found: "re.Match[str]") -> str:
    one, many = _UNITS[found["unit"]]
    minus = "minus " if found["minus"] else ""
    whole, _, small = found["amount"].partition(",")
    if found["unit"] in ("€", "EUR", "Euro", "CHF", "$", "Dollar", "£") and len(small) == 2:
        cents = {"CHF": "Rappen", "£": "Pence"}.get(found["unit"], "Cent")
        parts = [one if whole == "1" else f"{_number(whole)} {many}"] if int(whole.replace(".", "")) else []
        parts += (
            [f"{_cardinal(int(small)).replace('eins', 'ein') if small == '01' else _cardinal(int(small))} {cents}"]
            if int(small)
            else []
        )
        return minus + (" und ".join(parts) or f"null {many}")
    return minus + (one if found["amount"] == "1" else f"{_number(found['amount'])} {many}") + full_stop(found, "de")


def _time(found: "re.Match[str]") -> str:
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    said = f"{'ein' if hour == 1 else _cardinal(hour)} Uhr"
    return f"{said} {_cardinal(minute)}" if minute else said


def _day(found: "re.Match[str]") -> str:
    """A date's ordinal takes its ending from the word before it."""
    month = found["month"]
    name = _MONTHS[int(month) - 1] if month.isdigit() else _SHORT_MONTHS.get(month, month)
    in_year = f" {_year(int(found['year']))}" if found["year"] else ""
    return f"{_ordinal_before(found, int(found['day']))} {name}{in_year}"


def _ordinal_before(found: "re.Match[str]", value: int) -> str:
    before = found.string[: found.start()].split()[-1:] or [""]
    if not before[0] and "month" not in found.groupdict():
        return _ordinal(value, "ns")
    if before[0].lower() in ("am", "im", "vom", "zum", "den", "dem", "beim", "seit", "bis", "ab", "zur", "ins"):
        return _ordinal(value, "n")
    return _ordinal(
        value, "" if before[0].lower() in ("der", "die", "das") else "r" if found.groupdict().get("month") else ""
    )


def _web(found: "re.Match[str]") -> str:
    return _address(re.split(r"[?#]", found["rest"], maxsplit=1)[0].rstrip("/"))


def _address(text: str) -> str:
    parts = re.findall(r"[^\W\d_]+|\d+|[^\w\s]|_", text)
    said = []
    for at, part in enumerate(parts):
        spelled = len(part) < 3 and at > 0 and parts[at - 1] == "."
        said.append(_MARKS.get(part) or (_digits(part) if part.isdigit() or spelled else part))
    return " ".join(word for word in said if any(char.isalnum() for char in word))


def _phone(found: "re.Match[str]") -> str:
    said = ", ".join(_digits(group) for group in re.findall(r"\d+", found[0]))
    return f"plus {said}" if found[0].startswith("+") else said


def _version(found: "re.Match[str]") -> str:
    return " Punkt ".join(_number(part) for part in found["version"].split("."))


def _ruler(found: "re.Match[str]") -> str:
    value = roman(found["numeral"])
    return f"{found['name']} der {_ordinal(value).capitalize()}" if value else found[0]


def _day_only(found: "re.Match[str]") -> str:
    """A day and a month alone: "3. Mai", "3.5."."""
    month = found["month"].rstrip(".")
    name = _MONTHS[int(month) - 1] if month.isdigit() else _SHORT_MONTHS.get(found["month"], month)
    return f"{_ordinal_before(found, int(found['day']))} {name}{full_stop(found, 'de')}"


def _hours(found: "re.Match[str]") -> str:
    first = _time(found) if found["minute"] else _cardinal(int(found["hour"]))
    last = f"{_cardinal(int(found['last']))} Uhr"
    return f"{first} bis {last}" + (f" {_cardinal(int(found['end']))}" if int(found["end"] or 0) else "")


def _fraction(above: int, below: int) -> str:
    name = "halb" if below == 2 else _ordinal(below).capitalize().removesuffix("te").removesuffix("s") + "tel"
    return f"{'ein' if above == 1 else _cardinal(above)} {name}"


class Rule(reading.Rule):
    """A rule of German."""

    language = "de"
    forms = {
        **reading.Rule.forms,
        "": _number,
        "cardinal": lambda text: _cardinal(int(text)),
        "year": lambda text: _year(int(text)),
        "units": lambda unit: _UNITS[unit][1],
        "half": _HALVES.__getitem__,
        "day": _DAYS.__getitem__,
        "address": _address,
    }


RULES = (
    Rule(MAIL, "{mail:address}"),
    *(Rule(pattern, _web) for pattern in WEB),
    Rule(rf"{ABROAD}(?!\w)|{CARD}|0\d{{2,5}}[ /-]\d{{3,10}}(?!\w)", _phone),
    Rule(r"(?<=Version )(?P<version>\d+(?:\.\d+)+)(?!\w)", _version),
    Rule(rf"(?P<day>[0-3]?\d)\.\s?(?P<month>1[0-2]|0?[1-9]|{_MONTH})(?:\.\s?|\s)(?P<year>(?:1\d|20)\d\d)(?!\w)", _day),
    Rule(rf"(?P<day>[0-3]?\d)\.\s?(?P<month>{_MONTH}|(?:1[0-2]|0?[1-9])\.)(?P<year>(?!))?(?!\w)", _day_only),
    Rule(r"(?P<version>\d+(?:\.\d+){2,})(?!\w|\.?\d)(?!,\d)(?<!\.\d{3})", _version),
    Rule(r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?![\d-])", _day),
    Rule(
        r"(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minute>[0-5]\d))?\s?[-–]\s?(?P<last>[01]?\d|2[0-4])(?:[:.](?P<end>[0-5]\d))?\s?Uhr(?!\w)",
        _hours,
    ),
    Rule(r"(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minute>[0-5]\d))?\s?Uhr(?!\w)", _time),
    Rule(r"(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?![\d:])", _time),
    Rule(
        rf"(?P<one>{'|'.join(_DAYS)})\.?{_TO}(?P<other>{'|'.join(_DAYS)})(?:\.|(?!\w))",
        "{one:day} bis {other:day}{stop}",
    ),
    Rule(r"Fr\.(?=,|\s(?:[a-z]|\d)|$)|(?<=bis )Fr\.|(?<=am )Fr\.", "Freitag{stop}"),
    Rule(r"(?P<name>[A-ZÄÖÜ][a-zäöü]+) (?P<numeral>[IVX]{1,6})\.(?=\s[a-zäöü])", _ruler),
    Rule(rf"(?:{_ABBREVIATION})(?!\w)", lambda found: _SAID[found[0]] + full_stop(found, "de")),
    Rule(r"(?P<name>[A-ZÄÖÜ][\w-]*s)tr\.", "{name:text}traße{stop}"),
    Rule(rf"(?P<low>{_NUMBER}){_TO}(?P<high>{_NUMBER})\s?(?P<unit>{_UNIT})(?!\w)", "{low} bis {high} {unit:units}"),
    Rule(rf"(?P<amount>{_NUMBER}),[-–—]{{1,2}}(?:\s?(?:€|Euro\b))?", "{amount} Euro"),
    Rule(rf"(?:½|1/2)\s(?P<unit>{'|'.join(_HALVES)})(?!\w)", "{unit:half}"),
    Rule(
        r"(?P<whole>\d+)½",
        lambda found: _cardinal(int(found["whole"])).removesuffix("s" if found["whole"] == "1" else "-") + "einhalb",
    ),
    Rule(rf"{_SIGN}(?P<amount>{_NUMBER})\s?(?P<unit>{_UNIT})(?!\w)", _amount),
    Rule(rf"{_SIGN}(?P<unit>[€$£]|CHF(?=\s))\s?(?P<amount>{_NUMBER})", _amount),
    Rule(
        r"(?P<before>(?:[Ss]eit|[Jj]ahre?|[Vv]on|[Bb]is|[Uu]m)\s)(?P<year>1[1-9]\d\d|20\d\d)(?!\w|[.,]\d)",
        "{before:text}{year:year}",
    ),
    Rule(r"(?P<value>\d{1,4})er(?P<ending>n?)(?!\w)", "{value:year}er{ending:text}"),
    Rule(r"(?P<above>\d{1,3}):(?P<below>\d)(?![\d:])", "{above} zu {below}"),
    Rule(r"(?P<wide>\d+)x(?P<high>\d+)(?!\w)", "{wide} mal {high}"),
    Rule(r"24/7(?![\d/])", "vierundzwanzig sieben"),
    Rule(r"(?P<version>\d{1,2}\.\d{1,2})(?!\w|\.?\d|\.\s?[a-zäöü])", _version),
    Rule(
        r"(?P<above>\d{1,2})/(?P<below>[2-9]|1\d)(?![\d/])",
        lambda found: _fraction(int(found["above"]), int(found["below"])),
    ),
    Rule(r"(?P<value>\d{1,2})\.(?=\s\w)", lambda found: _ordinal_before(found, int(found["value"]))),
    Rule(r"(?![a-z\d]*[a-z]{4})(?:[a-z]+\d+[a-z]|\d+[a-z]+\d)[a-z\d]{0,20}(?!\w)", lambda found: _digits(found[0])),
    Rule(rf"(?P<low>{_NUMBER})[-–—](?P<high>{_NUMBER})(?![\w-])", "{low} bis {high}"),
    Rule(rf"{_SIGN}(?P<amount>{_NUMBER})(?![^\W_])", "{minus:sign}{amount}"),
    Rule(r"(?P<amount>\d+)(?=[^\W\d_])", " {amount} ", inside=True),
    Rule(r"(?P<amount>\d+)", " {amount}", inside=True),
    Rule(rf"(?<=[\d%€]){_TO}(?=[€$£]?\d)", " bis ", inside=True),
    Rule(r"(?<=\d )[x*](?= \d)|(?<=\d)\*(?=\d)", " mal ", inside=True),
    Rule(r"(?<!\S)[*](?!\S)", "Stern", inside=True),
    Rule(r"(?<!\S)#(?!\w)", "Raute", inside=True),
    Rule(r"(?<=[€\w])/(?=(?:Std|h|min|s|Tag|Woche|Monat|Jahr|kg|km)\b)", " pro ", inside=True),
    Rule(r"#(?=\d)", "Nummer "),
    Rule(r"(?<=\d )-(?= \d)", "minus", inside=True),
    Rule(rf"[{re.escape(''.join(_SYMBOLS))}]", {symbol: f" {said} " for symbol, said in _SYMBOLS.items()}, inside=True),
)
