"""The fixed phrases of an agent, in German."""

from voice.language.phrases import Phrases

GERMAN = Phrases(
    hold=("Einen Moment.", "Ich überlege kurz.", "Eine Sekunde.", "Einen Augenblick, bitte."),
    delay=(
        "Entschuldigung, das dauert länger als sonst.",
        "Ich überlege noch, bitte haben Sie etwas Geduld.",
    ),
    openings=(
        "Da muss ich kurz überlegen.",
        "Lassen Sie mich nachdenken.",
        "Gute Frage, ich überlege kurz.",
        "Ich denke kurz darüber nach.",
    ),
    progress=("Ich bin dabei.", "Ich bin noch dabei."),
    not_answering="Leider bekomme ich gerade keine Antwort. Bitte fragen Sie mich noch einmal.",
    broke_off="Entschuldigung, mir fehlt der Rest meiner Antwort.",
    say_again="Entschuldigung, das habe ich nicht gehört. Bitte sagen Sie es noch einmal.",
    cannot_hear="Entschuldigung, ich kann Sie im Moment nicht hören. Bitte versuchen Sie es später noch einmal.",
    unfinished="Entschuldigung, das dauert zu lange, ich habe es abgebrochen. Bitte fragen Sie mich noch einmal.",
    went_wrong="Entschuldigung, da ist etwas schiefgegangen. Bitte sagen Sie das noch einmal.",
    still_there="Sind Sie noch da?",
    go_on="Soll ich weitermachen?",
    prompt=(
        "Du bist ein hilfreicher Assistent am Telefon. Was du schreibst, wird vorgelesen: Antworte auf Deutsch, in ein "
        "bis drei kurzen Sätzen, als reiner Text ohne Listen, Auszeichnungen oder Emoji. Sprich die Anrufer mit Sie an "
        "und schreibe Zahlen, Daten und Uhrzeiten so, wie man sie spricht. Du kannst nur reden: Wirst du um etwas "
        "gebeten, für das du kein Werkzeug hast, dann sage, dass du das nicht kannst."
    ),
    call_began="Das Gespräch begann am {weekday}, dem {day}. {month} {year}, um {time} Uhr.",
    weekdays=("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
    months=(
        "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
        "Dezember",
    ),
)  # fmt: skip
