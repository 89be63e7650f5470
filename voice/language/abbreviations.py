"""Abbreviations, by language: what is said for them, and whether their dot ends a sentence. Pure.

The reader takes what is said from here, and the clause splitter where sentences end.
"""

import re
from collections.abc import Mapping

from voice.language import Language

# What follows one of these always belongs to it.
_LEADING: dict[Language, dict[str, str]] = {
    "en": {
        "e.g.": "for example", "i.e.": "that is", "vs.": "versus", "approx.": "approximately", "cf.": "compare",
        "ca.": "about", "c.": "circa", "est.": "estimated", "Fig.": "Figure", "fig.": "figure",
        "ext.": "extension", "Vol.": "Volume",
        "vol.": "volume", "ch.": "chapter", "p.": "page", "pp.": "pages", "max.": "maximum", "min.": "minimum",
        "Apt.": "Apartment", "Art.": "Article", "Mt.": "Mount", "a.k.a.": "also known as", "w/o": "without",
        "w/": "with", "b/c": "because", "incl.": "including", "fl.": "fluid", "Rte.": "Route", "Eq.": "Equation",
        "eq.": "equation", "op.": "opus", "Op.": "Opus", "nos.": "numbers", "Nos.": "Numbers", "Sc.": "Scene",
        "c/o": "care of",
        "Mr.": "Mister", "Mrs.": "Missus", "Ms.": "Miz", "Mx.": "Mix", "Prof.": "Professor", "Rev.": "Reverend",
        "Hon.": "Honorable", "Gov.": "Governor", "Sen.": "Senator", "Rep.": "Representative", "Gen.": "General",
        "Col.": "Colonel", "Capt.": "Captain", "Lt.": "Lieutenant", "Sgt.": "Sergeant", "Bldg.": "Building",
        "Rm.": "Room", "Ste.": "Suite", "Pres.": "President", "Amb.": "Ambassador", "Atty.": "Attorney",
        "Msgr.": "Monsignor", "Sec.": "Secretary", "Ft.": "Fort", "sq.": "square",
    },
    "de": {
        "z. B.": "zum Beispiel", "z.B.": "zum Beispiel", "d. h.": "das heißt", "d.h.": "das heißt",
        "u. a.": "unter anderem", "u.a.": "unter anderem", "i. d. R.": "in der Regel", "v. a.": "vor allem",
        "o. ä.": "oder ähnlich", "bzw.": "beziehungsweise", "Nr.": "Nummer", "ca.": "circa", "evtl.": "eventuell",
        "ggf.": "gegebenenfalls", "inkl.": "inklusive", "exkl.": "exklusive", "zzgl.": "zuzüglich", "Abs.": "Absatz",
        "S.": "Seite", "Art.": "Artikel", "Tel.": "Telefon", "Hr.": "Herr", "Fr.": "Frau", "vgl.": "vergleiche",
        "max.": "maximal", "med.": "med.", "mind.": "mindestens", "Kap.": "Kapitel", "St.": "Sankt", "Dipl.": "Diplom",
        "geb.": "geboren", "gest.": "gestorben", "u.": "und", "z. Zt.": "zur Zeit", "z.Zt.": "zur Zeit",
        "sog.": "sogenannte", "insb.": "insbesondere", "bzgl.": "bezüglich", "tgl.": "täglich", "Fa.": "Firma",
    },
}  # fmt: skip
# These end a sentence before a word that begins one.
_NAMES: dict[Language, dict[str, str]] = {
    "en": {
        "Dr.": "Doctor", "St.": "Saint", "Jr.": "Junior", "Sr.": "Senior", "Ph.D.": "P H D", "M.D.": "M D", "al.": "al",
        "dept.": "department", "Dept.": "Department", "Inc.": "Incorporated", "Ltd.": "Limited",
        "Corp.": "Corporation", "Co.": "Company", "U.S.A.": "U S A", "U.S.": "U S", "U.K.": "U K", "E.U.": "E U",
        "D.C.": "D C", "Jan.": "January", "Feb.": "February", "Mar.": "March", "Apr.": "April", "Jun.": "June",
        "Jul.": "July", "Aug.": "August", "Sept.": "September", "Sep.": "September", "Oct.": "October",
        "Nov.": "November", "Dec.": "December",     },
    "de": {
        "Dr.": "Doktor", "Prof.": "Professor", "usw.": "und so weiter", "etc.": "et cetera", "Mio.": "Millionen",
        "Mrd.": "Milliarden", "Std.": "Stunden", "Min.": "Minuten", "Str.": "Straße", "MwSt.": "Mehrwertsteuer",
        "ff.": "folgende", "Jan.": "Januar", "Feb.": "Februar", "Apr.": "April", "Aug.": "August",
        "Sept.": "September", "Okt.": "Oktober", "Nov.": "November", "Dez.": "Dezember", "Mo.": "Montag",
        "Di.": "Dienstag", "Mi.": "Mittwoch", "Do.": "Donnerstag", "Sa.": "Samstag", "So.": "Sonntag",
        "d. Gr.": "der Große", "Jh.": "Jahrhundert", "n. Chr.": "nach Christus", "v. Chr.": "vor Christus",
    },
}  # fmt: skip
# These end a sentence before any capital but that of a day, a month or a time zone.
_TRAILING: dict[Language, dict[str, str]] = {
    "en": {
        "a.m.": "A M", "p.m.": "P M", "etc.": "et cetera", "Ave.": "Avenue", "Rd.": "Road", "Blvd.": "Boulevard",
        "Ln.": "Lane", "Pl.": "Place", "Sq.": "Square", "Hwy.": "Highway", "Pkwy.": "Parkway",
        "Mon.": "Monday", "Tue.": "Tuesday", "Tues.": "Tuesday", "Wed.": "Wednesday", "Thu.": "Thursday",
        "Thur.": "Thursday", "Thurs.": "Thursday", "Fri.": "Friday", "Sat.": "Saturday", "Sun.": "Sunday",
    },
    "de": {},
}  # fmt: skip
UNITS_WITH_DOT = frozenset((
    "oz", "lb", "lbs", "ft", "in", "yd", "mi", "tsp", "tbsp", "Tbsp", "hr", "hrs", "yr", "yrs", "mos", "min", "mins",
    "sec", "secs", "qt", "pt", "pts", "gal", "c",
))  # fmt: skip
"""Units that may be written with a dot, after a number."""
_STARTERS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"The|This|That|These|Those|It|Its|He|She|We|You|They|I|In|On|At|But|And|Or|So|If|When|Then|There|Here|"
        r"What|Where|Why|How|Is|Are|Was|Were|Do|Does|Did|Can|Could|Would|Should|Please|Yes|No|Not|My|Your|"
        r"His|Her|Our|Their|A|An|For|From|With|After|Before|As|Also|However|Let|Some|Most|Many|Both|All|Each|"
        r"Now|Well|Just|Take|Turn|Next|Another|Once|While|Because|Since|Although|To|By|Call|Come|Go"
    ),
    "de": re.compile(
        r"Der|Die|Das|Den|Dem|Ein|Eine|Einen|Er|Sie|Es|Ich|Wir|Ihr|Ihre|Du|Man|Und|Aber|Oder|Dann|Danach|Da|"
        r"Dort|Hier|Dies|Diese|Dieser|Dieses|Wenn|Weil|Wo|Wie|Was|Wer|Wann|Warum|In|Im|Am|An|Auf|Bei|Mit|Nach|"
        r"Von|Vor|Zum|Zur|Für|Nun|Jetzt|Auch|Also|Bitte|Ja|Nein|Nicht|Möchten|Soll|Kann|Können|Haben|Hat|Ist|"
        r"Sind|War|Passt|Alle|Mein|Meine|Unser|Unsere|Sonst|Außerdem|Rufen|Nehmen|Gehen|Kommen|Heute|Morgen"
    ),
}
_AFTER_TIME = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|[ECMPU]?[SD]?T"
    r"|[NS][EW]|Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec|GMT|UTC|CES?T|Eastern|Pacific"
)
_NEXT = re.compile(r"[\s\"'“‘([{*_]*(?P<word>[^\W_][\w'’]*)?(?P<dot>\.?)")
LOOKAHEAD = 32
"""Characters after a dot that always suffice to decide."""
_OPENERS = "\"'“‘([{*_„«"
_UNIT = re.compile(rf"(?:[\d½¼¾⅓⅔][\s-]?(?:sq\. |fl\. )?|/)(?:{'|'.join(sorted(UNITS_WITH_DOT))}|(?<=/)mo)\.$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\.")
_ORDINAL = re.compile(r"(?:(?:\d{1,2}\.)?\d{1,2}|[IVX]{1,6})\.")
# "no." is a number after these, "No." after any word; else it is an answer.
_NUMBERED = re.compile(
    r"\b(?i:order|account|invoice|room|bus|flight|ticket|page|platform|line|phone|item|case|part|serial) no\.$"
    r"|\d, no\.$|[\w'’][,;]? No\.$"
)

