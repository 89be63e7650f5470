"""Every sentence that an agent says of its own accord, in each language: the only place where they are written.

What a language model, the responder or a tool says is not among them. A phrase may claim nothing that is not known when
it is said; `voice.llm.answer.hold_phrases.check_phrase` holds those that are said before there is an answer to that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from datetime import datetime

from voice.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """What the agent says in one language."""

    hold: tuple[str, ...]
    """Said when the budget is spent; true while any request still runs."""
    delay: tuple[str, str]
    """Said by 2.5 s, so that the user knows that the agent is still working; the second one also much later."""
    openings: tuple[str, ...]
    """Said as the opening of an answer when the words that a tier gave for one may not be spoken."""
    progress: tuple[str, str]
    """Said while a tool runs: at first, and again."""
    not_answering: str
    """Said instead of an answer when no tier answers."""
    broke_off: str
    """Said when an answer cannot be finished."""
    say_again: str
    """Said when the recogniser lost an utterance."""
    cannot_hear: str
    """Said from the second loss in a row."""
    unfinished: str
    """Said when a tool hung and was stopped."""
    went_wrong: str
    """Said when synthesis hung, so it is prepared before the call."""
    still_there: str
    """What a caller who says nothing is asked."""
    go_on: str
    """What a caller is asked when a part of a long answer has been spoken; it must read as a question for yes or no."""
    prompt: str
    """The system prompt of language models, unless one is set; it is not spoken, but decides how they speak."""
    call_began: str
    """Ends every system prompt: when the call began. A format string of `weekday`, `day`, `month`, `year`, `time`."""
    weekdays: tuple[str, ...]
    months: tuple[str, ...]

    def spoken(self) -> Iterator[str]:
        """All of them that are said."""
        for value in astuple(self)[:-4]:
            yield from (value,) if isinstance(value, str) else value

    def prompt_at(self, prompt: str, now: datetime) -> str:
        """A system prompt that says when the call began.

        The date comes last, so that a model which keeps what it has read need not read the rest again in each call.

        Args:
            prompt: the rest of it.
            now: local time.
        """
        began = self.call_began.format(
            weekday=self.weekdays[now.weekday()],
            day=now.day,
            month=self.months[now.month - 1],
            year=now.year,
            time=f"{now:%H:%M}",
        )
        return f"{prompt} {began}"


ENGLISH = Phrases(
    hold=("One moment.", "Let me think.", "Just a second.", "Give me a moment."),
    delay=("Sorry, this is taking longer than usual.", "I'm still thinking, sorry for the wait."),
    openings=(
        "Let me think about that.",
        "Let me work that out.",
        "Good question, let me see.",
        "Let me think it through.",
    ),
    progress=("I am working on it.", "I am still working on it."),
    not_answering="Sorry, I can't get an answer right now. Please ask me again.",
    broke_off="Sorry, I lost the rest of my answer.",
    say_again="Sorry, I did not hear that. Please say it again.",
    cannot_hear="Sorry, I cannot hear you at the moment. Please try again in a while.",
    unfinished="Sorry, that takes too long, and I have stopped it. Please ask me again.",
    went_wrong="Sorry, something went wrong. Please say that again.",
    still_there="Are you still there?",
    go_on="Shall I go on?",
    prompt=(
        "You are a helpful assistant on a voice call. Your words are spoken aloud: answer in one or two short "
        "sentences of plain text, without lists, markup or emoji, and write numbers as they are said. You can "
        "only talk: if you are asked to do something for which you have no tool, say that you cannot."
    ),
    call_began="The call began on {weekday}, {day} {month} {year}, at {time}.",
    weekdays=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    months=(
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),  # fmt: skip
)
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
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ),  # fmt: skip
)
PHRASES: Mapping[Language, Phrases] = {"en": ENGLISH, "de": GERMAN}
