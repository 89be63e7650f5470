"""German abbreviations: their spoken forms, and where their dot ends a sentence."""

import re

from voice.language.abbreviations import Abbreviations

GERMAN = Abbreviations(
    leading={
        "z. B.": "zum Beispiel", "z.B.": "zum Beispiel", "d. h.": "das heißt", "d.h.": "das heißt",
        "u. a.": "unter anderem", "u.a.": "unter anderem", "i. d. R.": "in der Regel", "v. a.": "vor allem",
        "o. ä.": "oder ähnlich", "bzw.": "beziehungsweise", "Nr.": "Nummer", "ca.": "circa", "evtl.": "eventuell",
        "ggf.": "gegebenenfalls", "inkl.": "inklusive", "exkl.": "exklusive", "zzgl.": "zuzüglich", "Abs.": "Absatz",
        "S.": "Seite", "Art.": "Artikel", "Tel.": "Telefon", "Hr.": "Herr", "Fr.": "Frau", "vgl.": "vergleiche",
        "max.": "maximal", "med.": "med.", "mind.": "mindestens", "Kap.": "Kapitel", "St.": "Sankt", "Dipl.": "Diplom",
        "geb.": "geboren", "gest.": "gestorben", "u.": "und", "z. Zt.": "zur Zeit", "z.Zt.": "zur Zeit",
        "sog.": "sogenannte", "insb.": "insbesondere", "bzgl.": "bezüglich", "tgl.": "täglich", "Fa.": "Firma",
    },
    names={
        "Dr.": "Doktor", "Prof.": "Professor", "usw.": "und so weiter", "etc.": "et cetera", "Mio.": "Millionen",
        "Mrd.": "Milliarden", "Std.": "Stunden", "Min.": "Minuten", "Str.": "Straße", "MwSt.": "Mehrwertsteuer",
        "ff.": "folgende", "Jan.": "Januar", "Feb.": "Februar", "Apr.": "April", "Aug.": "August",
        "Sept.": "September", "Okt.": "Oktober", "Nov.": "November", "Dez.": "Dezember", "Mo.": "Montag",
        "Di.": "Dienstag", "Mi.": "Mittwoch", "Do.": "Donnerstag", "Sa.": "Samstag", "So.": "Sonntag",
        "d. Gr.": "der Große", "Jh.": "Jahrhundert", "n. Chr.": "nach Christus", "v. Chr.": "vor Christus",
    },
    trailing={},
    words=frozenset(("so.", "do.", "di.", "fr.", "art.", "st.")),
    starters=re.compile(
        r"Der|Die|Das|Den|Dem|Ein|Eine|Einen|Er|Sie|Es|Ich|Wir|Ihr|Ihre|Du|Man|Und|Aber|Oder|Dann|Danach|Da|"
        r"Dort|Hier|Dies|Diese|Dieser|Dieses|Wenn|Weil|Wo|Wie|Was|Wer|Wann|Warum|In|Im|Am|An|Auf|Bei|Mit|Nach|"
        r"Von|Vor|Zum|Zur|Für|Nun|Jetzt|Auch|Also|Bitte|Ja|Nein|Nicht|Möchten|Soll|Kann|Können|Haben|Hat|Ist|"
        r"Sind|War|Passt|Alle|Mein|Meine|Unser|Unsere|Sonst|Außerdem|Rufen|Nehmen|Gehen|Kommen|Heute|Morgen"
    ),
    name=re.compile(
        r"(?:[^\W\d_]\.)*[^\W\d_]\.|.*str\.|(?:(?:\d{1,2}\.)?\d{1,2}|[IVX]{1,6})\."
    ),
)  # fmt: skip