SAID: Mapping[Language, Mapping[str, str]] = {
    language: {
        form: said if form == short else said[0].upper() + said[1:]
        for table in (_LEADING[language], _NAMES[language], _TRAILING[language])
        for short, said in table.items()
        for form in ((short[0].upper() + short[1:], short) if len(short) > 2 else (short,))
    }
    for language in _LEADING
}
"""What is said for each abbreviation, as it is written, dots included."""
BEFORE_NUMBERS = frozenset(
    ("p.", "c.", "pp.", "ch.", "min.", "max.", "est.", "vol.", "fig.", "op.", "eq.", "nos.", "sc.")
)
"""What is an abbreviation only before a number, in small letters."""
# Titles and the like are known in small letters too ("dr. Smith"); what is a word without its capital is not.
_WORDS = re.compile(r"(?:mar|sun|sat|wed|jun|jul|fri|mon|hon|gen|rep|sec|ste|pres|mix|no|st|so|do|di|fr|art|am)\.")
_LEADING_KIND, _NAME_KIND, _TRAILING_KIND = range(3)
_KINDS: dict[Language, dict[str, int]] = {
    language: {
        form: kind
        for kind, table in enumerate((_LEADING[language], _NAMES[language], _TRAILING[language]))
        for short in table
        if short.endswith(".")
        for last in short.split()[-1:]
        for form in ((last, last.lower(), last[0].upper() + last[1:]) if len(last) > 2 else (last,))
        if not _WORDS.fullmatch(form)
    }
    for language in _LEADING
}


