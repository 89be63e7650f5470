"""The words of German turns."""

import re

from voice.language.turn_words import QuestionPatterns, TurnWords

_VERBS = (
    r"(?:sagen|nennen|geben|wiederholen|buchstabieren|beschreiben|erklären|erzählen|bestätigen|lesen|teilen)"
    r" sie\b|(?:sag|nenn|nenne|gib|wiederhole|buchstabiere|beschreibe?|erkläre?|erzähle?|bestätige|lies)\b"
)
_INFINITIVES = (
    r"(?:sagen|nennen|geben|mitteilen|wiederholen|vorlesen|durchgeben|eingeben|bestätigen|buchstabieren|beschreiben|"
    r"erklären|erzählen)"
)

GERMAN = TurnWords(
    code="de",
    decimal_mark=",",
    lead_ins={
        "greeting": (
            "hallo", "hi", "hey", "guten tag", "guten morgen", "guten abend", "grüß gott", "moin", "servus",
            "computer", "turnaround", "warte", "warte mal", "warten sie", "moment", "moment mal", "einen moment",
            "einen augenblick", "sekunde", "eine sekunde", "entschuldigung", "entschuldigen sie", "verzeihung",
            "sorry", "ach so", "achso", "verstehe", "ich verstehe", "super", "toll", "prima", "schön", "perfekt",
            "wunderbar", "cool",
        ),
        "joint": (
            "also", "so", "nun", "jetzt", "dann", "und", "aber", "oder", "ach", "oh", "ah", "äh", "ähm", "öh", "öhm",
            "hm", "hmm", "mm", "eigentlich", "außerdem", "übrigens", "hören sie", "schauen sie", "mal sehen",
            "mal überlegen", "noch etwas", "noch was", "na", "na ja", "naja", "tja",
        ),
        "no": (
            "nein", "nee", "ne", "nö", "nein danke", "lieber nicht", "nicht wirklich", "überhaupt nicht",
            "auf keinen fall", "gar nicht",
        ),
        "yes": (
            "ja", "jap", "jep", "jo", "jawohl", "doch", "klar", "na klar", "alles klar", "sicher", "natürlich",
            "selbstverständlich", "okay", "ok", "gut", "richtig", "genau", "stimmt", "das stimmt", "korrekt", "gern",
            "gerne", "sehr gerne", "bitte", "in ordnung", "einverstanden", "passt", "das passt", "auf jeden fall",
            "unbedingt", "absolut", "warum nicht", "das ist richtig", "klingt gut",
        ),
    },
    backchannels=(
        "ja", "jaja", "jap", "jep", "jo", "jawohl", "doch", "okay", "ok", "gut", "sehr gut", "richtig", "genau",
        "stimmt", "das stimmt", "klar", "na klar", "alles klar", "sicher", "natürlich", "verstehe", "ich verstehe",
        "verstanden", "ach so", "achso", "ach", "ach ja", "ach was", "aha", "ah", "oh", "mhm", "mm", "mmm", "mh", "hm",
        "hmm", "hmmm", "äh", "ähm", "öh", "öhm", "eh", "echt", "wirklich", "krass", "super", "toll", "prima", "schön",
        "sehr schön", "cool", "wow", "interessant", "perfekt", "wunderbar", "eben", "danke", "danke schön",
        "dankeschön", "vielen dank", "gern", "gerne", "macht sinn", "das macht sinn", "klingt gut", "ich weiß",
        "weiß ich", "in ordnung", "und", "so", "also", "dann", "ha", "haha", "na", "na ja", "naja", "tja", "uff",
    ),
    laughter=("ha", "hah", "he", "heh", "hi", "la", "hihi", "ho", "hoh", "hö", "hu", "huh", "äh", "hm", "ah", "eh"),
    stops=(
        "stopp", "stop", "halt", "warte", "warte mal", "warten sie", "moment", "moment mal", "einen moment",
        "augenblick", "einen augenblick", "sekunde", "eine sekunde", "nein", "nee", "nö", "nicht", "aufhören",
        "hör auf", "hören sie auf", "genug", "das reicht", "es reicht", "reicht", "schluss", "ruhe", "still",
        "sei still", "seien sie still", "pause", "vergiss es", "vergessen sie es", "vergessen sie das", "abbrechen",
        "egal", "entschuldigung", "entschuldigen sie", "verzeihung", "sorry", "pardon", "eigentlich", "hey", "hallo",
        "hör zu", "hören sie", "falsch", "das ist falsch", "das ist nicht", "ich sagte", "ich habe gesagt",
        "ich meinte", "ich meine", "überspringen", "wiederhole", "wiederholen", "wiederholen sie", "noch mal",
        "nochmal", "noch einmal", "zurück", "wie bitte", "was war das", "hilfe", "tschüss", "tschüs",
        "auf wiederhören", "auf wiedersehen", "lass mich", "lassen sie mich", "kann ich", "darf ich", "ich will nicht",
        "ich möchte nicht", "stattdessen", "lieber",
    ),
    never_own=frozenset(
        ("ja", "jep", "nein", "nee", "nö", "okay", "stopp", "stop", "halt", "warte", "moment", "pause", "genug", "ruhe")
    ),
    go_on=(
        "weiter", "mach weiter", "machen sie weiter", "weitermachen", "mach das", "machen sie das", "fahr fort",
        "fahren sie fort", "fortfahren", "erzähl weiter", "erzählen sie weiter", "lies weiter", "lesen sie weiter",
        "sprechen sie weiter", "rede weiter", "mehr", "den rest", "nur zu", "ich höre", "tu das", "mhm", "hm", "mm",
    ),
    polite=("bitte", "danke", "danke schön", "ruhig", "gerne", "gern"),
    thanks=r"danke|danke (?:schön|sehr)|dankeschön|(?:vielen|herzlichen|besten) dank",
    farewell=(
        r"tschüs{1,2}|tschau|ciao|(?:auf )?wieder(?:hören|sehen|schauen)|bis (?:dann|bald|später|morgen|gleich)|"
        r"bis zum nächsten mal|mach's gut|machs gut|machen sie's gut|gute nacht|leg(?:en sie)? auf|"
        r"(?:bitte )?(?:beende|beenden sie) (?:das gespräch|den anruf)|"
        r"das (?:war's|wars|war alles|ist alles|wäre alles|wär's)(?: (?:für (?:heute|jetzt)|dann|schon))?|"
        r"(?:einen )?(?:schönen (?:tag|abend|feierabend)|schönes wochenende)(?: noch)?|"
        r"ich muss (?:jetzt )?(?:los|gehen|auflegen|weg)"
    ),
    around_farewell=(
        r"okay|ok|gut|also|na|so|ja|nein|super|perfekt|prima|danke|danke schön|dankeschön|(?:vielen|herzlichen|besten) "
        r"dank|dann|jetzt|nun|für (?:heute|jetzt)|ihnen auch|dir auch|gleichfalls|und|sehr|bitte|allerseits|ebenso|"
        r"alles klar|erst mal|erstmal|noch"
    ),
    questions=QuestionPatterns(
        opening=re.compile(
            r"^(?:(?:und|also|so|okay|ok|gut|nun|super|perfekt|danke|vielen dank|alles klar|entschuldigung|sorry|gerne|"
            r"ja|nein|dann|nur|zur sicherheit)\b[\s,]*)+"
        ),
        spelling=re.compile(r"buchstabier\w*|\bbuchstabe für buchstabe\b"),
        number=re.compile(
            r"\b\w*nummern?\b|\b(?:ziffern?|postleitzahl|plz|pin|iban|vorwahl)\b|"
            r"\b\w*(?:bestätigungs|sicherheits|zugangs|zahlen)code\b"
        ),
        wants=re.compile(
            rf"^(?:bitte )?(?:{_VERBS})|\bich (?:brauche|bräuchte|benötige)\b|"
            rf"\b(?:können|könnten|würden|kannst|könntest|würdest) (?:sie|du)\b.*\b{_INFINITIVES}\b|"
            r"\b(?:darf|kann|dürfte|könnte) ich\b.*\b(?:haben|erfahren|wissen|fragen)\b"
        ),
        telling=re.compile(
            r"\b(?:erzähl\w*|beschreib\w*|erklär\w*|was ist (?:passiert|(?:denn )?los|das problem)|was kann ich|"
            r"was darf ich|womit kann ich|wie kann ich|was möchte\w* (?:sie|du)|was führt sie|warum|wieso|weshalb|"
            r"wie geht|wie war|mit wem spreche)\b"
        ),
        offer=re.compile(r"\b(?:sonst|noch) (?:irgend)?(?:etwas|was)\b|\bsonst noch\b"),
        yes_no=re.compile(
            r"^(?:ist|sind|war|waren|bin|bist|hat|haben|hast|habe|hatte|hatten|kann|können|könnte|könnten|kannst|darf|"
            r"dürfen|soll|sollen|sollte|sollten|will|wollen|willst|wird|werden|würde|würden|möchte|möchten|möchtest|"
            r"muss|müssen|mag|mögen|gibt|gilt|geht|passt|stimmt|reicht|brauchen|brauchst|kennen|kennst|wissen|weißt|"
            r"klingt|heißt|bereit)\b"
        ),
        tag=re.compile(
            r"(?:^|[,–—-]\s*)(?:ist das )?(?:richtig|korrekt|okay|ok|ja|nein|oder|nicht wahr|stimmt's|stimmt das|"
            r"in ordnung)\s*\?$"
        ),
        states=re.compile(r"^(?:sie|du|das|dies|es|wir|ich|er|ihr|der|die)\b"),
        choice=re.compile(r"\boder (?!nicht\b|nein\b)"),
        asks=re.compile(
            r"\b(?:was|welche[rsnm]?|wer|wen|wem|wessen|wann|wo|wohin|woher|warum|wieso|weshalb|wie|womit|wofür|worum)\b"
        ),
    ),
    digits=frozenset(
        ("null", "eins", "zwei", "zwo", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
    ),
    in_numbers=re.compile(r"[a-zäöüß]*(?:zehn|elf|zwölf|zig|dreißig|hundert)|doppel|strich|bindestrich"),
    as_in=re.compile(r"\b([a-zäöüß]) wie [a-zäöüß]+"),
)  # fmt: skip