def dot_ends(before: str, after: str, *, language: Language = "en") -> bool | None:
    """Whether a dot ends a sentence; None if that depends on more than `after`.

    Args:
        before: the end of the text up to the dot, which is its last character.
        after: what follows, from the white space on; empty if more is to come.
        language: that of the text.
    """
    words = before.rsplit(maxsplit=1)
    whole = words[-1].lstrip(_OPENERS) if words else ""
    word = re.split(r"[-–/(]", whole)[-1] if "-" in whole or "–" in whole or "/" in whole or "(" in whole else whole
    number, kind = False, _KINDS[language].get(word)
    if language == "en":
        number = word in ("no.", "No.") and bool(_NUMBERED.search(before))
        number = number or (word if len(word) == 2 else word.lower()) in BEFORE_NUMBERS
        if _UNIT.search(before):
            number, kind = False, _TRAILING_KIND
    elif word.endswith("str.") or _ORDINAL.fullmatch(whole):
        kind = _NAME_KIND
    if kind is None and whole != "I." and _INITIALS.fullmatch(whole):
        kind = _NAME_KIND
    if kind is None and not number:
        return True
    if kind == _LEADING_KIND and not number:
        return False
    found = _NEXT.match(after)
    assert found is not None  # it matches the empty text
    following = found["word"] or ""
    if number and following:
        return not following[0].isdigit()
    if following and not following[0].isupper():
        return False
    if found.end() == len(after) < LOOKAHEAD:
        return None
    if not following or found["dot"]:
        return number
    if kind == _TRAILING_KIND:
        return not _AFTER_TIME.fullmatch(following)
    return _STARTERS[language].fullmatch(re.split("['’]", following)[0]) is not None
